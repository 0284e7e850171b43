"""The rights that differ between two sets of ACLs on resources of one type, cell by cell.

A cell is one principal (or any that no ACL names), one host (or any that no ACL names) and the names of a node of the
pattern tree. Only cells that a changed ACL concerns are evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import NamedTuple

from kafkawire.model.acls.bindings import WILDCARD, AclBinding, AclPermissionType, ResourceType
from kafkawire.model.acls.evaluation import EVERYBODY
from kafkawire.model.acls.operation_sets import CHECKED, bits_of
from kafkawire.model.acls.pattern_tree import (
    NAME,
    PREFIX,
    ROOT,
    Pattern,
    PatternNode,
    PatternTree,
    contains,
    pattern_of,
    span,
)
from kafkawire.model.acls.regions import Exemption, RegionBuilder, ResourcePattern, ResourceRegion
from kafkawire.model.selections import Selection

SET = 16
"""Bits of a set of operations."""

_DENIED, _AFTER = SET, 2 * SET
"""Places of sets in a number that has four: allowed and denied before, allowed and denied after."""

BEFORE, AFTER = 1, 2

_ALLOW, _DENY = AclPermissionType.ALLOW, AclPermissionType.DENY  # members of a class take time to find

_Hosts = Mapping[str, int]
_Key = tuple[int, Selection]
"""A bit of a difference and the hosts that it is about. Lost operations follow the gained ones."""


class _Content:
    """The ACLs of a pattern: which sets have some, and by principal and host what they allow and deny."""

    __slots__ = ("presence", "rights")

    def __init__(self) -> None:
        self.presence = 0
        self.rights: dict[str, dict[str, int]] = {}


_Node = PatternNode[_Content]


class _State(NamedTuple):
    """What the ACLs of a node and of all wider ones say to a principal."""

    hosts: _Hosts
    presence: int


class _Step(NamedTuple):
    """A cell on the way of a principal, and what was found there."""

    node: _Node
    state: _State
    keys: frozenset[_Key]
    regions: Mapping[_Key, list[Pattern]]
    exempt: Mapping[_Key, list[Pattern]]


_WideRights = tuple[tuple[int, tuple[tuple[str, int], ...]], ...]
"""Positions of nodes, and by host what ACLs allow and deny there."""

_NOTHING = _State({}, 0)
_NO_KEYS: frozenset[_Key] = frozenset()


class _Walk(NamedTuple):
    """What was found in the cells under patterns of a principal.

    Attributes:
        alone: what it gains and loses where others do not.
        exempt: what others gain and lose where it does not.
        steps: the cells by the positions of their nodes, without names that the principal has no ACL on.
    """

    alone: RegionBuilder[_Key]
    exempt: RegionBuilder[_Key]
    steps: dict[int, _Step]


class _OwnNames:
    """The names on which a principal differs from its group, by what it does or does not gain or lose there."""

    __slots__ = ("alone", "exempt", "not_alone", "not_exempt")

    def __init__(self) -> None:
        self.alone: dict[_Key, list[Pattern]] = {}
        self.not_alone: dict[_Key, list[Pattern]] = {}
        self.exempt: dict[_Key, list[Pattern]] = {}
        self.not_exempt: dict[_Key, list[Pattern]] = {}


class ChangedRight(NamedTuple):
    """An operation that principals gain or lose.

    Attributes:
        principals: which.
        bit: of the operation; ``SET`` more if it is lost.
        hosts: from which hosts.
        regions: on which names.
        exemptions: principals that do not, and on which of these names.
    """

    principals: Selection
    bit: int
    hosts: Selection
    regions: tuple[ResourceRegion, ...]
    exemptions: tuple[Exemption, ...] = ()


class ChangedRights:
    """The rights that differ.

    Args:
        resource_type: of the resources.
        changed: the ACLs that are in one set only, with ``BEFORE`` or ``AFTER``.
        after: the ACLs of this type that are in the set after.
        super_users: principals that no ACL concerns.
        is_open: whether resources without ACLs are open to everyone.
    """

    def __init__(
        self,
        resource_type: ResourceType,
        changed: Mapping[AclBinding, int],
        after: Iterable[AclBinding],
        super_users: frozenset[str],
        is_open: bool,
    ) -> None:
        self._checked = CHECKED[resource_type]
        self._is_open = is_open
        principals = {acl.principal for acl in changed}
        wanted = None if is_open or EVERYBODY in principals else frozenset(principals | {EVERYBODY})
        self._tree = PatternTree(_contents(changed, _concerned(changed, after, wanted), super_users))
        shared = [node for node in self._tree.nodes if is_open or EVERYBODY in node.content.rights]
        self._shared = {node.position for node in shared if node.pattern[1] == PREFIX}
        self._shared_names = _grouped_names(shared)
        walked = self._shared | self._shared_names.keys()
        self._walked = [node for node in self._tree.nodes if node.position in walked]
        self._walked_patterns = [node.pattern for node in self._walked]
        self._keys_of_differences: dict[tuple[int, frozenset[tuple[str, int]]], frozenset[_Key]] = {}
        self._states: list[_State] = []
        self._keys: list[frozenset[_Key]] = []
        self._exemptions: dict[_Key, list[Exemption]] = {}
        self._patterns: dict[Pattern, ResourcePattern] = {}
        self._look_at_others()

    def __iter__(self) -> Iterator[ChangedRight]:
        """What each principal that ACLs name gains and loses where others do not, and then what all others do."""
        nodes_of: dict[str, list[_Node]] = {}
        for node in self._tree.nodes:
            for principal in node.content.rights:
                nodes_of.setdefault(principal, []).append(node)
        nodes_of.pop(EVERYBODY, None)
        groups: dict[_WideRights, list[str]] = {}
        for principal in sorted(nodes_of):
            wide = _wide_rights(principal, nodes_of[principal])
            if wide:
                groups.setdefault(wide, []).append(principal)
            else:
                yield from self._of_principal(principal, nodes_of[principal])
        for principals in groups.values():
            if len(principals) == 1:
                yield from self._of_principal(principals[0], nodes_of[principals[0]])
            else:
                yield from self._of_group(principals, nodes_of)
        yield from self._of_others()

    def openings(self) -> Iterator[tuple[bool, tuple[ResourceRegion, ...]]]:
        """The names that have ACLs in one set only, if that opens or closes them; first whether it opens them."""
        if not self._is_open:
            return
        builder: RegionBuilder[bool] = RegionBuilder(self._patterns)
        open_regions: list[Mapping[bool, list[Pattern]]] = []
        for node, state in zip(self._tree.nodes, self._states, strict=True):
            keys = (state.presence == BEFORE,) if state.presence in (BEFORE, AFTER) else ()
            wider = {} if node.parent is None else open_regions[node.parent.position]
            open_regions.append(builder.add(node, keys, wider))
        yield from builder.regions().items()

    def _look_at_others(self) -> None:
        """Walk all cells as a principal that no ACL names."""
        for node in self._tree.nodes:
            wider = node.parent
            outer = _NOTHING if wider is None else self._states[wider.position]
            state = self._narrowed(outer, node, EVERYBODY)
            self._states.append(state)
            self._keys.append(
                self._keys[wider.position] if wider is not None and state is outer else self._differences(state)
            )

    def _of_principal(self, principal: str, nodes: Sequence[_Node]) -> Iterator[ChangedRight]:
        """What a principal gains and loses where others do not, and where it is exempt from what they do."""
        walk = self._walk(principal, nodes)
        for key, regions in walk.exempt.regions().items():
            self._exemptions.setdefault(key, []).append(Exemption(principal, regions))
        for (bit, hosts), regions in walk.alone.regions().items():
            yield ChangedRight(Selection((principal,)), bit, hosts, regions)

    def _of_group(self, principals: Sequence[str], nodes_of: Mapping[str, Sequence[_Node]]) -> Iterator[ChangedRight]:
        """The same for principals that have the same rights on prefixes and on all names.

        The cells under these patterns are walked once. Names have none under them: on those of its own ACLs each
        principal can only differ from the group by itself.
        """
        group = self._walk(principals[0], [node for node in nodes_of[principals[0]] if node.pattern[1] == PREFIX])
        exempt_regions = group.exempt.regions()
        not_alone: dict[_Key, list[Exemption]] = {}
        for principal in principals:
            own = _OwnNames()
            for node in nodes_of[principal]:
                if node.pattern[1] == NAME:
                    self._add_own_name(own, group, node, principal)
            for (bit, hosts), names in own.alone.items():
                yield ChangedRight(Selection((principal,)), bit, hosts, _regions_of(names))
            for key, names in own.not_alone.items():
                not_alone.setdefault(key, []).append(Exemption(principal, _regions_of(names)))
            for key in exempt_regions.keys() | own.exempt.keys():
                regions = _without(exempt_regions.get(key, ()), own.not_exempt.get(key, ()))
                regions += _regions_of(own.exempt.get(key, ()))
                if regions:
                    self._exemptions.setdefault(key, []).append(Exemption(principal, regions))
        for (bit, hosts), regions in group.alone.regions().items():
            yield ChangedRight(
                Selection(tuple(principals)), bit, hosts, regions, tuple(not_alone.get((bit, hosts), ()))
            )

    def _add_own_name(self, own: _OwnNames, group: _Walk, node: _Node, principal: str) -> None:
        """Add how a principal differs on a name from its group."""
        step = next((group.steps[each.position] for each in node.path() if each.position in group.steps), None)
        common = self._keys[node.position]
        if step is None:
            state, of_group = self._states[node.position], common
        else:
            state, of_group = self._inside(step, node, EVERYBODY)
        keys = self._differences(self._narrowed(state, node, principal))
        if keys == of_group:
            return
        for key in keys | of_group | common:
            is_common, is_of_group, has = key in common, key in of_group, key in keys
            if has is is_of_group:
                continue
            if is_common:
                (own.not_exempt if has else own.exempt).setdefault(key, []).append(node.pattern)
            else:
                (own.alone if has else own.not_alone).setdefault(key, []).append(node.pattern)

    def _walk(self, principal: str, nodes: Sequence[_Node]) -> _Walk:
        """Walk the cells under patterns of a principal; in all others it is one of the others."""
        walk = _Walk(RegionBuilder(self._patterns), RegionBuilder(self._patterns), {})
        own = {node.position for node in nodes}
        path: list[_Step] = []
        for node in self._cells_under(nodes):
            while path and not contains(path[-1].node.pattern, node.pattern):
                path.pop()
            if node.position in own or node.position in self._shared:
                outer = path[-1] if path else self._step_around(node)
                state, keys = self._inside(outer, node, EVERYBODY, principal)
                common = self._keys[node.position]
                step = _Step(
                    node,
                    state,
                    keys,
                    walk.alone.add(node, keys - common, outer.regions),
                    walk.exempt.add(node, common - keys, outer.exempt),
                )
                path.append(step)
                walk.steps[node.position] = step
            if node.pattern[1] == PREFIX:
                for names in self._shared_names.get(node.position, ()):
                    self._walk_names(walk, path[-1], names, own)
        return walk

    def _walk_names(self, walk: _Walk, outer: _Step, names: Sequence[_Node], own: Set[int]) -> None:
        """Walk names that say the same to all principals at once; those of a principal's own ACLs are walked alone."""
        patterns = [node.pattern for node in names if node.position not in own]
        if not patterns:
            return
        _, keys = self._inside(outer, names[0], EVERYBODY)
        common = self._keys[names[0].position]
        walk.alone.add_names(patterns, keys - common, outer.regions)
        walk.exempt.add_names(patterns, common - keys, outer.exempt)

    def _inside(self, outer: _Step, node: _Node, *principals: str) -> tuple[_State, frozenset[_Key]]:
        """What the ACLs of some principals on a cell add to the wider one."""
        state = outer.state
        for principal in principals:
            state = self._narrowed(state, node, principal)
        return state, outer.keys if state is outer.state else self._differences(state)

    def _step_around(self, node: _Node) -> _Step:
        """The cell around the outermost pattern of a principal, where it is one of the others."""
        if node.parent is None:
            return _Step(node, _NOTHING, _NO_KEYS, {}, {})
        position = node.parent.position
        return _Step(node, self._states[position], self._keys[position], {}, {})

    def _cells_under(self, nodes: Sequence[_Node]) -> Iterable[_Node]:
        """The cells under some patterns that are of these patterns, of those of all principals, or have their names."""
        cells = {node.position: node for node in nodes}
        end = 0
        for node in nodes:
            if node.pattern[1] == PREFIX and node.position >= end:
                start, stop = span(self._walked_patterns, node.pattern)
                cells.update((cell.position, cell) for cell in self._walked[start:stop])
                _, end = self._tree.range_of(node.pattern)
        return nodes if len(cells) == len(nodes) else [cells[position] for position in sorted(cells)]

    def _of_others(self) -> Iterator[ChangedRight]:
        """What all principals gain and lose except those that do not; call it after `_of_principal`."""
        builder: RegionBuilder[_Key] = RegionBuilder(self._patterns)
        open_regions: list[Mapping[_Key, list[Pattern]]] = []
        for node in self._tree.nodes:
            wider = node.parent
            regions = {} if wider is None else open_regions[wider.position]
            keys = self._keys[node.position]
            if wider is None or keys is not self._keys[wider.position]:
                regions = builder.add(node, keys, regions)
            open_regions.append(regions)
        for key, of_key in builder.regions().items():
            bit, hosts = key
            exemptions = sorted(self._exemptions.get(key, []), key=lambda each: each.principal)
            excepted = tuple(each.principal for each in exemptions if each.resources == of_key)
            partly = tuple(each for each in exemptions if each.resources != of_key)
            yield ChangedRight(Selection(excepted, others=True), bit, hosts, of_key, partly)

    def _narrowed(self, outer: _State, node: _Node, principal: str) -> _State:
        """The state in a cell after that in the next wider one; the same object if it is the same."""
        rights = node.content.rights.get(principal)
        presence = outer.presence | node.content.presence if self._is_open else 0
        if rights is None:
            return outer if presence == outer.presence else _State(outer.hosts, presence)
        hosts = dict(outer.hosts)
        for host, bits in rights.items():
            hosts[host] = hosts.get(host, 0) | bits
        return _State(hosts, presence)

    def _differences(self, state: _State) -> frozenset[_Key]:
        common = state.hosts.get(WILDCARD, 0)
        of_others = self._difference(common, state.presence)
        differing = {}
        for host, bits in state.hosts.items():
            if bits | common != common:
                difference = self._difference(bits | common, state.presence)
                if difference != of_others:
                    differing[host] = difference
        which = (of_others, frozenset(differing.items()))
        known = self._keys_of_differences.get(which)
        if known is None:
            known = self._keys_of_differences[which] = frozenset(_keys(of_others, differing))
        return known

    def _difference(self, bits: int, presence: int) -> int:
        """The gained operations, and the lost ones shifted by ``SET``."""
        before = bits & ~(bits >> _DENIED) & self._checked
        after = bits >> _AFTER & ~(bits >> _AFTER + _DENIED) & self._checked
        if self._is_open:
            before = before if presence & BEFORE else self._checked
            after = after if presence & AFTER else self._checked
        return after & ~before | (before & ~after) << SET


