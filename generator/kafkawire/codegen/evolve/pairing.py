"""Pairs the messages, structs and fields of the older side with those of the newer one.

Messages are paired by name, then by API key. Fields are paired in each version that both sides have, since a name may
belong to different fields in different versions: by name if both sides have it in that version, then by tag or by the
place in line. Coordinator records that one side defines as ``data`` messages are converted to the newer form first,
which has the same bytes (coord-key-prefix).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.evolve.predecessor import ranges_in, stretches
from kafkawire.codegen.evolve.side import Side
from kafkawire.codegen.importing.coordinator_form import Part, as_parts
from kafkawire.codegen.importing.release import ReleaseMessages
from kafkawire.codegen.merge.namespace import TOP, namespace_of, reach


@dataclass(frozen=True, slots=True)
class MessagePair:
    """A message of both sides, or of one of them.

    Attributes:
        older, newer: the message in the form in which both sides are compared.
        older_source, newer_source: the message as the side has it. It differs from ``older`` or ``newer`` only for a
            coordinator record that is a ``data`` message there.
    """

    older: MessageDefinition | None
    newer: MessageDefinition | None
    older_source: MessageDefinition | None = None
    newer_source: MessageDefinition | None = None

    @property
    def name(self) -> str:
        """The name of the newer side where it has the message."""
        message = self.newer or self.older
        return message.name if message is not None else ""


@dataclass(frozen=True, slots=True)
class FieldPair:
    """A field of both sides, or of one of them.

    A field has one main pair. If it is paired with another field in some versions, there is one more pair for those.

    Attributes:
        path: its names below the message, ``Topics.Partitions.LeaderEpoch``; the newer names if it was renamed.
        older, newer: the field as written, without nested fields.
        only: the versions of the pair, if these are not all; they are valid on both sides.
        elsewhere: the versions in which one of the two fields belongs to another pair.
    """

    path: str
    older: FieldDefinition | None
    newer: FieldDefinition | None
    only: frozenset[int] | None = None
    elsewhere: frozenset[int] = frozenset()

    def holds_in(self, version: int) -> bool:
        """Whether the fields are a pair in a version."""
        return version not in self.elsewhere if self.only is None else version in self.only


@dataclass(frozen=True, slots=True)
class StructPair:
    """A pair of structs that both sides use in the same field; each pair occurs once, at its first use.

    Attributes:
        path: of the field that uses it; empty for the message itself.
        older, newer: Kafka's names of the struct; empty for the message itself.
        older_versions, newer_versions: valid versions in which a field uses it.
        shared: versions of both sides in which a pair of fields uses it.
        fields: its fields: those of the older side in their order, then those that only the newer one has.
        newer_order: the fields of the newer side in their order.
    """

    path: str
    older: str
    newer: str
    older_versions: frozenset[int]
    newer_versions: frozenset[int]
    shared: frozenset[int]
    fields: tuple[FieldPair, ...]
    newer_order: tuple[FieldDefinition, ...] = ()


def pair_messages(older: Side, newer: Side) -> tuple[MessagePair, ...]:
    """All messages of two sides, in the order of their names.

    A message whose name only one side has is paired by key, type and, since each family of records has its own keys,
    group. If a side is a single file, only its messages are compared. If it lacks a jar, messages of that jar's group
    that it lacks are not compared.
    """
    before, after = _in_one_form(older, newer), _in_one_form(newer, older)
    gone = {_key(p.message): name for name, p in before.items() if name not in after and p.message.api_key is not None}
    pairs: list[MessagePair] = []
    for name, part in after.items():
        partner = name if name in before else None
        if partner is None and part.message.api_key is not None:
            partner = gone.pop(_key(part.message), None)
        pairs.append(_pair(before.pop(partner) if partner is not None else None, part))
    pairs += [_pair(part, None) for part in before.values()]
    return tuple(sorted((p for p in pairs if _is_compared(p, older, newer)), key=lambda pair: pair.name))


def _pair(older: Part | None, newer: Part | None) -> MessagePair:
    return MessagePair(
        older.message if older else None,
        newer.message if newer else None,
        older.source if older else None,
        newer.source if newer else None,
    )


def _in_one_form(side: Side, other: Side) -> dict[str, Part]:
    """The messages of a side by name; coordinator records have the form that the other side uses."""
    own = _by_group(side)
    later = [] if any(_is_coordinator_record(message) for message in side.messages.values()) else [_by_group(other)]
    return {part.message.name: part for part in as_parts(own, later)}


def _by_group(side: Side) -> ReleaseMessages:
    return ReleaseMessages(side.name, {(message.group, name): message for name, message in side.messages.items()})


def _is_coordinator_record(message: MessageDefinition) -> bool:
    return message.type in ("coordinator-key", "coordinator-value")


def _key(message: MessageDefinition) -> tuple[str, int | None, str]:
    is_rpc = message.type in ("request", "response")
    return message.type, message.api_key, "" if is_rpc else message.group


def _is_compared(pair: MessagePair, older: Side, newer: Side) -> bool:
    if pair.older is None:
        return pair.newer is None or not older.may_lack(pair.newer)
    return pair.newer is not None or not newer.may_lack(pair.older)


def pair_structs(older: MessageDefinition, newer: MessageDefinition) -> tuple[StructPair, ...]:
    """The structs that two definitions of a message share, the message itself first, in the order of the tree."""
    return _Pairing(older, newer).structs()


_Structs = tuple[str, str]
"""The names of a struct on the older and on the newer side."""


class _Pairing:
    """Walks both trees together; each pair of structs is visited once, since common structs are used in many fields."""

    def __init__(self, older: MessageDefinition, newer: MessageDefinition) -> None:
        self._older = namespace_of(older)
        self._newer = namespace_of(newer)
        self._older_reach = reach(self._older, frozenset(older.valid_versions))
        self._newer_reach = reach(self._newer, frozenset(newer.valid_versions))
        self._paths: dict[_Structs, str] = {}
        self._fields: dict[_Structs, tuple[FieldPair, ...]] = {}
        self._shared: dict[_Structs, frozenset[int]] = {}

    def structs(self) -> tuple[StructPair, ...]:
        top = (TOP, TOP)
        self._enter(top, "")
        self._share(top, self._older_reach[TOP] & self._newer_reach[TOP])
        return tuple(self._struct(structs) for structs in self._paths)

    def _enter(self, structs: _Structs, path: str) -> None:
        if structs in self._paths:
            return
        old_name, new_name = structs
        self._paths[structs] = path
        versions = self._older_reach[old_name] & self._newer_reach[new_name]
        self._fields[structs] = _pair_fields(self._older[old_name].fields, self._newer[new_name].fields, versions, path)
        for pair, inner in self._inner(structs):
            self._enter(inner, pair.path)

    def _share(self, structs: _Structs, versions: frozenset[int]) -> None:
        """Record the versions in which both sides use a struct in the same fields."""
        fresh = versions - self._shared.setdefault(structs, frozenset())
        if not fresh:
            return
        self._shared[structs] |= fresh
        for pair, inner in self._inner(structs):
            both = [field.versions for field in (pair.older, pair.newer) if field is not None]
            at = frozenset(v for v in fresh if pair.holds_in(v) and all(v in versions for versions in both))
            self._share(inner, at)

    def _inner(self, structs: _Structs) -> Iterator[tuple[FieldPair, _Structs]]:
        for pair in self._fields[structs]:
            if pair.older and pair.newer and pair.older.type.is_struct and pair.newer.type.is_struct:
                yield pair, (pair.older.type.name, pair.newer.type.name)

    def _struct(self, structs: _Structs) -> StructPair:
        old_name, new_name = structs
        return StructPair(
            path=self._paths[structs],
            older=old_name,
            newer=new_name,
            older_versions=self._older_reach[old_name],
            newer_versions=self._newer_reach[new_name],
            shared=self._shared.get(structs, frozenset()),
            fields=self._fields[structs],
            newer_order=self._newer[new_name].fields,
        )


def _pair_fields(
    older: Sequence[FieldDefinition], newer: Sequence[FieldDefinition], versions: frozenset[int], prefix: str
) -> tuple[FieldPair, ...]:
    """The pairs of the older fields in their order, then those of the fields that only the newer side has."""
    paired = _pairs_by_version(older, newer, versions)
    partners = _partners(older, newer, paired)
    news = {field.name: field for field in newer}
    pairs: list[FieldPair] = []
    for old in older:
        partner = partners.get(old.name)
        new = news[partner] if partner is not None else None
        pairs.append(FieldPair(_path(prefix, new or old), old, new, elsewhere=_elsewhere(paired, old.name, partner)))
        pairs += [
            FieldPair(_path(prefix, news[name]), old, news[name], only=at)
            for (old_name, name), at in paired.items()
            if old_name == old.name and name != partner
        ]
    taken = set(partners.values())
    pairs += [
        FieldPair(_path(prefix, new), None, new, elsewhere=_elsewhere(paired, None, new.name))
        for new in newer
        if new.name not in taken
    ]
    return tuple(pairs)


def _path(prefix: str, field: FieldDefinition) -> str:
    return f"{prefix}.{field.name}" if prefix else field.name


_Pairs = dict[tuple[str, str], frozenset[int]]
"""The names of two fields to the versions in which they are a pair."""


def _elsewhere(paired: _Pairs, old: str | None, new: str | None) -> frozenset[int]:
    """The versions in which one of two fields belongs to another pair."""
    others = [at for (one, other), at in paired.items() if (one == old) != (other == new)]
    return frozenset[int]().union(*others)


def _pairs_by_version(
    older: Sequence[FieldDefinition], newer: Sequence[FieldDefinition], versions: frozenset[int]
) -> _Pairs:
    """The pairs of fields, with their versions among those that both sides have."""
    paired: _Pairs = {}
    for stretch in stretches(dict(zip(versions, versions, strict=True)), ranges_in((*older, *newer))):
        for old, new in _pairs_in(older, newer, stretch.version):
            key = (old.name, new.name)
            paired[key] = paired.get(key, frozenset()) | stretch.versions
    return paired


def _pairs_in(
    older: Sequence[FieldDefinition], newer: Sequence[FieldDefinition], version: int
) -> Iterator[tuple[FieldDefinition, FieldDefinition]]:
    """The pairs of one version: by name, then by tag, then by place in line, as in the comparison of bytes."""
    after = {field.name: field for field in newer if version in field.versions}
    lost: list[FieldDefinition] = []
    for old in older:
        if version in old.versions and old.name in after:
            yield old, after.pop(old.name)
        elif version in old.versions:
            lost.append(old)
    tagged = {field.tag: field for field in after.values() if version in field.tagged_versions}
    places = dict(_same_places(older, newer, version))
    for old in lost:
        partner = tagged.get(old.tag) if version in old.tagged_versions else places.get(old.name)
        if partner is not None and partner.name in after:
            yield old, partner


def _same_places(
    older: Sequence[FieldDefinition], newer: Sequence[FieldDefinition], version: int
) -> Iterator[tuple[str, FieldDefinition]]:
    """The names of older fields in line, with the newer field at the same place if it may be the same field.

    If the number of fields changed, places are not compared.
    """
    before, after = _inline(older, version), _inline(newer, version)
    if len(before) == len(after):
        yield from ((old.name, new) for old, new in zip(before, after, strict=True) if may_be_renamed(old, new))


def _partners(older: Sequence[FieldDefinition], newer: Sequence[FieldDefinition], paired: _Pairs) -> dict[str, str]:
    """Older name to newer name of the main pairs.

    A name that both sides have is one field, unless the two are a pair in no version and one of them belongs to another
    pair. Any other field is paired with the field that is its pair in most versions, else with the one of its tag.
    """
    names = {field.name for field in newer}
    in_pairs = {name for pair in paired for name in (("older", pair[0]), ("newer", pair[1]))}
    partners = {
        old.name: old.name
        for old in older
        if old.name in names
        and ((old.name, old.name) in paired or not {("older", old.name), ("newer", old.name)} & in_pairs)
    }
    for (old_name, new_name), _ in sorted(paired.items(), key=lambda item: -len(item[1])):
        if old_name not in partners and new_name not in partners.values():
            partners[old_name] = new_name
    for old in older:
        fresh = (field for field in newer if field.name not in partners.values())
        same_tag = next((field for field in fresh if old.tag is not None and field.tag == old.tag), None)
        if old.name not in partners and same_tag is not None:
            partners[old.name] = same_tag.name
    return partners


def _inline(fields: Sequence[FieldDefinition], version: int) -> list[FieldDefinition]:
    return [field for field in fields if version in field.versions and version not in field.tagged_versions]


def may_be_renamed(old: FieldDefinition, new: FieldDefinition) -> bool:
    """Whether fields with different names may be the same field: their types are equal except for names of structs.

    The types bytes and records are equal here.
    """
    return _kind(old) == _kind(new)


def _kind(field: FieldDefinition) -> tuple[bool, str]:
    name = "struct" if field.type.is_struct else field.type.name
    return field.type.array, "bytes" if name == "records" else name
