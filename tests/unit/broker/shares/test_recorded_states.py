"""Recorded states of share partitions that cannot be used."""

from __future__ import annotations

import pytest

from kafkawire.broker.share_coordinator.state import ShareState, ShareSummary
from kafkawire.broker.share_coordinator.state_batches import RecordState, StateBatch
from kafkawire.broker.shares.settings import ShareRules
from kafkawire.broker.shares.share_partition import SharePartition
from kafkawire.protocol.error_codes import ErrorCode

START = 5


def restored(first: int, last: int, state: int) -> SharePartition:
    recorded = ShareState(1, ShareSummary(0, 0, START, -1), (StateBatch(first, last, state, 1),))
    rules = ShareRules()
    return SharePartition(recorded, 0, START, rules=lambda: rules, now=lambda: 0.0, write=lambda _: ErrorCode.NONE)


@pytest.mark.parametrize(
    ("first", "last"), [(START, START), (START, START + 999_999), (START + 999_999, START + 999_999)]
)
def test_up_to_a_million_records_may_be_in_flight(first: int, last: int) -> None:
    partition = restored(first, last, RecordState.AVAILABLE)
    assert [(batch.first, batch.last) for batch in partition.batches] == [(first, last)]


@pytest.mark.parametrize(
    ("first", "last", "state"),
    [
        (START - 1, START, RecordState.AVAILABLE),
        (START + 1, START, RecordState.AVAILABLE),
        (START, START + 1_000_000, RecordState.AVAILABLE),
        (START, START, 3),
        (START, START, -1),
    ],
)
def test_other_states_are_refused(first: int, last: int, state: int) -> None:
    with pytest.raises(ValueError, match=f"^offsets {first} to {last} were recorded, which cannot be$"):
        restored(first, last, state)
