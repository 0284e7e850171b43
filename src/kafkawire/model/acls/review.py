"""ACLs that do nothing, do less than they say, or are about something that does not exist."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum

import msgspec

from kafkawire.arguments.checks import checked
from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, ResourceType
from kafkawire.model.acls.coverage import Box, Coverage, Part, box_of, fewest, is_denial_needed, union
from kafkawire.model.acls.effect_sentences import acl_in_words, noun_of
from kafkawire.model.acls.evaluation import EVERYBODY
from kafkawire.model.acls.operation_sets import CHECKED, operations_in
from kafkawire.model.acls.pattern_tree import NAME, PREFIX, ROOT, Pattern, pattern_of, span
from kafkawire.model.acls.regions import grouped
from kafkawire.model.acls.validation import reason_without_effect


class FindingKind(Enum):
    """What a review finds about an ACL."""

    REDUNDANT = "redundant"
    """Other ACLs already allow, or already deny, what it does."""

    SHADOWED = "shadowed"
    """Other ACLs deny the operation that it allows."""

    IDLE = "idle"
    """It denies what no ACL allows."""

    WITHOUT_EFFECT = "without effect"
    """It cannot apply to any request: its operation or its host does not exist, or it is about a super user."""

    DETACHED = "detached"
    """Its resource or its principal does not exist."""


class AclFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What a review has found about an ACL.

    Attributes:
        acl: the ACL.
        kind: what was found.
        causes: the ACLs that make it so.
        remaining: operations that it still allows; if there are none and it is not detached, the ACL can be removed and
            every decision stays as it is.
        reason: a sentence for people.
    """

    acl: AclBinding
    kind: FindingKind
    causes: tuple[AclBinding, ...] = ()
    remaining: tuple[AclOperation, ...] = ()
    reason: str


@checked
def review_acls(
    acls: Iterable[AclBinding],
    *,
    topics: Collection[str] | None = None,
    groups: Collection[str] | None = None,
    transactional_ids: Collection[str] | None = None,
    users: Collection[str] | None = None,
    super_users: Iterable[str] = (),
    allow_everyone_if_no_acl: bool = False,
) -> list[AclFinding]:
    """Find ACLs that are redundant, shadowed, idle, without effect or detached.

    Each finding is about the ACL as one of all the others. Of two ACLs that make each other redundant only one can be
    removed; `minimise_acls` chooses.

    Args:
        acls: all ACLs of the cluster.
        topics: the topics that exist; None if they are not known, then no ACL of a topic is detached.
        groups: the same of groups.
        transactional_ids: the same of transactional ids.
        users: the principals that exist, such as ``User:alice``; None if they are not known.
        super_users: principals of the broker's ``super.users``.
        allow_everyone_if_no_acl: the broker's ``allow.everyone.if.no.acl.found``.

    Example:
        ```python
        from kafkawire.admin import AclBinding, AclOperation, ResourceType, review_acls

        one = AclBinding(ResourceType.TOPIC, "orders", "User:a", AclOperation.READ)
        every = AclBinding(ResourceType.TOPIC, "*", "User:a", AclOperation.READ)
        (finding,) = review_acls([one, every])
        assert (finding.acl, finding.kind.value, finding.causes) == (one, "redundant", (every,))
        ```
    """
    distinct = sorted(set(acls))
    supers = frozenset(super_users)
    findings: list[AclFinding] = []
    for resource_type, of_type in grouped(distinct, lambda acl: acl.resource_type).items():
        if resource_type in CHECKED:
            findings += _Reviewed(resource_type, of_type, supers, allow_everyone_if_no_acl).findings()
    existing = {
        ResourceType.TOPIC: topics,
        ResourceType.GROUP: groups,
        ResourceType.TRANSACTIONAL_ID: transactional_ids,
    }
    findings += _detached(distinct, existing, users)
    return sorted(findings, key=lambda finding: (finding.acl, finding.kind.value))


