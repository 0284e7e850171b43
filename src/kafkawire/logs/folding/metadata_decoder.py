"""The fields of metadata records that a history needs; other records are skipped by their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, repeat
from typing import Any, Final, NamedTuple, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns import MessageColumns
from kafkawire.columns.arrow_types import ArrowArray, nulls
from kafkawire.logs.folding.message_decoder import MessageDecoder
from kafkawire.logs.frames.flaws import code_of
from kafkawire.logs.registry import RecordRegistry
from kafkawire.logs.tables.decoded_messages import RowFault
from kafkawire.logs.tables.rows import RAW_COLUMNS, RawRows, together
from kafkawire.protocol import message_class
from kafkawire.records.framed_records import FRAME_VERSION, METADATA_RECORD, read_frame
from kafkawire.records.metadata_records import encode_metadata_record
from kafkawire.records.metadata_transactions import MARKERS
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.varint import write_uvarint

FRAME_SIZE: Final = 3
"""Frame version, record id and record version, a byte each: so far no record has a longer frame."""

ENCODED: Final = "(encoded)"
"""In place of the name of a field: the whole record, as bytes that Kafka's own definition can decode."""

Needed: TypeAlias = Mapping[str, tuple[str, ...]]
"""The fields that a history needs, by the name of the message."""

Owners: TypeAlias = Mapping[str, str]
"""The needed field that decides which intervals a record can change, by the name of the message.

Records with different values there change different intervals. A message without an entry may change any.
"""

Record: TypeAlias = tuple[object, ...]
"""The name of a message, and its needed fields as rows of Arrow have them: ids are strings, arrays are lists."""

_COLUMNS: Final = ("batch_position", "log_offset", "timestamp", "value")
_SAMPLE: Final = 256
"""Strings that show whether most of a column repeat."""

NEEDED_COLUMNS: Final = pa.schema([RAW_COLUMNS.field(name) for name in _COLUMNS])
"""What is decoded of the needed records."""


class _Alike(NamedTuple):
    """Records of one type and version.

    Attributes:
        name: of the message.
        fields: the needed ones.
        size: how many records they are.
    """

    name: str
    fields: pa.RecordBatch
    size: int

    def records(self) -> Iterator[Record]:
        return zip(repeat(self.name, self.size), *map(_shared, self.fields.columns), strict=True)

    def padded(self, schema: pa.Schema) -> pa.RecordBatch:
        """The fields, and nulls for those that this type lacks."""
        missing = [nulls(self.size, each) for each in schema.types[self.fields.num_columns :]]
        return pa.RecordBatch.from_arrays([*self.fields.columns, *missing], schema=schema)


@dataclass(frozen=True)
class MetadataRecords:
    """The needed records among some rows.

    Attributes:
        positions, offsets, timestamps: of the batch of each, of itself, and its time in milliseconds.
        faults: the errors, by the number of the record; None for a record of another type.
        has_markers: whether a transaction of the metadata log begins or ends among them.
        others: numbers of the records that are only there for their time and their errors, and are not applied.
    """

    positions: pa.Int64Array
    offsets: pa.Int64Array
    timestamps: pa.Int64Array
    faults: Mapping[int, RowFault | None]
    has_markers: bool
    _alike: Sequence[_Alike]
    _places: pa.Int32Array
    """Where in ``_alike`` each record is; null for records of other types, and without a type."""
    _exact: Mapping[int, Record | None]
    """The records that were decoded by themselves, by their number."""
    others: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self._places)

    @cached_property
    def records(self) -> Sequence[Record | None]:
        """The records; None for one that could not be decoded."""
        if len(self._alike) == 1 and not self._exact:
            return list(self._alike[0].records())
        sources: list[Iterator[Record | None]] = [*(each.records() for each in self._alike), repeat(None)]
        places = cast("pa.Int32Array", pc.fill_null(self._places, pa.scalar(len(self._alike), pa.int32())))
        records = list(map(next, map(sources.__getitem__, cast("list[int]", places.to_pylist()))))
        for row, record in self._exact.items():
            records[row] = record
        return records

    def columns(self) -> pa.RecordBatch | None:
        """The needed fields of all records; null where a type has fewer than others.

        None where not all of them are plain changes that were decoded together.
        """
        if self._exact or self.has_markers or self.others or not self._alike:
            return None
        if len(self._alike) == 1:
            return self._alike[0].fields
        schema = max((each.fields.schema for each in self._alike), key=len)
        return together([each.padded(schema) for each in self._alike], schema).take(self._in_place())

    def _in_place(self) -> pa.Int32Array:
        """Where each record is among those of one type after the other."""
        in_place, begin = self._places, 0
        for at, each in enumerate(self._alike):
            is_alike = pc.equal(self._places, pa.scalar(at, pa.int32()))
            number = pc.cumulative_sum(is_alike.cast(pa.int32()), pa.scalar(begin - 1, pa.int32()))
            in_place = pc.if_else(is_alike, number, in_place)
            begin += each.size
        return in_place


