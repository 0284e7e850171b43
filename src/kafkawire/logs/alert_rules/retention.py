"""How long records are kept: which configs say it, and when a change of one keeps them less long."""

from __future__ import annotations

from typing import Final, NamedTuple

from kafkawire.logs.alert_rules.changes import ConfigChange, KnownState
from kafkawire.model.configs.resources import ConfigResourceType

_UNLIMITED: Final = -1
_OF_WHOLE_LOG: Final = -2
"""Of ``local.retention.ms`` and ``.bytes``: as long as the whole log, whatever that is."""


class _Retention(NamedTuple):
    """A config with a retention.

    Attributes:
        default: of Kafka, where neither brokers nor the topic have a value; None if it depends on other configs.
        of_brokers: the config of brokers that counts for topics without a value.
    """

    default: int | None
    of_brokers: str | None = None


_WEEK: Final = 7 * 24 * 3600 * 1000
_OF_TOPIC: Final = {
    "retention.ms": _Retention(_WEEK, "log.retention.ms"),
    "retention.bytes": _Retention(_UNLIMITED, "log.retention.bytes"),
    "local.retention.ms": _Retention(None, "log.local.retention.ms"),
    "local.retention.bytes": _Retention(None, "log.local.retention.bytes"),
}
_OF_BROKER: Final = {
    "log.retention.ms": _Retention(_WEEK),
    "log.retention.bytes": _Retention(_UNLIMITED),
    "log.local.retention.ms": _Retention(None),
    "log.local.retention.bytes": _Retention(None),
    "log.retention.minutes": _Retention(None),
    "log.retention.hours": _Retention(None),
}
_CONFIGS: Final = {ConfigResourceType.TOPIC: _OF_TOPIC, ConfigResourceType.BROKER: _OF_BROKER}
RETENTIONS: Final = (*_OF_TOPIC, *_OF_BROKER)
"""The configs that say how long records are kept."""


def shortening_in_words(change: ConfigChange, state: KnownState) -> str | None:
    """What a change shortens, such as ``604800000 → 3600000``; None if it shortens nothing.

    A value that is set for the first time is compared with the one for all brokers in the log, else with Kafka's
    default. A file of the brokers may have another one, which no log has. What a topic is created with shortens
    nothing.

    Args:
        change: of a config.
        state: before the change.
    """
    retention = _retention(change)
    if retention is None or change.after is None or state.is_created_with(change):
        return None
    before, said = _before(change, retention, state)
    after = _number(change.after)
    if before is None or after is None or not _is_shorter(after, before):
        return None
    return f"{before}{said} → {after}"


def _retention(change: ConfigChange) -> _Retention | None:
    return _CONFIGS.get(change.resource.resource_type, {}).get(change.name)


def _before(change: ConfigChange, retention: _Retention, state: KnownState) -> tuple[int | None, str]:
    if change.before is not None:
        return _number(change.before), ""
    of_brokers = change.name if retention.of_brokers is None else retention.of_brokers
    inherited = state.of_all_brokers(of_brokers)
    if inherited is not None:
        return _number(inherited), " of all brokers"
    return retention.default, " by Kafka's default"


def _number(text: str) -> int | None:
    """A retention that can be compared; what is no number limits nothing that is known."""
    try:
        number = int(text)
    except ValueError:
        return None
    return None if number == _OF_WHOLE_LOG else number


def _is_shorter(after: int, before: int) -> bool:
    return after != _UNLIMITED and (before == _UNLIMITED or after < before)