def _grouped_names(shared: Iterable[_Node]) -> Mapping[int, list[list[_Node]]]:
    """The names of all principals by the next wider pattern; each list has those that say the same."""
    groups: dict[int, dict[object, list[_Node]]] = {}
    for node in shared:
        if node.pattern[1] == NAME and node.parent is not None:
            groups.setdefault(node.parent.position, {}).setdefault(_kind(node), []).append(node)
    return {position: list(of_parent.values()) for position, of_parent in groups.items()}


def _kind(node: _Node) -> object:
    """Equal for nodes that say the same to all principals."""
    return node.content.presence, frozenset(node.content.rights.get(EVERYBODY, {}).items())


def _wide_rights(principal: str, nodes: Iterable[_Node]) -> _WideRights:
    """The rights of a principal on prefixes and on all names."""
    return tuple(
        (node.position, tuple(sorted(node.content.rights[principal].items())))
        for node in nodes
        if node.pattern[1] == PREFIX
    )


def _regions_of(names: Iterable[Pattern]) -> tuple[ResourceRegion, ...]:
    return tuple(ResourceRegion(ResourcePattern.of(name)) for name in names)


def _without(regions: tuple[ResourceRegion, ...], names: Iterable[Pattern]) -> tuple[ResourceRegion, ...]:
    """Regions without some names that are in them."""
    left = regions
    for name in map(ResourcePattern.of, names):
        left = tuple(
            each if name.name not in each else ResourceRegion(each.pattern, (*each.exceptions, name))
            for each in left
            if each.pattern != name
        )
    return left


