"""The columns of one message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from kafkawire.columns.arrow_types import ArrowArray, message_schema
from kafkawire.columns.same_shape import WORTHWHILE, MessagesOfShape, decode_same_shape
from kafkawire.columns.struct_arrays import struct_arrays
from kafkawire.wire import Message


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
        from kafkawire.columns import MessageColumns
        from kafkawire.protocol import OffsetCommitValue

        columns = MessageColumns(OffsetCommitValue)
        commits = [OffsetCommitValue(offset=120), OffsetCommitValue(offset=121)]
        arrays = columns.arrays(3, commits)
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

    def of_same_shape(
        self, version: int, octets: pa.BinaryArray, start: int = 0, *, least: int = WORTHWHILE
    ) -> Iterator[MessagesOfShape]:
        """The columns of messages that have the same shape as many others, much faster than decoding each.

        Args:
            version: of all messages.
            octets: binary without nulls; a message in each, from ``start`` to the end.
            start: where messages begin.
            least: shapes and lengths of fewer messages are left out.

        Messages in none of the results are to be decoded one by one; malformed messages are among them.

        Raises:
            KeyError: the message has no such version.
        """
        return decode_same_shape(self.message, version, octets, start, types=self.schema.types, least=least)
