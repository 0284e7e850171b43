"""Markers that coordinators of transactions, and administrators, have written."""

from __future__ import annotations

import pytest
from tests.embedded.driven_transactions import TOPIC, DrivenProducer, DrivenTransactions

from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.transactions.markers import EndMarker
from kafkawire.protocol import EndTxnMarker
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.control_records import ControlRecordType, encode_control_record
from kafkawire.wire.batches import TimestampType, decode_records


async def test_a_marker_of_an_earlier_epoch_is_refused_by_its_partition(caplog: pytest.LogCaptureFixture) -> None:
    driven = DrivenTransactions()
    newer, older = (EndMarker(Producer(7, epoch), False, 0, False) for epoch in (5, 4))
    assert await driven.markers.write(newer, [(TOPIC, 0)]) == {(TOPIC, 0): ErrorCode.NONE}
    assert not caplog.messages
    answer = await driven.markers.write(older, [(TOPIC, 0), (TOPIC, 1), (TOPIC, 2), ("missing", 0)])
    assert answer == {
        (TOPIC, 0): ErrorCode.INVALID_PRODUCER_EPOCH,
        (TOPIC, 1): ErrorCode.NONE,
        (TOPIC, 2): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("missing", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    (message,) = caplog.messages
    assert message.startswith(f"{TOPIC}-0: a marker of producer 7 is refused: ")


@pytest.mark.parametrize("committed", [True, False])
async def test_a_marker_has_what_its_transaction_has(committed: bool) -> None:
    driven = DrivenTransactions()
    driven.clock.advance(5)
    producer = Producer(1 << 40, 1000)
    answer = await driven.markers.write(EndMarker(producer, committed, 3, True), [(TOPIC, 1)])
    assert answer == {(TOPIC, 1): ErrorCode.NONE}
    assert driven.logs[0].end_offset == 0
    (batch,) = driven.logs[1].batches(0)
    assert (batch.producer_id, batch.producer_epoch) == producer
    assert (batch.is_control, batch.is_transactional, batch.base_offset) == (True, True, 0)
    assert batch.max_timestamp == driven.clock.now_ms()
    assert batch.timestamp_type is TimestampType.CREATE_TIME
    (record,) = decode_records(batch)
    kind = ControlRecordType.COMMIT if committed else ControlRecordType.ABORT
    assert (record.key, record.value) == encode_control_record(kind, EndTxnMarker(3), 0)


@pytest.mark.parametrize(
    ("epoch", "coordinator_epoch", "bumps", "error"),
    [
        (5, 2, False, ErrorCode.NONE),
        (5, 2, True, ErrorCode.INVALID_PRODUCER_EPOCH),
        (6, 2, True, ErrorCode.NONE),
        (4, 2, False, ErrorCode.INVALID_PRODUCER_EPOCH),
        (5, 3, False, ErrorCode.NONE),
        (5, 1, False, ErrorCode.TRANSACTION_COORDINATOR_FENCED),
    ],
)
async def test_markers_of_earlier_epochs_are_refused(
    epoch: int, coordinator_epoch: int, bumps: bool, error: ErrorCode
) -> None:
    """Those of version 2 must have a higher epoch than the records that they end (KIP-890)."""
    driven = DrivenTransactions()
    producer = DrivenProducer(driven, "t")
    await driven.use_up("t", epoch=4)
    assert await producer.begin() is ErrorCode.NONE
    assert await producer.write(0, b"1") is ErrorCode.NONE
    producer_id, begun = producer.producer
    assert begun == 5
    await driven.markers.write(EndMarker(Producer(producer_id, 5), True, 2, False), [(TOPIC, 0)])
    await producer.write(0, b"2")
    marker = EndMarker(Producer(producer_id, epoch), True, coordinator_epoch, bumps)
    assert await driven.markers.write(marker, [(TOPIC, 0)]) == {(TOPIC, 0): error}


@pytest.mark.parametrize("committed", [True, False])
async def test_offsets_of_groups_end_with_the_marker_of_their_partition(committed: bool) -> None:
    """Other internal topics have no marker."""
    driven = DrivenTransactions()
    producer = DrivenProducer(driven, "t")
    assert await producer.begin() is ErrorCode.NONE
    assert await producer.commit_offset("g", 5) is ErrorCode.NONE
    place = driven.place_of("g")
    others = [(place[0], 1 - place[1]), ("__transaction_state", 0), ("__transaction_state", 1)]
    marker = EndMarker(producer.producer, committed, 0, False)
    assert await driven.markers.write(marker, others) == dict.fromkeys(others, ErrorCode.NONE)
    assert driven.has_pending_offset("g")
    assert await driven.markers.write(marker, [place]) == {place: ErrorCode.NONE}
    assert not driven.has_pending_offset("g")
    assert driven.committed_offset("g") == (5 if committed else -1)
