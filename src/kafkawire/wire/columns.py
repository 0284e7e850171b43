"""What generated column decoders are made of: their tables, and what they call. Nothing here knows Arrow.

A decoder reads many buffers that hold one message each, all of one version, and appends what it reads to one list
for each field. Structs inside become tuples, strings stay octets, ids become their text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, Union, cast

from kafkawire.layout import Uuid

ColumnType: TypeAlias = Union[str, "list[ColumnType]", "ColumnTypes"]
"""The type of a column: the name of an Arrow type, a list of one type for an array, or the fields of a struct."""

ColumnTypes: TypeAlias = tuple[tuple[str, ColumnType], ...]
"""Fields by name, in the order of the definition: all that a message or struct has in any version."""

Value: TypeAlias = object
"""What stands in a row. It has a name because no local of a decoder can have it."""

Columns: TypeAlias = Sequence[list[Value]]
"""One list for each field of the message, and one more for messages without fields."""

Row: TypeAlias = tuple[Value, ...]
"""A struct inside a message: a value for each field that the struct has in any version."""

Decode: TypeAlias = Callable[[Sequence[bytes], int, Columns, bool], int]
"""Reads buffers from a position on, and appends to the columns; returns where it stopped in the last one.

The last argument tells whether a message must fill its buffer. The decoder stops at the first buffer that is not a
message, with one of FAST_PATH_FAILS or without; of that one nothing is appended.
"""


class LayoutColumns(NamedTuple):
    """How one layout of a message is read.

    Attributes:
        decode: the decoder.
        counted: the first column to which it appends.
        absent: the columns of fields that the layout does not have.
    """

    decode: Decode
    counted: int
    absent: tuple[int, ...]


_MOST_IDS = 4096


class _UuidTexts(dict[bytes, bytes]):
    """Ids and their texts. In a log few are repeated over and over: so many are remembered, then it begins anew."""

    def __missing__(self, octets: bytes) -> bytes:
        if len(self) >= _MOST_IDS:
            self.clear()
        text = self[octets] = str(Uuid(octets)).encode()
        return text


uuid_text = cast(Callable[[Value], bytes], _UuidTexts().__getitem__)
"""Kafka's text of 16 bytes; a local that may hold other values too passes for them."""
