"""The parts of a rule about changes: a record that describes it, and a function that finds the changes.

A rule checks a pair of fields, of structs or of messages, or both sides as a whole. It gives the severity for final
versions; the walk lowers it for unstable versions (conv-unstable).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, Literal, TypeVar

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition, Place, TypeRef
from kafkawire.codegen.evolve.finding import Severity
from kafkawire.codegen.evolve.pairing import FieldPair, MessagePair, StructPair
from kafkawire.codegen.evolve.predecessor import ranges_in, stretches
from kafkawire.codegen.evolve.side import Side
from kafkawire.codegen.merge.namespace import Shape, namespace_of
from kafkawire.codegen.versions import Versions

Presence = Literal["absent", "inline", "tagged"]
_KEPT: tuple[tuple[Presence, Presence], ...] = (("inline", "inline"), ("tagged", "tagged"))


@dataclass(frozen=True, slots=True)
class EvolutionRule:
    """A rule about what may change from one set of definitions to the next.

    Attributes:
        id: id of the rule in docs/reference/definition-language.md.
        purpose: what must hold, in one sentence.
        why: what happens otherwise.
        severities: of its findings, the most severe first; findings about unstable versions are always ``safe``.
        covers: further ids of the reference that this rule enforces.
        about_bytes: whether its breaking findings say that peers misread a version that both sides have. Where the
            layouts disprove that, `REGROUPED` replaces the finding.
    """

    id: str
    purpose: str
    why: str
    severities: tuple[Severity, ...]
    covers: tuple[str, ...] = ()
    about_bytes: bool = False

    def for_fields(self, check: Callable[[FieldChange], Iterator[Change]]) -> FieldCheck:
        """Turn a function over a pair of fields into a check of the rule."""
        return FieldCheck(self, check)

    def for_structs(self, check: Callable[[StructChange], Iterator[Change]]) -> StructCheck:
        """Turn a function over a pair of structs into a check of the rule."""
        return StructCheck(self, check)

    def for_messages(self, check: Callable[[MessageChange], Iterator[Change]]) -> MessageCheck:
        """Turn a function over a pair of messages into a check of the rule."""
        return MessageCheck(self, check)

    def for_sides(self, check: Callable[[SetChange], Iterator[Change]]) -> SetCheck:
        """Turn a function over both sides into a check of the rule."""
        return SetCheck(self, check)


@dataclass(frozen=True, slots=True)
class Change:
    """A change that a rule found.

    Attributes:
        severity: that for final versions.
        versions: the versions concerned; nothing is reported if there are none.
        reason: what changed and its effect, in one sentence without a full stop.
        place: the object with the fault.
        attribute: the attribute with the fault; the whole object if it is not given there.
        message: its name, if it is not that of the newer side's message.
        path: the field, empty for the message itself.
    """

    severity: Severity
    versions: frozenset[int]
    reason: str
    place: Place
    attribute: str = ""
    message: str = ""
    path: str = ""


@dataclass(frozen=True)
class MessageChange:
    """A message that both sides have.

    Attributes:
        older, newer: the definitions in one form (coordinator records).
        pair: both, as each side has them.
        older_unstable, newer_unstable: the versions that may still change on each side.
    """

    older: MessageDefinition
    newer: MessageDefinition
    pair: MessagePair
    older_unstable: Versions
    newer_unstable: Versions

    @cached_property
    def shared(self) -> frozenset[int]:
        """The versions that are valid on both sides."""
        return frozenset(self.older.valid_versions.intersect(self.newer.valid_versions))

    def where(self, holds: Callable[[int], bool]) -> frozenset[int]:
        """The versions of both sides for which `holds` is true; it may depend only on ranges of the definitions."""
        return frozenset().union(*(alike for first, alike in self.stretches if holds(first)))

    @cached_property
    def stretches(self) -> tuple[tuple[int, frozenset[int]], ...]:
        """The versions of both sides in groups that are in the same ranges, each with its first version.

        A definition may have thousands of versions, but only a few ranges.
        """
        ranges = {self.older.flexible_versions, self.newer.flexible_versions, self.older_unstable, self.newer_unstable}
        for shape in (*self.older_shapes.values(), *self.newer_shapes.values()):
            ranges.update(ranges_in(shape.fields))
        return tuple(
            (stretch.version, stretch.versions)
            for stretch in stretches(dict(zip(self.shared, self.shared, strict=True)), ranges)
        )

    @cached_property
    def older_shapes(self) -> Mapping[str, Shape]:
        """The structs of the older side by name."""
        return namespace_of(self.older)

    @cached_property
    def newer_shapes(self) -> Mapping[str, Shape]:
        """The structs of the newer side by name."""
        return namespace_of(self.newer)


@dataclass(frozen=True)
class StructChange:
    """A struct that both sides have."""

    message: MessageChange
    pair: StructPair

    @cached_property
    def versions(self) -> frozenset[int]:
        """The versions in which both sides have it."""
        return self.pair.shared

    def where(self, holds: Callable[[int], bool]) -> frozenset[int]:
        """The versions in which both sides have it and `holds` is true, see `MessageChange.where`."""
        return self.message.where(holds) & self.versions

    @cached_property
    def stretches(self) -> tuple[tuple[int, frozenset[int]], ...]:
        """The versions in which both sides have it in groups, see `MessageChange.stretches`."""
        return tuple(group for group in self.message.stretches if group[0] in self.versions)

    @cached_property
    def fields(self) -> tuple[FieldChange, ...]:
        """Its fields. Fields that share a tag, but neither name nor type, are two fields."""
        return tuple(FieldChange(self, pair) for whole in self.pair.fields for pair in _apart(whole))

    @cached_property
    def reused_tags(self) -> frozenset[int]:
        """Tags that the newer side gives to another field than the older side did."""
        owners = {field.older.tag: field.older.name for field in self.fields if field.older is not None}
        kept = {(field.older.name, field.newer.name) for field in self.fields if field.older and field.newer}
        newer = (field.newer for field in self.fields if field.newer is not None and field.newer.tag in owners)
        return frozenset(
            field.tag for field in newer if field.tag is not None and (owners[field.tag], field.name) not in kept
        )

    @cached_property
    def newer_order(self) -> Mapping[str, int]:
        """Name of a field to its place in the struct of the newer side, which is wire order (field-order)."""
        return {field.name: place for place, field in enumerate(self.message.newer_shapes[self.pair.newer].fields)}


@dataclass(frozen=True)
class FieldChange:
    """A field of a struct that both sides have; one of the sides may lack the field."""

    struct: StructChange
    pair: FieldPair

    @property
    def older(self) -> FieldDefinition | None:
        """The field of the older side."""
        return self.pair.older

    @property
    def newer(self) -> FieldDefinition | None:
        """The field of the newer side."""
        return self.pair.newer

    def at(self, version: int) -> tuple[Presence, Presence]:
        """How each side has the field in a version (field-presence)."""
        return presence(self.older, version), presence(self.newer, version)

    @property
    def versions(self) -> frozenset[int]:
        """The versions of both sides that the pair is about."""
        return self.struct.where(self.pair.holds_in)

    def versions_where(self, *cases: tuple[Presence, Presence]) -> frozenset[int]:
        """The versions of both sides in which the field moved like that."""
        return self.struct.where(lambda version: self.pair.holds_in(version) and self.at(version) in cases)

    @property
    def kept(self) -> frozenset[int]:
        """The versions of both sides in which both have the field in the same place: in line, or tagged."""
        return self.versions_where(*_KEPT)

    def kept_where(self, holds: Callable[[int], bool]) -> frozenset[int]:
        """The versions of `kept` for which `holds` is true, see `MessageChange.where`."""
        return self.versions_where(*_KEPT) & self.struct.where(holds)


def _apart(pair: FieldPair) -> tuple[FieldPair, ...]:
    older, newer = pair.older, pair.newer
    if older is None or newer is None or older.name == newer.name or are_alike(older.type, newer.type):
        return (pair,)
    prefix = pair.path.removesuffix(newer.name)
    return replace(pair, path=f"{prefix}{older.name}", newer=None), replace(pair, older=None)


def are_alike(older: TypeRef, newer: TypeRef) -> bool:
    """Whether two types are equal; the names of structs are not compared."""
    return (older.array, older.is_struct or older.name) == (newer.array, newer.is_struct or newer.name)


def presence(field: FieldDefinition | None, version: int) -> Presence:
    """How a version has a field (field-presence)."""
    if field is None or version not in field.versions:
        return "absent"
    return "tagged" if version in field.tagged_versions else "inline"


@dataclass(frozen=True, slots=True)
class SetChange:
    """Both sides as a whole."""

    older: Side
    newer: Side
    pairs: tuple[MessagePair, ...]


_Subject = TypeVar("_Subject")


@dataclass(frozen=True, slots=True)
class Check(Generic[_Subject]):
    """A rule and the function that finds its changes in a pair of fields, structs or messages, or in both sides."""

    rule: EvolutionRule
    check: Callable[[_Subject], Iterator[Change]]


class FieldCheck(Check[FieldChange]):
    """A rule about one pair of fields."""


class StructCheck(Check[StructChange]):
    """A rule about all fields of a pair of structs."""


class MessageCheck(Check[MessageChange]):
    """A rule about a message of both sides."""


class SetCheck(Check[SetChange]):
    """A rule about both sides as a whole."""
