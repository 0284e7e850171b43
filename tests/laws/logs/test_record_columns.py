"""The records of a batch as columns are its records, and what is refused as records is refused as columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from tests.kafka_dumps import real_logs

from kafkawire.wire import DecodeError
from kafkawire.wire.batches import Record, RecordBatch, decode_columns, decode_records, read_batches

Rows: TypeAlias = list[tuple[object, ...]]

BATCHES = [batch for log in real_logs() for batch in read_batches(log.read_bytes())]


def test_columns_of_real_batches_are_their_records() -> None:
    for batch in BATCHES:
        assert columns_of(batch) == rows_of(decode_records(batch))


@given(
    batch=st.sampled_from([each for each in BATCHES if each.attributes & 7 == 0]),
    changes=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=5),
    count=st.integers(-1, 3),
)
def test_broken_batches_are_refused_alike(batch: RecordBatch, changes: list[tuple[int, int]], count: int) -> None:
    payload = bytearray(batch.payload)
    for at, octet in changes:
        payload[at % len(payload)] = octet
    broken = msgspec.structs.replace(batch, payload=bytes(payload), records_count=batch.records_count + count)
    assert outcome(columns_of, broken) == outcome(lambda each: rows_of(decode_records(each)), broken)


def outcome(read: Callable[[RecordBatch], Rows], batch: RecordBatch) -> Rows | str:
    """What is read, or why it is refused."""
    try:
        return read(batch)
    except DecodeError as error:
        return str(error)


def columns_of(batch: RecordBatch) -> Rows:
    columns = decode_columns(batch)
    return list(zip(columns.offsets, columns.timestamps, columns.keys, columns.values, strict=True))


def rows_of(records: tuple[Record, ...]) -> Rows:
    return [(record.offset, record.timestamp, record.key, record.value) for record in records]
