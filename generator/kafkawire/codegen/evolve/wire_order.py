"""The order of values on the wire in a struct, and which values of two structs are the same field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, StructLayout


@dataclass(frozen=True, slots=True)
class Item:
    """One value in line, or the tagged-field section of a struct.

    Attributes:
        key: the names below the compared struct, ``Owner.Id``, or ``Owner.*`` for the section of a struct; None for
            elements that are no structs and sections of structs without fields, which have no name.
        path: the names below the message, for output.
        value: the field, or the struct that ends in the section.
    """

    key: str | None
    path: str
    value: FieldLayout | StructLayout


@dataclass(frozen=True, slots=True)
class WireOrder:
    """The items of a struct.

    A single struct that is not nullable has no bytes of its own (wire-struct), so its items stand among those of
    the struct around it.

    Attributes:
        items: the items in their order on the wire.
        fields: all fields by key, in line and tagged.
        keys: the keys of all fields and sections.
    """

    items: tuple[Item, ...]
    fields: Mapping[str, FieldLayout]
    keys: frozenset[str | None]


@dataclass(frozen=True, slots=True)
class Pairing:
    """The items of two orders that are the same field.

    Attributes:
        pairs: (of the writer, of the reader), in the writer's order.
        moved: pairs whose order changed.
        only_writer: items of the writer that the reader does not have in line.
        only_reader: items of the reader that the writer does not have in line.
    """

    pairs: tuple[tuple[Item, Item], ...]
    moved: tuple[tuple[Item, Item], ...]
    only_writer: tuple[Item, ...]
    only_reader: tuple[Item, ...]


def wire_orders(
    writer: StructLayout, reader: StructLayout, writer_path: str, reader_path: str
) -> tuple[WireOrder, WireOrder]:
    """The items of two structs, their paths beginning with the given ones.

    A struct that is nullable on one side only is one item on both, since they differ by the byte before it.
    """
    return (
        _order(writer, writer_path, frozenset(_nullable_structs(reader, ""))),
        _order(reader, reader_path, frozenset(_nullable_structs(writer, ""))),
    )


def pair(writer: WireOrder, reader: WireOrder) -> Pairing:
    """Find the items in line that are the same field.

    These are items with the same name, and items at the same place if neither side has the other's name: the field was
    renamed.
    """
    places = {item.key: place for place, item in enumerate(reader.items) if item.key is not None}
    found: list[tuple[int, int]] = []
    for place, item in enumerate(writer.items):
        if item.key in places:
            found.append((place, places[item.key]))
        elif place < len(reader.items) and _is_unknown(item, reader) and _is_unknown(reader.items[place], writer):
            found.append((place, place))
    unmoved = zip(found, sorted(there for _, there in found), strict=True)
    moved = [here for (here, there), expected in unmoved if there != expected]
    partners, taken = dict(found), {there for _, there in found}
    return Pairing(
        pairs=tuple((writer.items[here], reader.items[there]) for here, there in found),
        moved=tuple((writer.items[here], reader.items[partners[here]]) for here in moved),
        only_writer=tuple(item for place, item in enumerate(writer.items) if place not in partners),
        only_reader=tuple(item for place, item in enumerate(reader.items) if place not in taken),
    )


def tagged_key(section: Item, field: FieldLayout) -> str:
    """The key of a tagged field of a section."""
    return f"{(section.key or '').removesuffix('*')}{field.name}"


def field_of_tag(section: Item, tag: int | None) -> FieldLayout | None:
    """The field that a section has under a tag."""
    if not isinstance(section.value, StructLayout):
        return None
    return next((field for field in section.value.tagged if field.tag == tag), None)


def same_under_tag(
    field: FieldLayout, left: Item, right: Item, writer: WireOrder, reader: WireOrder
) -> FieldLayout | None:
    """The reader's field of the tag if it is the same field: by name, or renamed.

    Args:
        field: the writer's field.
        left: the section that it belongs to.
        right: the reader's section.
        writer, reader: the orders of the sections.
    """
    there = field_of_tag(right, field.tag)
    if there is None:
        return None
    keys = tagged_key(left, field), tagged_key(right, there)
    renamed = keys[0] not in reader.fields and keys[1] not in writer.fields and kind(field) == kind(there)
    return there if renamed or keys[0] == keys[1] else None


def same_fields(writer: StructLayout, reader: StructLayout) -> Iterator[tuple[FieldLayout, FieldLayout]]:
    """All fields that both structs have: with the same name anywhere, or renamed at the same place."""
    one, other = wire_orders(writer, reader, "", "")
    for key in sorted(one.fields.keys() & other.fields.keys()):
        yield one.fields[key], other.fields[key]
    for left, right in pair(one, other).pairs:
        if isinstance(left.value, FieldLayout) and isinstance(right.value, FieldLayout):
            if left.key != right.key and kind(left.value) == kind(right.value):
                yield left.value, right.value
        elif isinstance(left.value, StructLayout):
            for field in left.value.tagged:
                there = same_under_tag(field, left, right, one, other)
                if there is not None and tagged_key(left, field) not in other.fields:
                    yield field, there


def kind(field: FieldLayout) -> str:
    """The kind of a field's values; values of different kinds are never equal."""
    if field.array:
        return "array"
    if field.type not in FIELD_TYPES:
        return "struct"
    domain = FIELD_TYPES[field.type].domain
    return {"bool": "number", "int": "number", "text": "octets"}.get(domain, domain)


def element(field: FieldLayout) -> StructLayout:
    """The layout of an array's elements, as a struct."""
    return field.struct or alone(replace(field, array=False, nullable=False))


def alone(field: FieldLayout) -> StructLayout:
    """A value without a name as the only item of a struct, for comparing it with a struct of one field."""
    return StructLayout("", (replace(field, name="", presence="inline", tag=None),), flexible=False)


def is_single_struct(field: FieldLayout) -> bool:
    """Whether the field is one struct, not an array of them."""
    return field.type == STRUCT and not field.array


def _is_unknown(item: Item, side: WireOrder) -> bool:
    return item.key is None or item.key not in side.keys


def _order(layout: StructLayout, path: str, whole: frozenset[str]) -> WireOrder:
    items = tuple(_items(layout, "", path, whole))
    fields = {i.key: i.value for i in items if i.key is not None and isinstance(i.value, FieldLayout)}
    for item in items:
        if isinstance(item.value, StructLayout):
            fields |= {tagged_key(item, field): field for field in item.value.tagged}
    return WireOrder(items, fields, frozenset((*fields, *(item.key for item in items))))


def _items(layout: StructLayout, key: str, path: str, whole: frozenset[str]) -> Iterator[Item]:
    for field in layout.inline:
        name, place = f"{key}{field.name}", f"{path}{field.name}".rstrip(".")
        if field.struct is not None and is_single_struct(field) and not field.nullable and name not in whole:
            yield from _items(field.struct, f"{name}.", f"{place}.", whole)
        else:
            yield Item(name or None, place, field)
    if layout.flexible:
        yield Item(f"{key}*" if layout.inline or layout.tagged else None, path.rstrip("."), layout)


def _nullable_structs(layout: StructLayout, key: str) -> Iterator[str]:
    for field in layout.inline:
        if field.struct is None or field.array:
            continue
        if field.nullable:
            yield f"{key}{field.name}"
        else:
            yield from _nullable_structs(field.struct, f"{key}{field.name}.")
