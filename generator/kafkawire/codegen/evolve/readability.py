"""Whether a reader with one layout understands the bytes of a writer with another, computed from the two layouts.

A value is *understood* if the reader decodes all its bytes without an error, reads each in-line value where the writer
put it, and gets the same value for every field that both sides have. Fields are paired by name. A field whose name the
other side lacks was renamed if the field at its place (in line) or with its tag also has a new name and values of the
same kind. The names of single structs around a field are part of its name. A reader keeps a tagged field that it does
not have as unknown, and uses its own default for one that the writer lacks.

Values of different types are equal if both are numbers (false is 0 and true is 1), if both are text or octets (text is
its UTF-8 octets), or if a struct has no bytes around its only field (conv-type).

Only values that the writer can encode and read back are considered, without unknown tagged fields whose tag the reader
has. Arrays may have elements even if these take no bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from kafkawire.codegen.evolve.wire_order import (
    Item,
    WireOrder,
    alone,
    element,
    field_of_tag,
    is_single_struct,
    kind,
    pair,
    same_fields,
    same_under_tag,
    tagged_key,
    wire_orders,
)
from kafkawire.layout import FIELD_TYPES, DefaultValue, FieldLayout, FieldType, MessageLayouts, StructLayout

Verdict = Literal["compatible", "conditional", "incompatible"]
"""``compatible``: every value is understood. ``conditional``: some values are understood and others are not.
``incompatible``: no value is understood, except by coincidence."""

_BY_WEIGHT: tuple[Verdict, ...] = ("compatible", "conditional", "incompatible")


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A reason why values are not understood.

    Attributes:
        path: the field by the writer's names, ``Topics.Partitions.Leader``, or by the reader's for a field that only
            the reader has; empty for the message itself.
        verdict: whether other values of the field are understood (``conditional``) or none (``incompatible``).
        reason: which values are not understood and why, without a full stop.
    """

    path: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """How a reader understands a writer's messages.

    Attributes:
        obstacles: the reasons why it does not understand all of them.
    """

    obstacles: tuple[Obstacle, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """That of the worst obstacle."""
        return max((obstacle.verdict for obstacle in self.obstacles), key=_BY_WEIGHT.index, default="compatible")


@dataclass(frozen=True, slots=True)
class VersionCompatibility:
    """How peers of two sides understand each other's messages in one version.

    Attributes:
        version: the version.
        old_to_new: how the newer side reads messages of the older one.
        new_to_old: how the older side reads messages of the newer one.
    """

    version: int
    old_to_new: Reading
    new_to_old: Reading

    @property
    def is_compatible(self) -> bool:
        """Whether each side reads all that the other writes."""
        return self.old_to_new.verdict == self.new_to_old.verdict == "compatible"


def byte_compatibility(older: MessageLayouts, newer: MessageLayouts) -> tuple[VersionCompatibility, ...]:
    """Compare the layouts of every version that both sides have, in ascending order."""
    found: dict[tuple[int, int], tuple[Reading, Reading]] = {}
    compared: list[VersionCompatibility] = []
    for version in sorted(older.by_version.keys() & newer.by_version.keys()):
        layouts = older.by_version[version], newer.by_version[version]
        if layouts not in found:
            old, new = older.of_version(version), newer.of_version(version)
            found[layouts] = readability(old, new), readability(new, old)
        compared.append(VersionCompatibility(version, *found[layouts]))
    return tuple(compared)


def readability(writer: StructLayout, reader: StructLayout) -> Reading:
    """How a reader with one layout understands messages of a writer with another, see the module's docstring."""
    if writer == reader:
        return Reading()
    if writer.flexible != reader.flexible:
        side = "writer" if writer.flexible else "reader"
        return Reading((Obstacle("", "incompatible", f"the version is flexible for the {side} only"),))
    return Reading(_orders(*wire_orders(writer, reader, "", "")).obstacles)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """How the values of a field, or of several fields together, are understood.

    Attributes:
        obstacles: the reasons against; one is ``incompatible`` if and only if no value is understood.
        understood: whether some value is understood.
        beside_default: whether some value other than the writer's default is understood where it is written.
    """

    obstacles: tuple[Obstacle, ...] = ()
    understood: bool = True
    beside_default: bool = True


def _never(path: str, reason: str) -> _Outcome:
    return _Outcome((Obstacle(path, "incompatible", reason),), understood=False, beside_default=False)


def _sometimes(path: str, reason: str) -> _Outcome:
    return _Outcome((Obstacle(path, "conditional", reason),))


def _together(outcomes: Iterable[_Outcome]) -> _Outcome:
    """Several fields, whose values do not depend on each other."""
    outcomes = tuple(outcomes)
    understood = all(outcome.understood for outcome in outcomes)
    return _Outcome(
        tuple(obstacle for outcome in outcomes for obstacle in outcome.obstacles),
        understood,
        understood and any(outcome.beside_default for outcome in outcomes),
    )


def _unless(obstacles: Iterable[Obstacle], exception: str) -> tuple[Obstacle, ...]:
    """Obstacles in a part of a value that may be absent."""
    return tuple(
        replace(obstacle, verdict="conditional", reason=f"{obstacle.reason}, unless {exception}")
        if obstacle.verdict == "incompatible"
        else obstacle
        for obstacle in obstacles
    )


def _orders(writer: WireOrder, reader: WireOrder) -> _Outcome:
    pairing = pair(writer, reader)
    outcomes = [_items(left, right, writer, reader) for left, right in pairing.pairs]
    outcomes += [_never(left.path, "has another place for the reader") for left, _ in pairing.moved]
    outcomes += [_unpaired(item, "writer", reader) for item in pairing.only_writer]
    outcomes += [_unpaired(item, "reader", writer) for item in pairing.only_reader]
    return _together(outcomes)


def _unpaired(item: Item, side: Literal["writer", "reader"], other: WireOrder) -> _Outcome:
    if isinstance(item.value, StructLayout):
        return _never(item.path, f"only the {side} has tagged fields here")
    elsewhere = "reader" if side == "writer" else "writer"
    namesake = other.fields.get(item.key or "")
    if namesake is not None:
        return _never(item.path, f"in line for the {side}, but tagged field {namesake.tag} for the {elsewhere}")
    return _never(item.path, f"only the {side} has this field in line")


def _items(left: Item, right: Item, writer: WireOrder, reader: WireOrder) -> _Outcome:
    match left.value, right.value:
        case FieldLayout() as one, FieldLayout() as other:
            return _values(one, other, left.path, right.path)
        case StructLayout() as one, StructLayout():
            unknown = _Outcome()  # Unknown tagged fields are kept as they are.
            return _together([unknown, *(_tagged(field, left, right, writer, reader) for field in one.tagged)])
    return _never(left.path, "a value for one side, the end of a struct with its tagged fields for the other")


def _values(writer: FieldLayout, reader: FieldLayout, path: str, reader_path: str) -> _Outcome:
    """Two fields where the writer's is written, as null or another value."""
    markers = [is_single_struct(field) and field.nullable for field in (writer, reader)]
    bare = [is_single_struct(field) and not field.nullable for field in (writer, reader)]
    if all(markers):
        return _nullable_structs(writer, reader, path, reader_path)
    if any(markers) and any(bare):
        side = "writer" if markers[0] else "reader"
        return _never(path, f"nullable for the {side} only: the byte before the struct says whether it is null")
    if any(bare):
        structs = [field.struct if is_single_struct(field) else None for field in (writer, reader)]
        one, other = structs[0] or alone(writer), structs[1] or alone(reader)
        return _orders(*wire_orders(one, other, f"{path}.", f"{reader_path}."))
    if any(markers) or writer.array != reader.array or _length_form(writer) != _length_form(reader):
        return _other_shape(writer, reader, path)
    return _with_null(
        writer,
        reader,
        path,
        _arrays(writer, reader, path, reader_path) if writer.array else _primitives(writer, reader, path),
    )


def _nullable_structs(writer: FieldLayout, reader: FieldLayout, path: str, reader_path: str) -> _Outcome:
    content = _orders(*wire_orders(element(writer), element(reader), f"{path}.", f"{reader_path}."))
    beside_default = content.understood if writer.default is None else True
    return _Outcome(_unless(content.obstacles, f"{path} is null"), understood=True, beside_default=beside_default)


def _arrays(writer: FieldLayout, reader: FieldLayout, path: str, reader_path: str) -> _Outcome:
    elements = _orders(*wire_orders(element(writer), element(reader), f"{path}.", f"{reader_path}."))
    null_is_read = writer.nullable and reader.nullable
    beside_default = writer.default is None or null_is_read or elements.understood
    return _Outcome(_unless(elements.obstacles, f"{path} is empty"), understood=True, beside_default=beside_default)


def _with_null(writer: FieldLayout, reader: FieldLayout, path: str, present: _Outcome) -> _Outcome:
    """Values with a length, and null."""
    # A tagged field whose default is null leaves null out.
    written = writer.nullable and not (writer.presence == "tagged" and writer.default is None)
    if not written or reader.nullable or not present.understood:
        return present
    return replace(present, obstacles=(*present.obstacles, *_sometimes(path, "null is rejected").obstacles))


def _primitives(writer: FieldLayout, reader: FieldLayout, path: str) -> _Outcome:
    one, other = FIELD_TYPES[writer.type], FIELD_TYPES[reader.type]
    if kind(writer) != kind(reader) or one.size != other.size:
        return _other_shape(writer, reader, path)
    if one.domain == "octets" and other.domain == "text":
        return _sometimes(path, "octets that are not UTF-8, or more of them than a string may have, are rejected")
    if kind(writer) == "number":
        return _numbers(one, other, path)
    return _Outcome()


def _numbers(writer: FieldType, reader: FieldType, path: str) -> _Outcome:
    (least, greatest), (lowest, highest) = _range(writer), _range(reader)
    if lowest <= least and greatest <= highest:
        return _Outcome()
    if reader.domain == "bool":
        return _sometimes(path, "numbers other than 0 and 1 are read as true")
    wrong = "numbers below 0" if least < lowest else f"numbers above {highest}"
    return _sometimes(path, f"{wrong} are read as other numbers: {writer.name} became {reader.name}")


def _other_shape(writer: FieldLayout, reader: FieldLayout, path: str) -> _Outcome:
    return _never(path, f"the writer has {_shape(writer)} where the reader has {_shape(reader)}")


def _tagged(field: FieldLayout, left: Item, right: Item, writer: WireOrder, reader: WireOrder) -> _Outcome:
    """A tagged field of the writer; ``left`` is its section, and ``right`` that of the reader."""
    path = f"{left.path}.{field.name}".lstrip(".")
    same = same_under_tag(field, left, right, writer, reader)
    if same is not None:
        return _same_tag(field, same, path, f"{right.path}.{same.name}".lstrip("."))
    taken, namesake = field_of_tag(right, field.tag), reader.fields.get(tagged_key(left, field))
    if taken is None and (namesake is None or (not _has_values(field) and _same_default(field, namesake))):
        return _Outcome()
    if namesake is not None and namesake.presence == "tagged":
        found = f"tag {field.tag} for the writer, tag {namesake.tag} for the reader"
    elif taken is not None:
        found = f"tag {field.tag} is {taken.name} for the reader"
    else:
        found = "in line for the reader"
    return _displaced(field, namesake, path, found)


def _displaced(field: FieldLayout, namesake: FieldLayout | None, path: str, found: str) -> _Outcome:
    """A tagged field that the reader has at another place: only a default, which is not written, is understood."""
    if namesake is None or _same_default(field, namesake):
        reason = f"{found}: its value is lost, unless it is left at its default"
        return _Outcome((Obstacle(path, "conditional", reason),), understood=True, beside_default=False)
    return _never(path, f"{found}, where its default is {_shown(namesake)} instead of {_shown(field)}")


def _same_tag(writer: FieldLayout, reader: FieldLayout, path: str, reader_path: str) -> _Outcome:
    written = _values(writer, reader, path, reader_path)
    if isinstance(writer.default, float) and math.isnan(writer.default):
        return written  # Not-a-number differs from every default, so it is always written.
    if _same_default(writer, reader):
        return _Outcome(
            _unless(written.obstacles, f"{path} is left at its default"),
            understood=True,
            beside_default=written.beside_default,
        )
    reason = f"its default {_shown(writer)} is not written and read as the reader's default {_shown(reader)}"
    default = Obstacle(path, "conditional" if written.beside_default else "incompatible", reason)
    return replace(written, obstacles=(*written.obstacles, default), understood=written.beside_default)


def _same_default(writer: FieldLayout, reader: FieldLayout) -> bool:
    if kind(writer) != kind(reader):
        return False
    if writer.default is None or reader.default is None:
        return writer.default is None and reader.default is None
    if writer.struct is not None and reader.struct is not None and not writer.array:
        return all(_same_default(left, right) for left, right in same_fields(writer.struct, reader.struct))
    left, right = _comparable(writer.default), _comparable(reader.default)
    return left == right or (left != left and right != right)  # noqa: PLR0124 not-a-number


def _comparable(default: DefaultValue) -> DefaultValue:
    return default.encode() if isinstance(default, str) else default


def _has_values(field: FieldLayout) -> bool:
    """Whether it has a value that can be lost; a single struct without fields has none."""
    if field.struct is None or field.array or field.nullable:
        return True
    return any(_has_values(inner) for inner in (*field.struct.inline, *field.struct.tagged))


def _length_form(field: FieldLayout) -> str | None:
    """The encoding of the length of a value, or of the count of an array; None where it has none."""
    plain = "i" if field.array else FIELD_TYPES[field.type].length_code if field.type in FIELD_TYPES else None
    return "uvarint" if field.compact and plain else plain


def _range(type_: FieldType) -> tuple[int, int]:
    return (0, 1) if type_.domain == "bool" else (type_.minimum, type_.maximum)


def _shape(field: FieldLayout) -> str:
    """The shape of a field's bytes, in words."""
    compact = "compact " if _length_form(field) == "uvarint" else ""
    nullable = "nullable " if is_single_struct(field) and field.nullable else ""
    return f"{nullable}{compact}{'[]' if field.array else ''}{field.type}"


def _shown(field: FieldLayout) -> str:
    """The default of a field, in words."""
    if field.default is None:
        return "null"
    if field.default == ():
        return "empty" if field.array else "a struct of defaults"
    return repr(field.default)
