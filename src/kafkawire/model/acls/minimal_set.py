"""The fewest ACLs that decide as given ones do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from kafkawire.arguments.checks import checked
from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, ResourceType
from kafkawire.model.acls.coverage import Box, Coverage, Part, box_of, fewest, is_denial_needed, union
from kafkawire.model.acls.effects import acl_effects
from kafkawire.model.acls.operation_sets import CHECKED
from kafkawire.model.acls.regions import grouped
from kafkawire.model.acls.review import Closing

_MOST_TRIED = 16
"""Denials that meet each other of which all combinations are tried."""

_Cell = tuple[Box, int]
"""A box and one bit of an operation that is denied in all of it."""


class MinimalAcls(msgspec.Struct, frozen=True, kw_only=True):
    """ACLs that decide as others do.

    Attributes:
        acls: all of them.
        removed: those of the others that are not needed.
        added: ACLs for ``ALL`` in place of some that together name every operation.
        is_smallest: whether it is certain that no smaller choice exists, see `minimise_acls`.
    """

    acls: tuple[AclBinding, ...]
    removed: tuple[AclBinding, ...]
    added: tuple[AclBinding, ...]
    is_smallest: bool


@checked
def minimise_acls(
    acls: Iterable[AclBinding],
    *,
    keep_denials: bool = False,
    merge: bool = True,
    super_users: Iterable[str] = (),
    allow_everyone_if_no_acl: bool = False,
) -> MinimalAcls:
    """Choose the fewest of some ACLs that decide as all of them do, and prove that they do.

    The ACLs that allow are chosen first, for each principal, host and pattern the fewest. Those that deny can stand in
    for each other: up to 16 of them that do, all combinations are tried; of more, each next one is that which denies
    most. No ACL of the result can be left out. ``is_smallest`` is False where a smaller choice may exist: more than 16
    ACLs stand in for each other, or ACLs that allow what others deny have alternatives.

    Then ACLs that together name every operation become one for ``ALL``. Other new ACLs are not considered.

    The result is compared with `acl_effects` before it is returned.

    Args:
        acls: all ACLs of the cluster.
        keep_denials: keep ACLs that deny what no ACL allows today, as a guard for later.
        merge: put ``ALL`` in place of every operation.
        super_users: principals of the broker's ``super.users``; ACLs about them are not needed.
        allow_everyone_if_no_acl: the broker's ``allow.everyone.if.no.acl.found``.

    Raises:
        RuntimeError: the chosen ACLs decide otherwise, which is an error of this library.

    Example:
        ```python
        from kafkawire.admin import AclBinding, AclOperation, ResourceType, minimise_acls

        orders, every = (
            AclBinding(ResourceType.TOPIC, name, "User:a", AclOperation.READ) for name in ("orders", "*")
        )
        assert minimise_acls([orders, every]).removed == (orders,)
        ```
    """
    before = frozenset(acls)
    supers = frozenset(super_users)
    kept: set[AclBinding] = set()
    is_smallest = True
    for resource_type, unordered in grouped(before, lambda acl: acl.resource_type).items():
        of_type = sorted(unordered)
        if resource_type not in CHECKED:
            kept.update(of_type)
            continue
        choice = _Choice(resource_type, of_type, supers, keep_denials, allow_everyone_if_no_acl)
        kept.update(choice.merged() if merge else choice.kept)
        is_smallest = is_smallest and choice.is_smallest
    change = acl_effects(before, kept, super_users=supers, allow_everyone_if_no_acl=allow_everyone_if_no_acl)
    if change:
        raise RuntimeError(f"the chosen ACLs decide otherwise: {change.sentences()[0]}")
    return MinimalAcls(
        acls=tuple(sorted(kept)),
        removed=tuple(sorted(before - kept)),
        added=tuple(sorted(kept - before)),
        is_smallest=is_smallest,
    )


class _Choice:
    """The ACLs of one type that are needed."""

    def __init__(
        self,
        resource_type: ResourceType,
        acls: Sequence[AclBinding],
        super_users: frozenset[str],
        keep_denials: bool,
        is_open: bool,
    ) -> None:
        self._type = resource_type
        self.is_smallest = True
        self._coverage = Coverage(resource_type, acls, super_users)
        chosen = {acl for acl in acls if acl.is_unknown}
        for box, rules in self._coverage.boxes.items():
            if rules.allows:
                chosen.update(self._allowing(box, rules.allows))
        denying = [acl for acl in acls if acl.permission_type == AclPermissionType.DENY]
        while True:
            self._coverage = Coverage(resource_type, chosen.union(denying), super_users)
            self.kept = chosen.union(self._denials(keep_denials))
            closing = set(_closing(acls, self.kept)) if is_open else ()
            if not closing:
                break
            self.is_smallest = False
            chosen.update(closing)  # what they allow may need denials

    def _allowing(self, box: Box, allows: Sequence[Part]) -> list[AclBinding]:
        """The ACLs of a box that are needed; of equally many, those that allow less of what is denied."""
        elsewhere = denied = 0
        for rules in self._coverage.around(box):
            denied |= union(rules.denies)
            if rules.allows is not allows:
                elsewhere |= union(rules.allows)
        parts = sorted(allows, key=lambda part: ((part[0] & denied).bit_count(), part[0].bit_count(), part[1]))
        chosen, is_smallest = fewest(union(allows) & ~elsewhere & ~denied, parts, most_tried=_MOST_TRIED)
        others = [part for part in allows if part[1] not in chosen]
        is_denied = any(self._coverage.bits(acl) & denied for acl in chosen)
        self.is_smallest = self.is_smallest and is_smallest and not (is_denied and others)
        return chosen

    def _denials(self, keep_idle: bool) -> Iterator[AclBinding]:
        """The ACLs that deny and are needed beside the kept ones that allow."""
        spare: dict[AclBinding, Box] = {}
        needed: set[AclBinding] = set()
        for box, rules in self._coverage.boxes.items():
            for bits, acl in rules.denies:
                alone = bits & ~self._coverage.denied(box, but=acl)
                if (alone and keep_idle) or is_denial_needed(self._coverage, acl, box):
                    needed.add(acl)
                else:
                    spare[acl] = box
        yield from needed
        choices: dict[_Cell, frozenset[AclBinding]] = {}
        for acl, box in spare.items():
            for cell in self._cells(acl, box, needed, keep_idle):
                if cell not in choices:
                    choices[cell] = frozenset(each for each in self._denying(cell) if each in spare)
        yield from self._cover(set(choices.values()))

    def _cells(self, acl: AclBinding, box: Box, needed: set[AclBinding], keep_idle: bool) -> Iterator[_Cell]:
        """What an ACL denies and no needed one does."""
        bits = self._coverage.bits(acl)
        parts = [(box, bits)] if keep_idle else self._coverage.allowed_in(box)
        for part, of_part in parts:
            open_bits = bits & of_part
            for rules in self._coverage.around(part) if open_bits else ():
                for of_acl, other in rules.denies:
                    if other in needed:
                        open_bits &= ~of_acl
            for bit in range(open_bits.bit_length()):
                if open_bits >> bit & 1:
                    yield part, bit

    def _denying(self, cell: _Cell) -> Iterator[AclBinding]:
        part, bit = cell
        for rules in self._coverage.around(part):
            for bits, acl in rules.denies:
                if bits >> bit & 1:
                    yield acl

    def _cover(self, choices: set[frozenset[AclBinding]]) -> Iterator[AclBinding]:
        """ACLs so that each set has one: the fewest in each group of sets that have ACLs in common, if it is small."""
        for sets in _connected(choices):
            acls = sorted({acl for each in sets for acl in each})
            numbered = [(sum(1 << n for n, each in enumerate(sets) if acl in each), acl) for acl in acls]
            chosen, is_smallest = fewest((1 << len(sets)) - 1, numbered, most_tried=_MOST_TRIED)
            self.is_smallest = self.is_smallest and is_smallest
            yield from chosen

    def merged(self) -> set[AclBinding]:
        """The kept ACLs, with one for ``ALL`` where several together name every operation."""
        result = set(self.kept)
        known = (acl for acl in self.kept if not acl.is_unknown)
        alike = grouped(known, lambda acl: replace(acl, operation=AclOperation.ALL))
        for merged, acls in alike.items():
            if len(acls) > 1 and not CHECKED[self._type] & ~union((1 << acl.operation, acl) for acl in acls):
                result.difference_update(acls)
                result.add(merged)
        return result


def _connected(choices: Iterable[frozenset[AclBinding]]) -> list[list[frozenset[AclBinding]]]:
    """Sets that have ACLs in common, directly or by way of others, in groups."""
    group_of: dict[AclBinding, list[frozenset[AclBinding]]] = {}
    for each in choices:
        groups = {id(group): group for group in (group_of.get(acl) for acl in each) if group is not None}
        joined = [each, *(member for group in groups.values() for member in group)]
        for member in joined:
            group_of.update(dict.fromkeys(member, joined))
    return list({id(group): group for group in group_of.values()}.values())


def _closing(acls: Sequence[AclBinding], kept: Iterable[AclBinding]) -> Iterator[AclBinding]:
    """ACLs that keep resources closed which without them would be open to everyone."""
    closing = Closing(kept)
    for acl in sorted(acls, key=lambda each: (each.resource_name != "*", len(each.resource_name))):
        box = box_of(acl)
        if box is not None and not closing.closes(box.pattern):
            closing.add(acl)
            yield acl