class _Known:
    """A record type that the history needs.

    Args:
        number: id of the records.
        name: of the message.
        fields: that are needed.
        registry: has the definition.

    Attributes:
        number, name: the same.
        exactly: decodes a record by itself.
        versions: those that are decoded together; none if a definition of the user replaces Kafka's.
    """

    def __init__(self, number: int, name: str, fields: Sequence[str], registry: RecordRegistry) -> None:
        self.number, self.name = number, name
        self.exactly = MessageDecoder(name, registry)
        message = message_class(name)
        self.versions = message.VERSIONS if registry.message(name) is message else range(0)
        self._columns = MessageColumns(message)
        names = self._columns.schema.names
        self._fields = list(fields)
        self._places = [None if each == ENCODED else names.index(each) for each in fields]

    def together(self, version: int, values: pa.BinaryArray) -> tuple[_Alike, Sequence[int]]:
        """The records with a version, and the places of those that have to be decoded by themselves."""
        found = self._columns.decode(version, values, FRAME_SIZE)
        arrays = [values if at is None else found.arrays[at] for at in self._places]
        fields = pa.RecordBatch.from_arrays(arrays, names=self._fields)
        return _Alike(self.name, fields, len(values)), found.inexact

    def of(self, message: Message) -> Record:
        """The record of a message that was decoded by itself. It is encoded again, without what no field has."""
        version = message.VERSIONS[-1]
        alike, _ = self.together(version, pa.array([encode_metadata_record(message, version)], pa.binary()))
        return next(alike.records())


