"""Which message, struct and field of the older side has become which of the newer one.

Names come first, for they are what people call a thing; what is left over is paired by what the wire knows: API
keys, tags, and the place in line. Coordinator records that one side has in the older form of ``data`` messages are
put into the newer form first, for their bytes are the same (10.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.evolution.predecessor import ranges_in, stretches
from kafkawire.codegen.evolution.side import Side
from kafkawire.codegen.importing.coordinator_form import Part, as_parts
from kafkawire.codegen.importing.release import ReleaseMessages
from kafkawire.codegen.merging.namespace import TOP, namespace_of, reach


@dataclass(frozen=True, slots=True)
class MessagePair:
    """A message of both sides, or of one of them.

    Attributes:
        older, newer: the message as both sides can be compared.
        older_source, newer_source: the message as the side has it: another one than ``older`` or ``newer`` only for
            a coordinator record that is a ``data`` message there.
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

    Attributes:
        path: its names below the message, ``Topics.Partitions.LeaderEpoch``; the newer names where there are two.
        older, newer: the field as written, without what is nested in it.
    """

    path: str
    older: FieldDefinition | None
    newer: FieldDefinition | None


@dataclass(frozen=True, slots=True)
class StructPair:
    """A struct that a field of both sides has, once for each pair of structs: at its first mention.

    Attributes:
        path: of the field that has it; empty for the message itself.
        older, newer: Kafka's names of the struct; empty for the message itself.
        older_versions, newer_versions: valid versions in which a field leads to it.
        fields: its fields: those of the older side in their order, then those that only the newer one has.
        newer_order: the fields of the newer side in their order.
    """

    path: str
    older: str
    newer: str
    older_versions: frozenset[int]
    newer_versions: frozenset[int]
    fields: tuple[FieldPair, ...]
    newer_order: tuple[FieldDefinition, ...] = ()


def pair_messages(older: Side, newer: Side) -> tuple[MessagePair, ...]:
    """All messages of two sides, in the order of their names.

    A message whose name only one side has is paired by its key, its type and, since each family of records counts
    its own keys, its group. If a side is a single file, only its messages count.
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
    return tuple(sorted((p for p in pairs if _is_asked(p, older, newer)), key=lambda pair: pair.name))


def _pair(older: Part | None, newer: Part | None) -> MessagePair:
    return MessagePair(
        older.message if older else None,
        newer.message if newer else None,
        older.source if older else None,
        newer.source if newer else None,
    )


def _in_one_form(side: Side, other: Side) -> dict[str, Part]:
    """The messages of a side by name, coordinator records in the form that the other side gives them."""
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


def _is_asked(pair: MessagePair, older: Side, newer: Side) -> bool:
    return not (older.is_single_file and pair.older is None) and not (newer.is_single_file and pair.newer is None)


def pair_structs(older: MessageDefinition, newer: MessageDefinition) -> tuple[StructPair, ...]:
    """The structs that two definitions of a message share, the message itself first, in the order of the tree."""
    return tuple(_Pairing(older, newer).walk(TOP, TOP, ""))


class _Pairing:
    """The walk over both trees at once; a pair of structs is entered once, since common structs have many places."""

    def __init__(self, older: MessageDefinition, newer: MessageDefinition) -> None:
        self._older = namespace_of(older)
        self._newer = namespace_of(newer)
        self._older_reach = reach(self._older, frozenset(older.valid_versions))
        self._newer_reach = reach(self._newer, frozenset(newer.valid_versions))
        self._seen: set[tuple[str, str]] = set()

    def walk(self, old_name: str, new_name: str, path: str) -> Iterator[StructPair]:
        if (old_name, new_name) in self._seen:
            return
        self._seen.add((old_name, new_name))
        old_versions, new_versions = self._older_reach[old_name], self._newer_reach[new_name]
        before, after = self._older[old_name].fields, self._newer[new_name].fields
        fields = _pair_fields(before, after, old_versions & new_versions, path)
        yield StructPair(path, old_name, new_name, old_versions, new_versions, fields, after)
        for pair in fields:
            if pair.older and pair.newer and pair.older.type.is_struct and pair.newer.type.is_struct:
                yield from self.walk(pair.older.type.name, pair.newer.type.name, pair.path)


def _pair_fields(
    older: Sequence[FieldDefinition], newer: Sequence[FieldDefinition], versions: frozenset[int], prefix: str
) -> tuple[FieldPair, ...]:
    partners = _partners(older, newer, versions)
    taken = {id(field) for field in partners.values()}
    found = [(old, partners.get(old.name)) for old in older]
    pairs: list[tuple[FieldDefinition | None, FieldDefinition | None]] = [
        *found,
        *((None, new) for new in newer if id(new) not in taken),
    ]
    return tuple(FieldPair(_path(prefix, new or old), old, new) for old, new in pairs)


def _path(prefix: str, field: FieldDefinition | None) -> str:
    name = field.name if field is not None else ""
    return f"{prefix}.{name}" if prefix else name


def _partners(
    older: Sequence[FieldDefinition], newer: Sequence[FieldDefinition], versions: frozenset[int]
) -> dict[str, FieldDefinition]:
    """Older name to the newer field: by name, then by tag, then by place."""
    by_name = {field.name: field for field in newer}
    partners = {old.name: by_name[old.name] for old in older if old.name in by_name}
    lost = [field for field in older if field.name not in partners]
    fresh = [field for field in newer if field.name not in {old.name for old in older}]
    for old in lost:
        partner = _by_tag(old, fresh) or _by_place(old, fresh, older, newer, versions)
        if partner is not None:
            partners[old.name] = partner
            fresh.remove(partner)
    return partners


def _by_tag(old: FieldDefinition, fresh: Iterable[FieldDefinition]) -> FieldDefinition | None:
    return next((field for field in fresh if old.tag is not None and field.tag == old.tag), None)


def _by_place(
    old: FieldDefinition,
    fresh: Sequence[FieldDefinition],
    older: Sequence[FieldDefinition],
    newer: Sequence[FieldDefinition],
    versions: frozenset[int],
) -> FieldDefinition | None:
    """The new field that stands in line where the old one stood, in every shared version, and has its type."""
    candidates: list[FieldDefinition] = []
    for stretch in stretches(dict(zip(versions, versions, strict=True)), ranges_in((*older, *newer))):
        before, after = _inline(older, stretch.version), _inline(newer, stretch.version)
        if old in before:
            candidates.append(after[before.index(old)] if len(before) == len(after) else old)
    same = candidates and all(candidate is candidates[0] for candidate in candidates)
    return candidates[0] if same and candidates[0] in fresh and _alike(old, candidates[0]) else None


def _inline(fields: Sequence[FieldDefinition], version: int) -> list[FieldDefinition]:
    return [field for field in fields if version in field.versions and version not in field.tagged_versions]


def _alike(old: FieldDefinition, new: FieldDefinition) -> bool:
    """Whether a field may have been renamed: the names of structs do not count."""
    kinds = [(field.type.array, field.type.is_struct or field.type.name) for field in (old, new)]
    return kinds[0] == kinds[1]
