"""Changes of the finalized levels of features, as Kafka's controller checks them (KIP-584, KIP-778)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kafkawire.broker.image.metadata_image import METADATA_VERSION_FEATURE, MetadataImage
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.metadata_log.record_versions import METADATA_VERSION
from kafkawire.protocol import FeatureLevelRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.message import Struct

SUPPORTED_FEATURES: Final = (
    ("group.version", 0, 1),
    ("kraft.version", 0, 1),
    ("metadata.version", 7, METADATA_VERSION),
    ("share.version", 0, 1),
    ("streams.version", 0, 1),
    ("transaction.version", 0, 2),
    ("eligible.leader.replicas.version", 0, 1),
)
"""Name, lowest and highest level of the features of a node of Apache Kafka 4.3.1."""

GROUP_FEATURE: Final = "group.version"
"""The feature without which there are no consumer groups (KIP-848)."""

SHARE_FEATURE: Final = "share.version"
"""The feature of share groups (KIP-932)."""

STREAMS_FEATURE: Final = "streams.version"
"""The feature of streams groups (KIP-1071)."""

ELR_FEATURE: Final = "eligible.leader.replicas.version"
"""The feature of eligible leader replicas (KIP-966)."""

_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE = 1, 2, 3
_QUORUM_FEATURE: Final = "kraft.version"
_TYPES: Final = frozenset({_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE})
_SUPPORTED: Final = {name: (lowest, highest) for name, lowest, highest in SUPPORTED_FEATURES}
_NOT_AT_ALL: Final = (0, 0)
_CHANGED_RECORDS: Final = frozenset({8, 11, 13, 14, 15, 17, 23, 30})
"""The levels of ``metadata.version`` with other records than the one before: a downgrade past one would lose some."""

_DEPENDENCIES: Final = {(ELR_FEATURE, 1): 23}
"""Feature and level to the level of ``metadata.version`` that it needs."""


class FeatureChange(Struct, frozen=True, gc=False):
    """A change that a client requests.

    Attributes:
        level: the new level.
        upgrade_type: 1 upgrade, 2 safe downgrade, 3 unsafe downgrade.
    """

    level: int
    upgrade_type: int


def feature_records(
    changes: Mapping[str, FeatureChange], image: MetadataImage, node_id: int
) -> Iterator[FeatureLevelRecord]:
    """The records of changes; a level that stays needs none.

    Args:
        changes: feature to its change.
        image: the state.
        node_id: of this node.

    Raises:
        ItemError: a change is invalid; all are refused then.
    """
    levels = image.features.levels
    for name, change in changes.items():
        _check(name, change, levels.get(name, 0), image, node_id)
    metadata_version = changes[METADATA_VERSION_FEATURE].level if METADATA_VERSION_FEATURE in changes else None
    for name, change in changes.items():
        needed = _DEPENDENCIES.get((name, change.level), 0)
        if needed > (levels.get(METADATA_VERSION_FEATURE, 0) if metadata_version is None else metadata_version):
            reason = f"{name} could not be set to {change.level} because it depends on metadata.version level {needed}"
            raise _invalid(name, change, reason)
        if change.level != levels.get(name, 0):
            yield FeatureLevelRecord(name, change.level)


def _check(name: str, change: FeatureChange, current: int, image: MetadataImage, node_id: int) -> None:
    if change.upgrade_type not in _TYPES:
        raise _invalid(name, change, "The controller does not support the given upgrade type.")
    if change.level < 0:
        raise _invalid(name, change, "A feature version cannot be less than 0.")
    reason = _unsupported(name, change.level, image, node_id)
    if reason is not None:
        raise _invalid(name, change, reason)
    if change.level < current and change.upgrade_type == _UPGRADE:
        reason = (
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade."
        )
        raise _invalid(name, change, reason)
    if change.level > current and change.upgrade_type != _UPGRADE:
        raise _invalid(name, change, "Can't downgrade to a newer version.")
    if name == METADATA_VERSION_FEATURE:
        _check_metadata_version(change, current)
    elif name == _QUORUM_FEATURE and change.level != current:
        raise _invalid(name, change, "The voters of this broker are those of its configuration.")
    elif name not in _SUPPORTED:
        raise _invalid(name, change, f"Feature {name} not found.")


def _check_metadata_version(change: FeatureChange, current: int) -> None:
    if all(level not in _CHANGED_RECORDS for level in range(change.level + 1, current + 1)):
        return
    if change.upgrade_type == _UNSAFE_DOWNGRADE:
        reason = "Unsafe metadata downgrade is not supported in this version."
    else:
        reason = "Refusing to perform the requested downgrade because it might delete metadata information."
    message = f"Unsupported metadata.version downgrade from {current} to {change.level}. {reason}"
    raise ItemError(ErrorCode.INVALID_UPDATE_VERSION, message)


def _unsupported(name: str, level: int, image: MetadataImage, node_id: int) -> str | None:
    """Why a node does not support a level; None if all do."""
    reason = _outside(level, f"Local controller {node_id}", _SUPPORTED.get(name, _NOT_AT_ALL))
    for what, nodes in (("Broker", image.registrations.brokers), ("Controller", image.registrations.controllers)):
        for other, registration in nodes.items():
            if reason is None and other != node_id:
                supported = {
                    one.name: (one.min_supported_version, one.max_supported_version) for one in registration.features
                }
                reason = _outside(level, f"{what} {other}", supported.get(name, _NOT_AT_ALL))
    return reason


def _outside(level: int, who: str, supported: tuple[int, int]) -> str | None:
    lowest, highest = supported
    if lowest <= level <= highest:
        return None
    return f"{who} only supports versions {lowest}-{highest}" if highest else f"{who} does not support this feature."


def _invalid(name: str, change: FeatureChange, reason: str) -> ItemError:
    message = f"Invalid update version {change.level} for feature {name}. {reason}"
    return ItemError(ErrorCode.INVALID_UPDATE_VERSION, message)
