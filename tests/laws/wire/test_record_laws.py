"""Laws of the record formats: reading returns what was written, through all codecs, complete or truncated."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, strategies as st
from tests.made.record_strategies import record_lists

from kafkawire.wire.batches.batch import Record, RecordBatch, read_batches
from kafkawire.wire.batches.inspector import inspect_records
from kafkawire.wire.batches.reader import decode_records
from kafkawire.wire.batches.writer import encode_batch
from kafkawire.wire.compression import Codec, compress, decompress
from kafkawire.wire.varint import read_uvarint, read_varint, read_varlong, write_uvarint, write_varint, write_varlong


@given(st.integers(0, 2**32 - 1))
def test_uvarint_round_trip(value: int) -> None:
    data = write_uvarint(value)
    assert read_uvarint(data, 0) == (value, len(data))


@given(st.integers(-(2**31), 2**31 - 1))
def test_varint_round_trip(value: int) -> None:
    data = write_varint(value)
    assert read_varint(data, 0) == read_varlong(data, 0) == (value, len(data))


@given(st.integers(-(2**63), 2**63 - 1))
def test_varlong_round_trip(value: int) -> None:
    data = write_varlong(value)
    assert read_varlong(data, 0) == (value, len(data))


@given(st.sampled_from(Codec), st.binary(max_size=300), st.integers(0, 400))
def test_compression_round_trip(codec: Codec, data: bytes, repeats: int) -> None:
    assert decompress(codec, compress(codec, data * repeats)) == data * repeats


@given(st.sampled_from(Codec), record_lists)
def test_batch_round_trip(codec: Codec, records: Sequence[Record]) -> None:
    data = encode_batch(records, codec=codec, base_offset=1000)
    (batch,) = read_batches(data)
    assert decode_records(batch) == records
    assert batch.to_bytes() == data
    assert encode_batch(decode_records(batch), codec=codec, base_offset=1000) == data


@given(record_lists, st.none() | st.integers(0, 2**40))
def test_both_decoders_agree(records: Sequence[Record], append_time: int | None) -> None:
    (batch,) = read_batches(encode_batch(records, base_offset=1000, log_append_time=append_time))
    assert inspect_records(batch, batch.payload, 0, 0, batch.records_count, keep_headers=True)[0] == decode_records(
        batch
    )


@given(st.lists(record_lists, max_size=3), st.integers(0, 200))
def test_reading_stops_at_the_same_place_however_much_is_cut_off(logs: Sequence[Sequence[Record]], cut: int) -> None:
    batches = [encode_batch(records, base_offset=1000) for records in logs]
    data = b"".join(batches)
    data = data[: max(0, len(data) - cut)]
    reader = read_batches(data)
    read = list(reader)
    assert all(isinstance(batch, RecordBatch) for batch in read)
    assert [batch.to_bytes() for batch in read] == batches[: len(read)]
    assert reader.bytes_left == len(data) - sum(map(len, batches[: len(read)]))
    assert len(read) == len(batches) or reader.bytes_left < len(batches[len(read)])
