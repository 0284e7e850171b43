from __future__ import annotations

import pytest

from kafkawire.broker.partitions.checked_batch import RefusedRecordsError
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.layout import Uuid
from kafkawire.protocol import RemoveTopicRecord
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, read_batches

TOPIC, OTHER = Uuid(b"a" * 16), Uuid(b"b" * 16)


def batch(size: int = 1000) -> RecordBatch:
    return next(read_batches(encode_batch([Record(value=bytes(size))])))


def test_records_in_memory_have_so_much_room() -> None:
    store = RecordStore(most_bytes=10_000)
    for _ in range(7):
        store.append(TOPIC, 0, batch(), 0)
    with pytest.raises(RefusedRecordsError, match="at most 10000 bytes of records in memory"):
        store.append(TOPIC, 0, batch(), 0)
    assert store.log(TOPIC, 0).end_offset == 7


def test_room_comes_back_with_the_end_of_a_topic() -> None:
    store = RecordStore(most_bytes=10_000)
    store.append(OTHER, 0, batch(1), 0)
    for _ in range(50):
        store.append(TOPIC, 0, batch(3000), 0)
        store.remove(RemoveTopicRecord(TOPIC))
    assert store.log(TOPIC, 0).end_offset == 0
    assert store.log(OTHER, 0).end_offset == 1
