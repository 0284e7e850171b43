"""Which ACLs hold wherever another one does: the ground of a review and of a minimal set.

An ACL is a box: its principals, its hosts, and the names of its pattern. Principals, hosts and names are endless, so a
box that holds in all of another one contains it whole; several smaller boxes never add up to it. Operations do add up.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from kafkawire.model.acls.bindings import WILDCARD, AclBinding, AclPermissionType, ResourceType
from kafkawire.model.acls.evaluation import EVERYBODY
from kafkawire.model.acls.hosts import is_within, meet
from kafkawire.model.acls.operation_sets import CHECKED, bits_of
from kafkawire.model.acls.pattern_tree import NAME, ROOT, Pattern, PatternNode, PatternTree, pattern_of

Part = tuple[int, AclBinding]
"""Operations, and the ACL that allows or denies them."""


class Box(NamedTuple):
    """Principals, hosts and names.

    Attributes:
        pattern: of the names.
        principal: one, or every.
        host: one, or every.
    """

    pattern: Pattern
    principal: str
    host: str


class Rules:
    """The ACLs of a box.

    Attributes:
        allows: what they allow.
        denies: what they deny.
    """

    __slots__ = ("allows", "denies")

    def __init__(self) -> None:
        self.allows: list[Part] = []
        self.denies: list[Part] = []


_Content = dict[str, dict[str, Rules]]
_Node = PatternNode[_Content]


class Coverage:
    """The ACLs of one type of resources by their boxes.

    Args:
        resource_type: the type.
        acls: all its ACLs.
        super_users: principals that no ACL concerns.

    Attributes:
        checked: the operations that brokers check on the type.
        boxes: the boxes of ACLs that have an effect by themselves, each with its ACLs.
    """

    def __init__(self, resource_type: ResourceType, acls: Iterable[AclBinding], super_users: Collection[str]) -> None:
        self.checked: int = CHECKED[resource_type]
        self.boxes: dict[Box, Rules] = {}
        self._super_users = super_users
        contents: dict[Pattern, _Content] = {ROOT: {}}
        for acl in acls:
            pattern = pattern_of(acl)
            bits = self.bits(acl)
            if pattern is None or not bits:
                continue
            box = Box(pattern, acl.principal, acl.host)
            rules = self.boxes.get(box)
            if rules is None:
                rules = self.boxes[box] = Rules()
                contents.setdefault(pattern, {}).setdefault(acl.principal, {})[acl.host] = rules
            (rules.allows if acl.permission_type == AclPermissionType.ALLOW else rules.denies).append((bits, acl))
        self._tree = PatternTree(contents)
        self._positions: dict[str, list[int]] = {}
        for node in self._tree.nodes:
            for principal in node.content:
                self._positions.setdefault(principal, []).append(node.position)

    def bits(self, acl: AclBinding) -> int:
        """The operations that an ACL allows or denies; 0 if it has no effect by itself."""
        is_read = acl.permission_type in (AclPermissionType.ALLOW, AclPermissionType.DENY)
        return bits_of(acl) if is_read and acl.principal not in self._super_users else 0

    def around(self, box: Box) -> Iterator[Rules]:
        """The ACLs of the boxes that contain a box, its own first."""
        principals = (box.principal,) if box.principal == EVERYBODY else (box.principal, EVERYBODY)
        hosts = (box.host,) if box.host == WILDCARD else (box.host, WILDCARD)
        for node in self._tree.at(box.pattern).path():
            for principal in principals:
                of_principal = node.content.get(principal)
                if of_principal is not None:
                    for host in hosts:
                        rules = of_principal.get(host)
                        if rules is not None:
                            yield rules

    def denied(self, box: Box, *, but: AclBinding | None = None) -> int:
        """The operations that ACLs other than one deny in all of a box."""
        bits = 0
        for rules in self.around(box):
            for of_acl, acl in rules.denies:
                if acl is not but:
                    bits |= of_acl
        return bits

    def allowed_in(self, box: Box) -> Iterator[tuple[Box, int]]:
        """The parts of a box in which an ACL allows operations, and these."""
        for node in self._meeting(box):
            pattern = max(node.pattern, box.pattern)
            named = node.content if box.principal == EVERYBODY else (box.principal, EVERYBODY)
            for principal in named:
                for host, rules in node.content.get(principal, {}).items():
                    if rules.allows and meet(host, box.host):
                        yield (
                            Box(
                                pattern,
                                principal if box.principal == EVERYBODY else box.principal,
                                host if is_within(host, box.host) else box.host,
                            ),
                            union(rules.allows),
                        )

    def _meeting(self, box: Box) -> Iterator[_Node]:
        """The nodes that have names of a box and ACLs of its principals."""
        around = self._tree.at(box.pattern)
        for node in around.path():
            if node.pattern != box.pattern:
                yield node
        if box.pattern[1] == NAME:
            if around.pattern == box.pattern:
                yield around
            return
        start, end = self._tree.range_of(box.pattern)
        if box.principal == EVERYBODY:
            yield from self._tree.nodes[start:end]
            return
        of_one = _between(self._positions.get(box.principal, ()), start, end)
        of_all = _between(self._positions.get(EVERYBODY, ()), start, end)
        for position in sorted({*of_one, *of_all}):
            yield self._tree.nodes[position]


def box_of(acl: AclBinding) -> Box | None:
    """The box of an ACL; None for kinds of patterns of newer brokers."""
    pattern = pattern_of(acl)
    return None if pattern is None else Box(pattern, acl.principal, acl.host)


def is_denial_needed(coverage: Coverage, acl: AclBinding, box: Box) -> bool:
    """Whether something is denied that other ACLs leave allowed, if an ACL that denies is removed."""
    alone = coverage.bits(acl) & ~coverage.denied(box, but=acl)
    if not alone:
        return False
    return any(
        bits & alone and bits & alone & ~coverage.denied(part, but=acl) for part, bits in coverage.allowed_in(box)
    )


def fewest(wanted: int, parts: Sequence[Part], *, most_tried: int = 12) -> tuple[list[AclBinding], bool]:
    """The fewest ACLs that together have some operations, and whether it is certain that there are no fewer.

    Args:
        wanted: the operations; the parts must have them all.
        parts: the ACLs to choose from; earlier ones are preferred.
        most_tried: with more parts than these, each next one is that with most of what is still lacking.
    """
    useful = [part for part in parts if part[0] & wanted]
    if len(useful) <= most_tried:
        for size in range(len(useful) + 1):
            for chosen in combinations(useful, size):
                if not wanted & ~union(chosen):
                    return [acl for _, acl in chosen], True
    greedy: list[Part] = []
    lacking = wanted
    while lacking:
        most = max(useful, key=lambda part: (part[0] & lacking).bit_count())
        greedy.append(most)
        lacking &= ~most[0]
    for part in tuple(greedy):
        others = [each for each in greedy if each is not part]
        if not wanted & ~union(others):
            greedy = others
    return [acl for _, acl in greedy], False


def union(parts: Iterable[Part]) -> int:
    """The operations of some ACLs together."""
    bits = 0
    for of_acl, _ in parts:
        bits |= of_acl
    return bits


def _between(positions: Sequence[int], start: int, end: int) -> Sequence[int]:
    return positions[bisect_left(positions, start) : bisect_right(positions, end - 1)]
