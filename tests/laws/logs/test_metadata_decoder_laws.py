"""Records of the metadata log that are decoded together are those that are decoded one by one, whatever their bytes."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
from hypothesis import given, strategies as st

from kafkawire.layout import Uuid
from kafkawire.logs.files.log_files import FileKind, LogFile
from kafkawire.logs.folding.metadata_decoder import ENCODED, MetadataDecoder, MetadataRecords
from kafkawire.logs.registry import BUILT_IN
from kafkawire.logs.tables.rows import RAW_COLUMNS, RawRows
from kafkawire.protocol import (
    AccessControlEntryRecord,
    BeginTransactionRecord,
    NoOpRecord,
    PartitionRecord,
    RemoveAccessControlEntryRecord,
)
from kafkawire.records.metadata_records import encode_metadata_record

_NEEDED: Final = {
    "BeginTransactionRecord": (),
    "AccessControlEntryRecord": ("id", "principal", ENCODED),
    "RemoveAccessControlEntryRecord": ("id",),
    "PartitionRecord": ("topic_id", "partition_id", "replicas"),
}
_OF_ACLS: Final = {"AccessControlEntryRecord": ("id", ENCODED), "RemoveAccessControlEntryRecord": ("id",)}
_ID: Final = Uuid(b"i" * 16)
_ACL: Final = AccessControlEntryRecord(_ID, 2, "t", 3, "User:ann", "*", 3, 3)
_FILE: Final = LogFile("00.log", "__cluster_metadata-0", "__cluster_metadata", FileKind.SEGMENT, 0, None, 0)
_ENCODED: Final = [
    encode_metadata_record(_ACL, 0),
    encode_metadata_record(RemoveAccessControlEntryRecord(_ID), 0),
    encode_metadata_record(BeginTransactionRecord(), 0),
    encode_metadata_record(NoOpRecord(), 0),
    *(encode_metadata_record(PartitionRecord(1, _ID, (1, 2)), version) for version in PartitionRecord.VERSIONS),
]


@st.composite
def values(draw: st.DrawFn) -> bytes | None:
    """A record, sometimes cut, longer, changed, or not there."""
    octets = draw(st.sampled_from(_ENCODED))
    place = draw(st.integers(0, len(octets) - 1))
    damaged = [octets[:place], octets + b"x", octets[:place] + draw(st.binary(max_size=2)) + octets[place + 1 :], None]
    return draw(st.sampled_from([octets] * len(damaged) + damaged))


def _rows(octets: list[bytes | None]) -> RawRows:
    cells = [
        {"batch_position": 0, "attributes": 0, "log_offset": offset, "timestamp": 1000 + offset, "value": each}
        for offset, each in enumerate(octets)
    ]
    return RawRows(_FILE, pa.RecordBatch.from_pylist(cells, schema=RAW_COLUMNS))


def _each(found: MetadataRecords) -> list[tuple[object, ...]]:
    places = zip(found.offsets.to_pylist(), found.timestamps.to_pylist(), strict=True)
    return [
        (record, place, found.faults.get(row))
        for row, (record, place) in enumerate(zip(found.records, places, strict=True))
    ]


@given(st.lists(values(), max_size=12))
def test_records_together_are_those_one_by_one(octets: list[bytes | None]) -> None:
    rows, decoder = _rows(octets), MetadataDecoder(_NEEDED, BUILT_IN)
    together = decoder.decode(rows, 0, None)
    singly = [decoder.decode(rows.piece(row, row + 1), 0, None) for row in range(len(rows))]
    assert _each(together) == [each for found in singly for each in _each(found)]
    assert together.has_markers == any(found.has_markers for found in singly)


@given(st.lists(st.sampled_from(_ENCODED[:2]), min_size=1, max_size=12))
def test_columns_are_the_fields_of_the_records(octets: list[bytes | None]) -> None:
    found = MetadataDecoder(_OF_ACLS, BUILT_IN).decode(_rows(octets), 0, None)
    columns = found.columns()
    assert columns is not None
    records = [record for record in found.records if record is not None]
    width = max(map(len, records)) - 1
    cells = zip(*(each.to_pylist() for each in columns.columns), strict=True)
    assert [*cells] == [(*fields, *[None] * (width - len(fields))) for _, *fields in records]


@given(st.lists(values(), max_size=8))
def test_there_are_no_columns_with_errors_or_markers(octets: list[bytes | None]) -> None:
    decoder = MetadataDecoder({"BeginTransactionRecord": (), **_OF_ACLS}, BUILT_IN)
    found = decoder.decode(_rows(octets), 0, None)
    if found.has_markers or found.faults or None in found.records:
        assert found.columns() is None


def test_the_fields_of_a_record_are_those_of_its_message() -> None:
    together = MetadataDecoder(_NEEDED, BUILT_IN).decode(_rows([*_ENCODED]), 0, None)
    text = str(_ID)
    assert together.records == [
        ("AccessControlEntryRecord", text, "User:ann", _ENCODED[0]),
        ("RemoveAccessControlEntryRecord", text),
        ("BeginTransactionRecord",),
        *[("PartitionRecord", text, 1, [1, 2])] * len(PartitionRecord.VERSIONS),
    ]


def test_a_record_with_bytes_after_it_is_kept_without_them() -> None:
    found = MetadataDecoder(_NEEDED, BUILT_IN).decode(_rows([_ENCODED[0] + b"more"]), 0, None)
    assert found.records == [("AccessControlEntryRecord", str(_ID), "User:ann", _ENCODED[0])]
    assert [fault and fault[0] for fault in found.faults.values()] == ["trailing_bytes"]
