"""Which ACLs a filter matches: A3 to A10, as brokers decide it (KIP-140, KIP-290)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import attrgetter

from msgspec.structs import replace

from kafkawire.arguments.checks import checked
from kafkawire.model.acls.bindings import (
    WILDCARD,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)

_KeyOf = Callable[[AclBinding | AclBindingFilter], object]


def matches(wanted: AclBindingFilter, acl: AclBinding) -> bool:
    """Whether a filter matches an ACL.

    ``ANY`` and None in the filter also match values of newer brokers (KIP-140).
    """
    return (
        wanted.resource_type in (ResourceType.ANY, acl.resource_type)
        and _matches_pattern(wanted, acl)
        and wanted.principal in (None, acl.principal)
        and wanted.host in (None, acl.host)
        and wanted.operation in (AclOperation.ANY, acl.operation)
        and wanted.permission_type in (AclPermissionType.ANY, acl.permission_type)
    )


def _matches_pattern(wanted: AclBindingFilter, acl: AclBinding) -> bool:
    name = wanted.resource_name
    match wanted.pattern_type:
        case PatternType.ANY:
            return name in (None, acl.resource_name)
        case PatternType.MATCH:
            return name is None or _concerns(acl, name)
        case _:
            return wanted.pattern_type == acl.pattern_type and name in (None, acl.resource_name)


def _concerns(acl: AclBinding, name: str) -> bool:
    """Whether an ACL applies to the resource of this name (A7)."""
    match acl.pattern_type:
        case PatternType.LITERAL:
            return acl.resource_name in (name, WILDCARD)
        case PatternType.PREFIXED:
            return name.startswith(acl.resource_name)
        case _:
            return False


class AclIndex:
    """An index of ACLs for many filters: equal to `matches` on each ACL, without comparing each.

    The first filter that sets some attributes costs one pass over the ACLs, further ones that set the same attributes
    cost only their results.

    Args:
        acls: the ACLs; answers keep their order.

    Example:
        ```python
        index = AclIndex((await admin.describe_acls()).union())
        for principal in ("User:billing", "User:reports"):
            print(principal, "has", len(index.matching(AclBindingFilter(principal=principal))), "ACLs")
        ```
    """

    @checked
    def __init__(self, acls: Iterable[AclBinding]) -> None:
        self.acls: Sequence[AclBinding] = tuple(acls)
        self._by_attributes: dict[tuple[str, ...], dict[object, list[int]]] = {}

    def __repr__(self) -> str:
        return f"<AclIndex of {len(self.acls)} ACLs>"

    def matching(self, wanted: AclBindingFilter) -> list[AclBinding]:
        """The ACLs that a filter matches."""
        attributes = _attributes(wanted)
        if not attributes:
            return list(self.acls)
        key_of: _KeyOf = attrgetter(*attributes)
        positions = self._positions(attributes, key_of)
        if wanted.pattern_type != PatternType.MATCH or wanted.resource_name is None:
            return [self.acls[position] for position in positions.get(key_of(wanted), ())]
        keys = {key_of(pattern) for pattern in self._patterns(wanted, wanted.resource_name)}
        return [self.acls[position] for position in sorted(p for key in keys for p in positions.get(key, ()))]

    def _positions(self, attributes: tuple[str, ...], key_of: _KeyOf) -> dict[object, list[int]]:
        known = self._by_attributes.get(attributes)
        if known is None:
            known = {}
            for position, key in enumerate(map(key_of, self.acls)):
                known.setdefault(key, []).append(position)
            self._by_attributes[attributes] = known
        return known

    def _patterns(self, wanted: AclBindingFilter, name: str) -> Iterable[AclBindingFilter]:
        """The exact patterns that apply to a resource (A7)."""
        for literal in (name, WILDCARD):
            yield replace(wanted, resource_name=literal, pattern_type=PatternType.LITERAL)
        for length in self._prefix_lengths:
            if length <= len(name):
                yield replace(wanted, resource_name=name[:length], pattern_type=PatternType.PREFIXED)

    @cached_property
    def _prefix_lengths(self) -> frozenset[int]:
        return frozenset(len(acl.resource_name) for acl in self.acls if acl.pattern_type == PatternType.PREFIXED)


def _attributes(wanted: AclBindingFilter) -> tuple[str, ...]:
    """The attributes in which a filter and its matches are equal, after ``MATCH`` was resolved."""
    named = wanted.resource_name is not None
    return tuple(
        attribute
        for attribute, is_set in (
            ("resource_type", wanted.resource_type != ResourceType.ANY),
            ("resource_name", named),
            (
                "pattern_type",
                wanted.pattern_type != PatternType.ANY and (named or wanted.pattern_type != PatternType.MATCH),
            ),
            ("principal", wanted.principal is not None),
            ("host", wanted.host is not None),
            ("operation", wanted.operation != AclOperation.ANY),
            ("permission_type", wanted.permission_type != AclPermissionType.ANY),
        )
        if is_set
    )
