"""The requirements of the client's methods: APIs with their versions, and rights. `needs` declares them.

The rights are those that Kafka's brokers check (the table of the documentation's chapter on authorization).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from kafkawire.admin.engine.item_states import lowest_version, maximum_version
from kafkawire.admin.engine.operation import Operation
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import message_class
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.protocol.errors import UnsupportedVersionError

if TYPE_CHECKING:
    from kafkawire.admin.connection.versions import BrokerVersions

_DECLARED = "_needs"
_Method = TypeVar("_Method", bound=Callable[..., Any])
_Operations: TypeAlias = Sequence[type[Operation[Any, Any, Any]]]


class Right(msgspec.Struct, frozen=True):
    """An operation on resources of a type, as an ACL allows it.

    Attributes:
        resource_type: kind of the resource.
        operation: what must be allowed on it.
    """

    resource_type: ResourceType
    operation: AclOperation


class Way(msgspec.Struct, frozen=True):
    """An API by which a method can be carried out.

    Attributes:
        api: the API.
        minimum_version, maximum_version: the versions that serve the method, whatever its options; None for no limit.
    """

    api: ApiKey
    minimum_version: int = 0
    maximum_version: int | None = None


class Requirements(msgspec.Struct, frozen=True):
    """The requirements of a method.

    Attributes:
        ways: how it can be carried out, the best first; the others are fallbacks for older nodes.
        further: the ways of each further step, for methods that take several: every step must be possible.
        rights: all that must be allowed, each given by the rights of which any one is enough. The resources are those
            that the call names. Empty if every caller may.
        on_controllers: whether controllers serve it (KIP-919).
    """

    ways: tuple[Way, ...]
    rights: tuple[tuple[Right, ...], ...] = ()
    on_controllers: bool = False
    further: tuple[tuple[Way, ...], ...] = ()


class Support(Enum):
    """Whether a node can carry out a method.

    Attributes:
        SUPPORTED: yes.
        FALLBACK: yes, by an older API, which may return less or need more requests.
        UNSUPPORTED: no; the method fails with `UnsupportedVersionError` or `UnsupportedEndpointTypeError`.
    """

    SUPPORTED = "supported"
    FALLBACK = "fallback"
    UNSUPPORTED = "unsupported"


class Capability(msgspec.Struct, frozen=True):
    """How a node would carry out a method.

    Attributes:
        support: whether it can.
        api, version: what would be used, in the first of several steps; None if it cannot. Options of a call may need
            a higher version.
    """

    support: Support
    api: ApiKey | None = None
    version: int | None = None


def _requirements(steps: Sequence[_Operations], rights: str) -> Requirements:
    """Versions are looked up in layouts, which takes a while: not when the methods are declared."""
    ways, *further = (tuple(map(_way, operations)) for operations in steps)
    alternatives = tuple(map(_alternatives, rights.split(", "))) if rights else ()
    return Requirements(ways, alternatives, steps[0][0].on_controllers, tuple(further))


def _alternatives(text: str) -> tuple[Right, ...]:
    pairs = (right.split() for right in text.split(" or "))
    return tuple(Right(ResourceType[resource], AclOperation[operation]) for operation, resource in pairs)


def _way(operation: type[Operation[Any, Any, Any]]) -> Way:
    return Way(operation.api, lowest_version(operation), maximum_version(operation))


def needs(
    *operations: type[Operation[Any, Any, Any]],
    rights: str = "",
    further: Sequence[_Operations] = (),
) -> Callable[[_Method], _Method]:
    """Declare how a method is carried out, and the rights that its caller needs.

    Args:
        operations: those that can carry it out, the best first; the others are fallbacks.
        rights: all rights that are needed, as ``operation resource``: ``READ GROUP, ALTER TOPIC or ALTER CLUSTER``.
        further: the operations of each further step, for methods that take several.
    """

    def declare(method: _Method) -> _Method:
        method.__dict__[_DECLARED] = (operations, *further), rights
        return method

    return declare


def requirements_of(client: type) -> dict[str, Requirements]:
    """Name of each method of a client to its requirements; all families are imported for it."""
    names = dict.fromkeys(name for cls in reversed(client.__mro__) for name in vars(cls))
    declared = {name: getattr(getattr(client, name, None), _DECLARED, None) for name in names}
    return {name: _requirements(*needed) for name, needed in declared.items() if needed is not None}


def capabilities_of(
    requirements: Mapping[str, Requirements], versions: BrokerVersions, *, controller: bool, proposals: bool
) -> dict[str, Capability]:
    """How a node with these versions would carry out each method.

    Args:
        requirements: name of each method to its requirements.
        versions: what it offers.
        controller: whether it was reached at a controller's listener.
        proposals: whether versions that are not final may be used.
    """
    unsupported = Capability(Support.UNSUPPORTED)
    return {
        name: unsupported if controller and not needed.on_controllers else _capability(needed, versions, proposals)
        for name, needed in requirements.items()
    }


def _capability(needed: Requirements, versions: BrokerVersions, proposals: bool) -> Capability:
    first, *others = (_capability_of_step(ways, versions, proposals) for ways in (needed.ways, *needed.further))
    supports = {first.support, *(other.support for other in others)}
    if Support.UNSUPPORTED in supports:
        return Capability(Support.UNSUPPORTED)
    return Capability(Support.FALLBACK if Support.FALLBACK in supports else Support.SUPPORTED, first.api, first.version)


def _capability_of_step(ways: tuple[Way, ...], versions: BrokerVersions, proposals: bool) -> Capability:
    for way in ways:
        try:
            version = versions.choose(
                message_class(APIS[way.api].request), minimum=way.minimum_version, maximum=way.maximum_version,
                unstable=proposals,
            )  # fmt: skip
        except UnsupportedVersionError:
            continue
        return Capability(Support.SUPPORTED if way is ways[0] else Support.FALLBACK, way.api, version)
    return Capability(Support.UNSUPPORTED)