def _keys(of_others: int, differing: _Hosts) -> Iterator[_Key]:
    any_host = of_others
    for bits in differing.values():
        any_host |= bits
    for bit in range(any_host.bit_length()):
        if any_host >> bit & 1:
            others = bool(of_others >> bit & 1)
            names = tuple(sorted(host for host, bits in differing.items() if bool(bits >> bit & 1) is not others))
            yield bit, Selection(names, others)


def _contents(
    changed: Mapping[AclBinding, int], common: Iterable[AclBinding], super_users: frozenset[str]
) -> dict[Pattern, _Content]:
    contents = {ROOT: _Content()}
    for acl, sets in chain(changed.items(), ((acl, BEFORE | AFTER) for acl in common)):
        pattern = pattern_of(acl)
        if pattern is None:
            continue
        content = contents.get(pattern)
        if content is None:
            content = contents[pattern] = _Content()
        content.presence |= sets
        bits = bits_of(acl)
        if not bits or acl.principal in super_users:
            continue
        if acl.permission_type == _DENY:
            bits <<= _DENIED
        elif acl.permission_type != _ALLOW:
            continue
        bits = (bits if sets & BEFORE else 0) | (bits << _AFTER if sets & AFTER else 0)
        hosts = content.rights.setdefault(acl.principal, {})
        hosts[acl.host] = hosts.get(acl.host, 0) | bits
    return contents


def _concerned(
    changed: Mapping[AclBinding, int], after: Iterable[AclBinding], principals: frozenset[str] | None
) -> Iterator[AclBinding]:
    """The unchanged ACLs about cells of changed ones: their patterns are in theirs or around them."""
    patterns = {pattern for pattern in map(pattern_of, changed) if pattern is not None}
    prefixes = {name for name, kind in patterns if kind == PREFIX}
    lengths = sorted({len(prefix) for prefix in prefixes})
    around = {name[:length] for name, _ in patterns for length in range(len(name) + 1)}
    is_of_all = ROOT in patterns
    for acl in after:
        if principals is not None and acl.principal not in principals:
            continue
        if not is_of_all:
            pattern = pattern_of(acl)
            if pattern is None:
                continue
            name, kind = pattern
            is_around = pattern in patterns if kind == NAME else name in around
            if not is_around and not any(name[:length] in prefixes for length in lengths):
                continue
        if acl not in changed:
            yield acl
