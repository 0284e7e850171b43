"""Markers that coordinators of transactions, and administrators, have written."""

from __future__ import annotations

import pytest
from tests.embedded.driven_transactions import TOPIC, DrivenTransactions

from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.transactions.markers import EndMarker
from kafkawire.protocol.error_codes import ErrorCode


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
