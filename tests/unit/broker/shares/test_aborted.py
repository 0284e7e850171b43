"""Batches of aborted transactions are found by their markers, and left out of what members acquire."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from kafkawire.broker.shares.aborted import aborted_batches, without
from kafkawire.broker.storage.transaction_index import AbortedTransaction
from kafkawire.protocol import EndTxnMarker
from kafkawire.records.control_records import ControlRecordType, encode_control_record
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, read_batches


def written(producer_id: int, first: int, count: int = 2) -> bytes:
    """A batch of a transaction."""
    records = [Record(value=b"v")] * count
    return encode_batch(records, base_offset=first, producer_id=producer_id, producer_epoch=0, transactional=True)


def ended(producer_id: int, at: int, how: ControlRecordType) -> bytes:
    """A marker."""
    key, value = encode_control_record(how, EndTxnMarker(), 0)
    marker = [Record(key=key, value=value)]
    return encode_batch(
        marker, base_offset=at, producer_id=producer_id, producer_epoch=0, transactional=True, control=True
    )


def batches(*encoded: bytes) -> Sequence[RecordBatch]:
    return [*read_batches(b"".join(encoded))]


def test_a_producer_is_aborted_from_its_first_offset_to_its_marker() -> None:
    log = batches(
        encode_batch([Record(value=b"v")], base_offset=0),
        written(7, 1),
        written(8, 3),
        ended(7, 5, ControlRecordType.ABORT),
        written(7, 6),
        ended(8, 8, ControlRecordType.COMMIT),
        ended(7, 9, ControlRecordType.COMMIT),
    )
    found = aborted_batches(log, [AbortedTransaction(7, 1, 5, 3)])
    assert [batch.base_offset for batch in found] == [1]


def test_transactions_that_begin_after_what_was_read_abort_nothing() -> None:
    log = batches(written(7, 0), ended(7, 2, ControlRecordType.COMMIT))
    assert aborted_batches(log, [AbortedTransaction(7, 3, 5, 6)]) == []


def test_ranges_are_divided_by_what_is_left_out() -> None:
    dropped = batches(written(7, 2), written(7, 6), written(7, 20))
    ranges = [(0, 4, 1), (5, 9, 2), (20, 21, 3), (30, 31, 4)]
    assert [*without(ranges, dropped)] == [(0, 1, 1), (4, 4, 1), (5, 5, 2), (8, 9, 2), (30, 31, 4)]


@pytest.mark.parametrize("base", [0, 1 << 40])
def test_ranges_without_batches_have_all_other_offsets(base: int) -> None:
    bounds = [(2, 3), (5, 5), (6, 8), (12, 12)]
    dropped = batches(*(written(7, base + first, last - first + 1) for first, last in bounds))
    left_out = {offset for first, last in bounds for offset in range(first, last + 1)}
    for first, last in itertools.combinations_with_replacement(range(15), 2):
        found = [*without([(base + first, base + last, 4)], dropped)]
        offsets = [offset - base for begin, end, _ in found for offset in range(begin, end + 1)]
        assert offsets == [offset for offset in range(first, last + 1) if offset not in left_out]
        assert all(begin <= end and kept == 4 for begin, end, kept in found)
        assert all(earlier[1] + 1 < later[0] for earlier, later in itertools.pairwise(found))
