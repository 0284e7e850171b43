"""ACLs, indexed by id, by resource pattern and by principal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

from kafkawire.layout.uuid import Uuid
from kafkawire.model.acls.bindings import (
    OPERATION_OF,
    PATTERN_TYPE_OF,
    PERMISSION_TYPE_OF,
    RESOURCE_TYPE_OF,
    WILDCARD,
    AclBinding,
    AclBindingFilter,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.matching import matches
from kafkawire.protocol import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from kafkawire.wire import Message

Pattern: TypeAlias = tuple[ResourceType, PatternType, str]
"""The resources of ACLs: resource type, pattern type, and the name or prefix."""

_Acls: TypeAlias = dict[AclBinding, None]

_TYPES_OF_RESOURCES = tuple(kind for kind in ResourceType if kind not in (ResourceType.UNKNOWN, ResourceType.ANY))


def acl_record(acl: AclBinding, acl_id: Uuid) -> AccessControlEntryRecord:
    """The record that adds an ACL."""
    return AccessControlEntryRecord(
        id=acl_id,
        resource_type=acl.resource_type,
        resource_name=acl.resource_name,
        pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission_type,
    )


class AclsImage:
    """All ACLs, found quickly among hundreds of thousands.

    Attributes:
        by_id: id to ACL.
        ids: ACL to id; each ACL exists once.
    """

    def __init__(self) -> None:
        self.by_id: dict[bytes, AclBinding] = {}
        self.ids: dict[AclBinding, Uuid] = {}
        self._by_pattern: dict[Pattern, dict[str, _Acls]] = {}
        self._patterns_of: dict[str, dict[Pattern, None]] = {}
        self._prefix_lengths: dict[ResourceType, dict[int, int]] = {}
        self._unknown = 0  # ACLs of newer brokers: the lookup by name has none of their types

    def apply(self, record: AccessControlEntryRecord) -> None:
        """Add an ACL."""
        acl = AclBinding(
            RESOURCE_TYPE_OF[record.resource_type],
            record.resource_name,
            record.principal,
            OPERATION_OF[record.operation],
            PERMISSION_TYPE_OF[record.permission_type],
            record.host,
            PATTERN_TYPE_OF[record.pattern_type],
        )
        self.by_id[record.id] = acl
        self.ids[acl] = record.id
        self._index(acl)

    def apply_remove(self, record: RemoveAccessControlEntryRecord) -> None:
        """Remove an ACL."""
        acl = self.by_id.pop(record.id)
        del self.ids[acl]
        self._forget(acl)

    def matching(self, wanted: AclBindingFilter) -> list[AclBinding]:
        """The ACLs that match a filter (A3 to A10)."""
        return [acl for acl in self._candidates(wanted) if matches(wanted, acl)]

    def of_principals(
        self, resource_type: ResourceType, resource_name: str, principals: Collection[str]
    ) -> list[AclBinding]:
        """The ACLs of some principals that apply to a resource (A7)."""
        return [
            acl
            for pattern in self._concerning(resource_type, resource_name)
            for principal in principals
            for acl in self._by_pattern[pattern].get(principal, ())
        ]

    def of_type(self, resource_type: ResourceType, principals: Collection[str]) -> Iterator[AclBinding]:
        """The ACLs of some principals on resources of a type."""
        for principal in principals:
            for pattern in self._patterns_of.get(principal, ()):
                if pattern[0] == resource_type:
                    yield from self._by_pattern[pattern][principal]

    def concerns(self, resource_type: ResourceType, resource_name: str) -> bool:
        """Whether any ACL applies to a resource (A7)."""
        return next(self._concerning(resource_type, resource_name), None) is not None

    def records(self) -> Iterator[Message]:
        """The records that add all ACLs."""
        for acl, acl_id in self.ids.items():
            yield acl_record(acl, acl_id)

    def _index(self, acl: AclBinding) -> None:
        self._unknown += acl.is_unknown
        pattern = _pattern(acl)
        by_principal = self._by_pattern.get(pattern)
        if by_principal is None:
            by_principal = self._by_pattern[pattern] = {}
            self._count_prefix(pattern, 1)
        acls = by_principal.get(acl.principal)
        if acls is None:
            acls = by_principal[acl.principal] = {}
            self._patterns_of.setdefault(acl.principal, {})[pattern] = None
        acls[acl] = None

    def _forget(self, acl: AclBinding) -> None:
        self._unknown -= acl.is_unknown
        pattern, principal = _pattern(acl), acl.principal
        by_principal = self._by_pattern[pattern]
        acls = by_principal[principal]
        del acls[acl]
        if acls:
            return
        del by_principal[principal]
        patterns = self._patterns_of[principal]
        del patterns[pattern]
        if not patterns:
            del self._patterns_of[principal]
        if not by_principal:
            del self._by_pattern[pattern]
            self._count_prefix(pattern, -1)

    def _count_prefix(self, pattern: Pattern, change: int) -> None:
        """Count the prefixes of each length, so that only existing lengths are tried."""
        resource_type, pattern_type, name = pattern
        if pattern_type != PatternType.PREFIXED:
            return
        counts = self._prefix_lengths.setdefault(resource_type, {})
        counts[len(name)] = counts.get(len(name), 0) + change
        if not counts[len(name)]:
            del counts[len(name)]

    def _concerning(self, resource_type: ResourceType, name: str) -> Iterator[Pattern]:
        """The patterns that match a resource and have ACLs (A7)."""
        patterns = [(resource_type, PatternType.LITERAL, name)]
        if name != WILDCARD:
            patterns.append((resource_type, PatternType.LITERAL, WILDCARD))
        for length in self._prefix_lengths.get(resource_type, ()):
            if length <= len(name):
                patterns.append((resource_type, PatternType.PREFIXED, name[:length]))  # noqa: PERF401 two kinds
        return (pattern for pattern in patterns if pattern in self._by_pattern)

    def _candidates(self, wanted: AclBindingFilter) -> Iterable[AclBinding]:
        """A small superset of the ACLs that match a filter."""
        if wanted.resource_name is not None and not self._unknown:
            return self._of_patterns(self._named(wanted, wanted.resource_name), wanted.principal)
        if wanted.principal is not None:
            return self._of_patterns(self._patterns_of.get(wanted.principal, ()), wanted.principal)
        return self.ids

    def _named(self, wanted: AclBindingFilter, name: str) -> Iterator[Pattern]:
        types = _TYPES_OF_RESOURCES if wanted.resource_type == ResourceType.ANY else (wanted.resource_type,)
        for resource_type in types:
            if wanted.pattern_type == PatternType.MATCH:
                yield from self._concerning(resource_type, name)
            else:
                for pattern_type in (PatternType.LITERAL, PatternType.PREFIXED):
                    yield resource_type, pattern_type, name

    def _of_patterns(self, patterns: Iterable[Pattern], principal: str | None) -> Iterator[AclBinding]:
        for pattern in patterns:
            by_principal = self._by_pattern.get(pattern, {})
            for acls in by_principal.values() if principal is None else (by_principal.get(principal, {}),):
                yield from acls


def _pattern(acl: AclBinding) -> Pattern:
    return acl.resource_type, acl.pattern_type, acl.resource_name
