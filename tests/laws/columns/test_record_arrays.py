"""Records as arrays equal the records of the batches, and batches that are refused as records give no array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec
import pytest
from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.kafka_logs.dumps import real_logs

from kafkawire.columns.record_arrays import RecordArrays, decode_record_arrays, decode_some_record_arrays
from kafkawire.wire import DecodeError
from kafkawire.wire.batches import Header, Record, RecordBatch, decode_records, encode_batch, read_batches
from kafkawire.wire.batches.batch import LOG_APPEND_TIME
from kafkawire.wire.batches.reader import open_payload
from kafkawire.wire.compression import DEFAULT_OUTPUT_LIMIT

Rows: TypeAlias = list[tuple[object, ...]]

BATCHES = [batch for log in real_logs() for batch in read_batches(log.read_bytes())]
SMALL = st.integers(0, 300)
HEADERS = st.builds(Header, st.text(max_size=80), st.none() | st.binary(max_size=80))


def test_arrays_of_real_batches_are_their_records() -> None:
    assert rows_of(BATCHES) == expected(BATCHES)


@given(data=st.data())
def test_arrays_of_any_batches_are_their_records(data: st.DataObject) -> None:
    octets = st.none() | st.binary(max_size=200)
    offsets = data.draw(st.lists(st.integers(0, 1 << 24), unique=True, max_size=12).map(sorted))
    times = st.integers(0, 1 << 40)
    records = [Record(offset, data.draw(times), data.draw(octets), data.draw(octets)) for offset in offsets]
    cut = data.draw(st.integers(0, len(records)))
    batches = [batch_of(part) for part in (records[:cut], records[cut:]) if part]
    assert rows_of(batches) == expected(batches)


@settings(max_examples=scaled(200))
@given(
    batch=st.sampled_from([each for each in BATCHES if each.attributes & 7 == 0]),
    changes=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=5),
    count=st.integers(-1, 3),
)
def test_broken_batches_are_no_arrays(batch: RecordBatch, changes: list[tuple[int, int]], count: int) -> None:
    payload = bytearray(batch.payload)
    for at, octet in changes:
        payload[at % len(payload)] = octet
    broken = msgspec.structs.replace(batch, payload=bytes(payload), records_count=batch.records_count + count)
    arrays = decode_record_arrays([batch, broken], [batch.payload, broken.payload])
    try:
        records = expected([batch, broken])
    except DecodeError:
        assert arrays is None
    else:
        assert arrays is None or rows_of([batch, broken]) == records


@pytest.mark.parametrize("number", [200, 20_000, 3_000_000])
def test_numbers_of_several_bytes_are_read(number: int) -> None:
    records = [Record(at, at, None, b"v") for at in (0, 1, number)] + [
        Record(number + 1, 0, bytes(number % 70_000), b"")
    ]
    batches = [batch_of(records)]
    assert rows_of(batches) == expected(batches)


@given(
    headers=st.lists(st.lists(st.builds(Header, st.text(max_size=80), st.none() | st.binary(max_size=80)), max_size=3))
)
def test_records_with_headers_are_read_without_them(headers: list[list[Header]]) -> None:
    batch = batch_of(
        [Record(0, 0, b"k", b"v"), *(Record(1 + at, at, b"k", b"v", own) for at, own in enumerate(headers))]
    )
    assert rows_of([batch]) == expected([batch])


@pytest.mark.parametrize("headers", [b"\x02\x02\xff\1", b"\x02\0", b"\x04\0\1", b"\x02\0\1\0", b"\1", b"\x02\1\1"])
def test_invalid_headers_give_no_array(headers: bytes) -> None:
    record = b"\0\0\0\1\1" + headers
    assert arrays_of([bytes((2 * len(record),)) + record], [1]) is None


@given(
    values=st.lists(st.none() | st.binary(max_size=300), min_size=1),
    most_records=st.integers(1, 9),
    most_octets=st.integers(1, 999),
)
def test_records_piece_by_piece_are_all_records(
    values: list[bytes | None], most_records: int, most_octets: int
) -> None:
    batch = batch_of([Record(at, at, b"k", value) for at, value in enumerate(values)])
    data, at, rows = batch.payload, 0, list[tuple[object, ...]]()
    while at < len(data):
        piece = decode_some_record_arrays(batch, data, at, most_records, most_octets)
        assert piece is not None
        arrays, end = piece
        assert 0 < len(arrays.keys) <= most_records
        assert at < end < at + most_octets + 400
        rows += zip(*(each.to_pylist() for each in arrays), strict=True)
        at = end
    assert rows == expected([batch])


@pytest.mark.parametrize(
    ("payloads", "counts"),
    [
        pytest.param([b""], [1], id="nothing"),
        pytest.param([b"\x0e\0\0\0\1\1"], [1], id="cut off"),
        pytest.param([b"\x0c\0\0\0\1\1\0"], [2], id="one record for two"),
        pytest.param([b"\x0c\0\0\0\1\1\0" * 2], [1], id="two records for one"),
        pytest.param([b"\x0c\0\0\0\1\1", b"\0"], [1, 0], id="a record of two payloads"),
        pytest.param([b"\x0d\0\0\0\1\1\0"], [1], id="a negative length"),
        pytest.param([b"\xff\xff\xff\xff\x0f\0\0\0\1\1\0"], [1], id="a length of 2 GiB"),
        pytest.param([b"\x0e\0\0\0\1\x80\x80\0"], [1], id="a length cut off by the end"),
    ],
)
def test_invalid_records_give_no_array(payloads: Sequence[bytes], counts: Sequence[int]) -> None:
    assert arrays_of(payloads, counts) is None


def test_no_records_are_empty_arrays() -> None:
    arrays = arrays_of([b"", b""], [0, 0])
    assert arrays is not None
    assert [len(each) for each in arrays] == [0] * 8


def test_batches_have_their_own_offsets_and_times() -> None:
    records = [Record(5, 100, b"a", b"b"), Record(6, 90, None, None)]
    early, late = (
        batch_of(records),
        batch_of([msgspec.structs.replace(each, offset=each.offset + 40) for each in records]),
    )
    appended = msgspec.structs.replace(late, attributes=late.attributes | LOG_APPEND_TIME, max_timestamp=7)
    arrays = decode_record_arrays([early, appended], [early.payload, appended.payload])
    assert arrays is not None
    assert arrays.offsets.to_pylist() == [5, 6, 45, 46]
    assert arrays.timestamps.to_pylist() == [100, 90, 7, 7]


@pytest.mark.parametrize("change", [{"base_offset": 2**63 - 1}, {"base_timestamp": 2**63 - 1}])
def test_numbers_beyond_int64_give_no_array(change: dict[str, int]) -> None:
    batch = msgspec.structs.replace(batch_of([Record(0, 0), Record(1, 1)]), **change)
    assert decode_record_arrays([batch], [batch.payload]) is None


def batch_of(records: Sequence[Record]) -> RecordBatch:
    (batch,) = read_batches(encode_batch(records, base_offset=records[0].offset))
    return batch


def arrays_of(payloads: Sequence[bytes], counts: Sequence[int]) -> RecordArrays | None:
    """The arrays of batches with these payloads and numbers of records."""
    headers = batch_of([Record(0, 0)])
    batches = [
        msgspec.structs.replace(headers, payload=payload, records_count=count)
        for payload, count in zip(payloads, counts, strict=True)
    ]
    return decode_record_arrays(batches, payloads)


def rows_of(batches: Sequence[RecordBatch]) -> Rows:
    """The values of each record, in the order of the arrays."""
    arrays = decode_record_arrays(batches, [open_payload(batch, DEFAULT_OUTPUT_LIMIT) for batch in batches])
    assert arrays is not None
    return list(zip(*(each.to_pylist() for each in arrays), strict=True))


def expected(batches: Sequence[RecordBatch]) -> Rows:
    return [
        (
            batch.position,
            batch.partition_leader_epoch,
            batch.attributes,
            batch.producer_id,
            record.offset,
            record.timestamp,
            record.key,
            record.value,
        )
        for batch in batches
        for record in decode_records(batch)
    ]