class MetadataDecoder:
    """Decodes the records of batches.

    Records of one type and version are decoded together. Those with an error, and those whose definition a user has
    replaced, are decoded one by one.

    Args:
        needed: what the history needs.
        registry: all record types.
    """

    def __init__(self, needed: Needed, registry: RecordRegistry) -> None:
        self._registered = frozenset(registry.metadata)
        self._known = {
            number: _Known(number, name, needed[name], registry)
            for number, name in registry.metadata.items()
            if name in needed
        }
        others = self._registered - self._known.keys()
        heads = [bytes((FRAME_VERSION,)) + write_uvarint(number) for number in sorted(others)]
        by_length = (list(same) for _, same in groupby(sorted(heads, key=len), key=len))
        self._skipped = [pa.array(same, pa.binary()) for same in by_length]
        self._frames = {
            bytes((FRAME_VERSION,)) + write_uvarint(known.number) + write_uvarint(version): (known, version)
            for known in self._known.values()
            for version in known.versions
        }

    def decode(self, rows: RawRows, first: int, limit: int | None) -> MetadataRecords:
        """The needed records among some rows.

        Args:
            rows: records of a log, control records included.
            first: records before this offset are skipped.
            limit: records from this offset on are skipped; None for no limit.
        """
        return self.decode_needed(self.needed_columns(rows, first, limit))

    def decode_needed(self, columns: pa.RecordBatch) -> MetadataRecords:
        """The records of ``needed_columns``."""
        values = cast("pa.BinaryArray", columns.column("value"))
        alike, places, numbers, to_decode = self._together(values)
        exact: dict[int, Record | None] = {}
        faults: dict[int, RowFault | None] = {}
        for row in sorted(to_decode):
            known, message, fault = self._exactly(values[row].as_py() or b"")
            exact[row] = None if known is None or message is None else known.of(message)
            if exact[row] is None or fault is not None:
                faults[row] = fault
            if known is not None:
                numbers.add(known.number)
        positions, offsets, timestamps = (cast("pa.Int64Array", columns.column(name)) for name in _COLUMNS[:-1])
        has_markers = not numbers.isdisjoint(MARKERS)
        return MetadataRecords(positions, offsets, timestamps, faults, has_markers, alike, places, exact)

    def needed_columns(self, rows: RawRows, first: int, limit: int | None) -> pa.RecordBatch:
        """The rows within the limits, without control records and those of other types, which are most of a log.

        Args:
            rows, first, limit: as ``decode``.
        """
        offsets = cast("pa.Int64Array", rows.columns.column("log_offset"))
        wanted = pc.and_not(pc.greater_equal(offsets, pa.scalar(first, pa.int64())), rows.control)
        if limit is not None:
            wanted = pc.and_(wanted, pc.less(offsets, pa.scalar(limit, pa.int64())))
        for skipped in self._skipped:
            length = len(skipped[0].as_py())
            wanted = pc.and_not(wanted, pc.is_in(pc.binary_slice(rows.values, 0, length), skipped))
        columns = rows.columns.select(_COLUMNS)
        return columns if wanted.true_count == len(rows) else columns.filter(wanted)

    def _together(self, values: pa.BinaryArray) -> tuple[list[_Alike], pa.Int32Array, set[int], set[int]]:
        """The records by type and version, where each is, the ids, and the rows that have to be decoded one by one."""
        heads = pc.binary_slice(values, 0, FRAME_SIZE).dictionary_encode()
        codes = cast("pa.Int32Array", heads.indices)
        numbers, exact = set[int](), set(_rows_with(codes.is_null())) if codes.null_count else set[int]()
        alike: list[_Alike] = []
        place_of_code: list[int | None] = []
        for code, head in enumerate(cast("list[bytes]", heads.dictionary.to_pylist())):
            mask = pc.equal(codes, pa.scalar(code, pa.int32()))
            if head not in self._frames:
                exact.update(_rows_with(mask))
                place_of_code.append(None)
                continue
            known, version = self._frames[head]
            found, inexact = known.together(version, values if mask.true_count == len(values) else values.filter(mask))
            numbers.add(known.number)
            place_of_code.append(len(alike))
            alike.append(found)
            if inexact:
                rows = _rows_with(mask)
                exact.update(rows[each] for each in inexact)
        places = codes if None not in place_of_code else pa.array(place_of_code, pa.int32()).take(codes)
        return alike, places, numbers, exact

    def _exactly(self, value: bytes) -> tuple[_Known | None, Message | None, RowFault | None]:
        """Decode a record by itself: its type, the message and the error."""
        known = None
        try:
            number, version, start = read_frame(value, METADATA_RECORD)
            if number not in self._registered:
                return None, None, ("unknown_type", f"no record has the id {number}")
            known = self._known.get(number)
            if known is None:
                return None, None, None
            message, end = known.exactly.decode_from(value, start, version)
        except DecodeError as error:
            return known, None, (code_of(error), str(error))
        if end < len(value):
            return known, message, ("trailing_bytes", f"{len(value) - end} bytes are left after {message.NAME}")
        return known, message, None


def _rows_with(mask: ArrowArray) -> list[int]:
    return cast("list[int]", pc.indices_nonzero(mask).to_pylist())


def _shared(cells: pa.Array[Any]) -> Iterable[object]:
    """The cells as Python has them. Strings that repeat are one object, since open intervals keep them.

    So are lists where all are empty, as those of replicas that are added and removed almost always are.
    """
    if isinstance(cells, pa.ListArray) and not cells.null_count and not len(cells.flatten()):
        return repeat([], len(cells))
    if not isinstance(cells, pa.StringArray) or _mostly_differ(cells.slice(0, _SAMPLE)):
        return cells.to_pylist()
    encoded = cells.dictionary_encode()
    distinct = [*encoded.dictionary.to_pylist(), None]  # the last one is for cells without a string
    return map(distinct.__getitem__, cast("list[int]", encoded.indices.fill_null(-1).to_pylist()))


def _mostly_differ(sample: pa.StringArray) -> bool:
    return 2 * len(sample.unique()) > len(sample)
