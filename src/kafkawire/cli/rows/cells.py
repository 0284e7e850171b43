"""Values as the cells of a table for people."""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from kafkawire.cli.rows.fitting import CellKind, ShownColumn
from kafkawire.cli.rows.row import Row
from kafkawire.cli.visible import visible
from kafkawire.column_roles import ColumnRole

_MICROSECONDS: Final = "2026-03-01T12:30:00.000250Z"


def shown(cell: object) -> str:
    """A plain value as text; nested values are texts separated by commas."""
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case float():
            return f"{cell:g}" if abs(cell) < 1e6 else f"{cell:.15g}"
        case dict():
            return ", ".join(f"{shown(name)}={shown(value)}" for name, value in cell.items())
        case list() | tuple():
            return ", ".join(map(shown, cell))
        case _:
            return visible(str(cell))


def shown_time(text: str) -> str:
    """Kafka's times are in milliseconds, so three zeros after them are omitted."""
    return f"{text[:-4]}Z" if text.endswith("000Z") and len(text) == len(_MICROSECONDS) else text


def columns_of(rows: Sequence[Row], row_class: type[Row], fields: Sequence[str]) -> Iterator[ShownColumn]:
    """The columns of some fields of rows.

    Args:
        rows: all of one class.
        row_class: that class.
        fields: names of its fields.
    """
    hints = _hints(row_class)
    first = row_class.__struct_fields__[0]
    for name in fields:
        if name in row_class.OPTIONAL and all(getattr(row, name) is None for row in rows):
            continue
        role = row_class.ROLES.get(name, ColumnRole.KEY if name == first else ColumnRole.VALUE)
        kind = _kind(hints[name])
        cells = [shown(msgspec.to_builtins(getattr(row, name))) for row in rows]
        if kind is CellKind.TIME:
            cells = list(map(shown_time, cells))
        yield ShownColumn(name, role, kind, name, cells)


@functools.cache
def _hints(row_class: type[Row]) -> Mapping[str, object]:
    """The types of the fields, which Python would evaluate again for each section of a table."""
    return typing.get_type_hints(row_class)


def nested_fields(row_class: type[Row]) -> Mapping[str, type[Row]]:
    """The fields that have rows of their own, and the classes of these rows."""
    nested = {}
    for name, hint in _hints(row_class).items():
        inner = [each for each in _arguments(hint) if isinstance(each, type) and issubclass(each, Row)]
        if inner and name in row_class.__struct_fields__:
            nested[name] = inner[0]
    return nested


def _arguments(hint: object) -> Iterator[object]:
    """What a type is made of, also in a union."""
    for each in typing.get_args(hint):
        yield each
        yield from _arguments(each)


def _kind(hint: object) -> CellKind:
    """Of a type, or of a union of it with None."""
    is_union = typing.get_origin(hint) in {typing.Union, types.UnionType}
    members = [each for each in typing.get_args(hint) if each is not types.NoneType] if is_union else [hint]
    if len(members) == 1 and isinstance(members[0], type):
        if members[0] is datetime:
            return CellKind.TIME
        if members[0] in {int, float}:
            return CellKind.NUMBER
    return CellKind.TEXT
