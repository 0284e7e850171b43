"""The columns of one message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import pyarrow as pa

from kafkawire.columns.arrow_types import ArrowArray, message_schema
from kafkawire.columns.native_arrays import arrays_of_struct
from kafkawire.columns.struct_arrays import struct_arrays
from kafkawire.layout import StructLayout
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.engine import by_engine_in_use, native_codec

if TYPE_CHECKING:
    from kafkawire._native import Codec


class DecodedColumns(NamedTuple):
    """The columns of encoded messages.

    Attributes:
        arrays: a column for each field, with a row for each of the encoded messages; a row of nulls for null and
            for bytes that cannot be decoded.
        inexact: the numbers of the rows whose bytes cannot be decoded, or have others after the message.
    """

    arrays: tuple[ArrowArray, ...]
    inexact: tuple[int, ...]


class MessageColumns:
    """Messages of one class as columns.

    Attributes:
        message: the class of the messages.
        schema: the fields of all versions in the order of the definition, named like the attributes of the class. All
            may be null; a field is null in rows of a version that does not have it. Ids are strings in Kafka's base64,
            unsigned integers have the next larger signed type, arrays are lists and structs are structs. Unknown
            tagged fields have no column.

    Example:
        ```python
        import pyarrow as pa

        from kafkawire.columns import MessageColumns
        from kafkawire.protocol import OffsetCommitValue

        columns = MessageColumns(OffsetCommitValue)
        commits = [OffsetCommitValue(offset=120), OffsetCommitValue(offset=121)]
        arrays = columns.arrays(3, commits)

        values = pa.array([commit.encode(3) for commit in commits], pa.binary())
        assert list(columns.decode(3, values).arrays) == arrays
        ```
    """

    def __init__(self, message: type[Message]) -> None:
        self.message = message
        self.schema = message_schema(message.layouts())

    def arrays(self, version: int, messages: Sequence[Message]) -> list[ArrowArray]:
        """A column for each field of messages that were decoded in a version.

        Raises:
            KeyError: the message has no such version.
        """
        return struct_arrays(self.message.layouts().of_version(version), messages, self.schema.types)

    def decode(self, version: int, octets: pa.BinaryArray, start: int = 0) -> DecodedColumns:
        """The columns of encoded messages. The native engine reads them without making an object for each.

        Args:
            version: of all messages.
            octets: binary; a message in each, from ``start`` to the end; null for a row of nulls.
            start: where messages begin.

        Raises:
            KeyError: the message has no such version.
            TypeError: the array has another type.
        """
        layout = self.message.layouts().of_version(version)
        if octets.type != pa.binary():
            raise TypeError(f"messages are a binary array, not {octets.type}: cast it to pyarrow.binary()")
        return by_engine_in_use(
            lambda: self._decode_each(version, octets, start),
            native_codec(self.message, version),
            lambda native: self._decode_natively(native, layout, octets, start),
        )

    def _decode_natively(
        self, native: Codec, layout: StructLayout, octets: pa.BinaryArray, start: int
    ) -> DecodedColumns:
        valid, offsets, data = octets.buffers()
        columns, inexact = native.columns(valid, offsets or b"\0\0\0\0", data or b"", octets.offset, len(octets), start)
        arrays = arrays_of_struct(layout, columns, self.schema.types, len(octets))
        return DecodedColumns(tuple(arrays), tuple(inexact))

    def _decode_each(self, version: int, octets: pa.BinaryArray, start: int) -> DecodedColumns:
        """Decode each distinct message by the class; those of a log repeat."""
        distinct = octets.dictionary_encode()
        messages: list[Message] = []
        places: list[int | None] = []
        inexact: set[int] = set()
        for number, buffer in enumerate(cast("list[bytes]", distinct.dictionary.to_pylist())):
            try:
                message, end = self.message.decode_from(buffer, start, version)
            except DecodeError:
                places.append(None)
                inexact.add(number)
                continue
            places.append(len(messages))
            messages.append(message)
            if end < len(buffer):
                inexact.add(number)
        rows = pa.array(places, pa.int32()).take(distinct.indices)
        arrays = tuple(each.take(rows) for each in self.arrays(version, messages))
        numbers = cast("list[int | None]", distinct.indices.to_pylist()) if inexact else ()
        return DecodedColumns(arrays, tuple(row for row, number in enumerate(numbers) if number in inexact))
