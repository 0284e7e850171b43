"""All that is known of one record type's columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from kafkawire.columns.alike import WORTHWHILE, AlikeMessages, decode_alike
from kafkawire.columns.arrow_types import arrow_schema
from kafkawire.columns.rows import Rows
from kafkawire.wire import Message
from kafkawire.wire.columns import ColumnTypes, LayoutColumns


class MessageColumns:
    """A record's key or value as columns.

    Attributes:
        message: the class of the message.
        schema: the fields of all versions in the order of the definition, named like the attributes of the class. All
            may be null; a field is null in rows of a version that does not have it. Ids are strings in Kafka's base64,
            unsigned integers are held by the next larger signed type, arrays are lists and structs are structs.
        versions: the versions of the message.
    """

    def __init__(self, message: type[Message], schema: ColumnTypes, decoders: Mapping[int, LayoutColumns]) -> None:
        self.message = message
        self.schema = arrow_schema(schema)
        self.versions = message.VERSIONS
        self._decoders = decoders

    def rows(self) -> Rows:
        """An empty set of rows, to be filled and taken as often as one likes."""
        return Rows(self.message, self.schema, self._decoders)

    def alike(
        self, version: int, octets: pa.BinaryArray, start: int = 0, *, least: int = WORTHWHILE
    ) -> Iterator[AlikeMessages]:
        """The columns of those of many messages that have the shape of many others: much faster than ``rows``.

        Args:
            version: of all messages.
            octets: binary without nulls; a message in each, from ``start`` to the end.
            start: where messages begin.
            least: fewer messages of a shape, or of a length, are left alone.

        What is in none of the results is to be read by ``rows``: malformed messages and text that is not UTF-8, too.

        Raises:
            KeyError: if the message has no such version.
        """
        return decode_alike(self.message, version, octets, start, types=self.schema.types, least=least)