class _Reviewed:
    """A review of the ACLs of one type."""

    def __init__(
        self, resource_type: ResourceType, acls: Sequence[AclBinding], super_users: frozenset[str], is_open: bool
    ) -> None:
        self._acls = acls
        self._super_users = super_users
        self._coverage = Coverage(resource_type, acls, super_users)
        self._closing = Closing(acls) if is_open else None

    def findings(self) -> Iterator[AclFinding]:
        for acl in self._acls:
            box = box_of(acl)
            if box is None or acl.is_unknown:
                continue
            finding = self._finding(acl, box)
            if finding is not None and (finding.remaining or self._closing is None or self._closing.spares(acl)):
                yield finding

    def _finding(self, acl: AclBinding, box: Box) -> AclFinding | None:
        if not self._coverage.bits(acl):
            return self._without_effect(acl)
        if acl.permission_type == AclPermissionType.ALLOW:
            return self._of_allowing(acl, box)
        return self._of_denying(acl, box)

    def _without_effect(self, acl: AclBinding) -> AclFinding:
        if acl.principal in self._super_users:
            reason = f"{acl.principal} is a super user"
        else:
            refusal = reason_without_effect(acl)
            reason = str(refusal) if refusal is not None else "brokers check no such operation"
        return AclFinding(acl=acl, kind=FindingKind.WITHOUT_EFFECT, reason=reason)

    def _of_allowing(self, acl: AclBinding, box: Box) -> AclFinding | None:
        bits = self._coverage.bits(acl)
        denies: list[Part] = []
        allows: list[Part] = []
        denied = allowed = 0
        for rules in self._coverage.around(box):
            for part in rules.denies:
                if part[0] & bits:
                    denies.append(part)
                    denied |= part[0]
            for part in rules.allows:
                if part[1] is not acl and part[0] & bits:
                    allows.append(part)
                    allowed |= part[0]
        own = bits if acl.operation == AclOperation.ALL else bits & 1 << acl.operation
        remaining = bits & ~denied & ~allowed
        if remaining and own & ~denied:
            return None
        causes, _ = fewest(bits & denied, denies)
        others, _ = fewest(bits & allowed & ~denied, allows)
        found = [f"denied by {_names(causes)}"] * bool(causes) + [f"allowed already by {_names(others)}"] * bool(others)
        if remaining:
            found.append(f"all that it allows is {', '.join(map(str, operations_in(remaining)))}")
        kind = FindingKind.REDUNDANT if own & ~denied else FindingKind.SHADOWED
        if not own:
            kind = FindingKind.WITHOUT_EFFECT
            found.insert(0, f"brokers do not check {acl.operation} on a {noun_of(acl.resource_type)}")
        return AclFinding(
            acl=acl,
            kind=kind,
            causes=(*causes, *others),
            remaining=operations_in(remaining),
            reason=", ".join(found),
        )

    def _of_denying(self, acl: AclBinding, box: Box) -> AclFinding | None:
        bits = self._coverage.bits(acl)
        parts = [part for rules in self._coverage.around(box) for part in rules.denies if part[1] is not acl]
        if not bits & ~union(parts):
            causes, _ = fewest(bits, parts)
            reason = f"denied already by {_names(causes)}"
            return AclFinding(acl=acl, kind=FindingKind.REDUNDANT, causes=tuple(causes), reason=reason)
        if is_denial_needed(self._coverage, acl, box):
            return None
        return AclFinding(acl=acl, kind=FindingKind.IDLE, reason="denies what no ACL allows")


class Closing:
    """Whether resources stay closed without an ACL, where those without ACLs are open to everyone.

    Args:
        acls: the ACLs of one type.
    """

    def __init__(self, acls: Iterable[AclBinding]) -> None:
        self._counts: dict[Pattern, int] = {}
        for acl in acls:
            self.add(acl)

    def add(self, acl: AclBinding) -> None:
        """Add an ACL."""
        pattern = pattern_of(acl)
        if pattern is not None:
            self._counts[pattern] = self._counts.get(pattern, 0) + 1

    def spares(self, acl: AclBinding) -> bool:
        """Whether another ACL concerns all resources that this one concerns; it is among those that were added."""
        pattern = pattern_of(acl)
        return pattern is None or self._counts.get(pattern, 0) > 1 or self.closes_around(pattern)

    def closes(self, pattern: Pattern) -> bool:
        """Whether an ACL concerns all names of a pattern."""
        return pattern in self._counts or self.closes_around(pattern)

    def closes_around(self, pattern: Pattern) -> bool:
        """Whether an ACL of a wider pattern concerns all names of a pattern."""
        name, kind = pattern
        if pattern != ROOT and ROOT in self._counts:
            return True
        end = len(name) if kind == PREFIX else len(name) + 1
        return any((name[:length], PREFIX) in self._counts for length in range(1, end))


def _detached(
    acls: Iterable[AclBinding],
    existing: dict[ResourceType, Collection[str] | None],
    users: Collection[str] | None,
) -> Iterator[AclFinding]:
    order = {
        resource_type: sorted((name, NAME) for name in names)
        for resource_type, names in existing.items()
        if names is not None
    }
    known = None if users is None else frozenset(users) | {EVERYBODY}
    for acl in acls:
        reasons = []
        pattern = pattern_of(acl)
        names = order.get(acl.resource_type)
        if names is not None and pattern is not None and pattern != ROOT:
            start, end = span(names, pattern)
            if start == end:
                noun = noun_of(acl.resource_type)
                is_prefix = pattern[1] == PREFIX
                reasons.append(
                    f"no {noun} begins with {pattern[0]}" if is_prefix else f"there is no {noun} {pattern[0]}"
                )
        if known is not None and acl.principal not in known:
            reasons.append(f"there is no {acl.principal}")
        if reasons:
            yield AclFinding(acl=acl, kind=FindingKind.DETACHED, reason=" and ".join(reasons))


def _names(acls: Iterable[AclBinding]) -> str:
    return " and ".join(f"“{acl_in_words(acl)}”" for acl in acls)
