"""Which batches of records belong to aborted transactions, as in Kafka's ``SharePartition``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

from kafkawire.broker.storage.transaction_index import AbortedTransaction
from kafkawire.records.control_records import ControlRecord, ControlRecordType, decode_control_record
from kafkawire.wire.batches import RecordBatch, decode_records
from kafkawire.wire.batches.batch import NO_PRODUCER_ID


def aborted_batches(batches: Iterable[RecordBatch], aborted: Iterable[AbortedTransaction]) -> list[RecordBatch]:
    """The batches with records of aborted transactions.

    Args:
        batches: in order.
        aborted: the transactions.
    """
    ahead = sorted(aborted, key=attrgetter("first_offset"), reverse=True)
    producers: set[int] = set()
    found = []
    for batch in batches:
        if batch.producer_id == NO_PRODUCER_ID:
            continue
        while ahead and ahead[-1].first_offset <= batch.last_offset:
            producers.add(ahead.pop().producer_id)
        if batch.is_control:
            if _aborts(batch):
                producers.discard(batch.producer_id)
        elif batch.is_transactional and batch.producer_id in producers:
            found.append(batch)
    return found


def without(ranges: Iterable[tuple[int, int, int]], dropped: Sequence[RecordBatch]) -> Iterator[tuple[int, int, int]]:
    """Ranges without the offsets of batches.

    Args:
        ranges: first and last offset, and something that is kept.
        dropped: the batches, in order.
    """
    for first, last, kept in ranges:
        begin = first
        for batch in dropped:
            if batch.last_offset < begin or batch.base_offset > last:
                continue
            if begin < batch.base_offset:
                yield begin, batch.base_offset - 1, kept
            begin = batch.last_offset + 1
        if begin <= last:
            yield begin, last, kept


def _aborts(batch: RecordBatch) -> bool:
    markers = (decode_control_record(record.key, record.value) for record in decode_records(batch))
    return any(isinstance(marker, ControlRecord) and marker.type is ControlRecordType.ABORT for marker in markers)
