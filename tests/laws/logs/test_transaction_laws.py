"""For any records of transactional ids, the states as of any time are those that Kafka's coordinator would load."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec
from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.kafka_logs.histories import history, still_open, time
from tests.made.logs import TRANSACTIONS_LOG, Written, write_coordinator_segment

from kafkawire.logs import Accounts, ReadOptions
from kafkawire.protocol import TransactionLogKey, TransactionLogValue

_START = 1_000_000
_NAMES = ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead")
_TOPIC = "__transaction_state"


class _Step(msgspec.Struct, frozen=True):
    passed: int
    transactional_id: str
    value: TransactionLogValue | None
    version: int


_PARTITIONS = st.lists(st.sampled_from(["t", "u"]), unique=True).map(
    lambda topics: tuple(TransactionLogValue.PartitionsSchema(topic, (0,)) for topic in topics)
)
_VALUES = st.builds(
    TransactionLogValue,
    producer_id=st.integers(0, 2),
    producer_epoch=st.integers(0, 1),
    transaction_timeout_ms=st.just(1000),
    transaction_status=st.integers(0, len(_NAMES) - 1),
    transaction_partitions=st.none() | _PARTITIONS,
)
_STEPS = st.lists(
    st.builds(_Step, st.integers(0, 2), st.sampled_from(["a", "b"]), st.none() | _VALUES, st.integers(0, 1)),
    min_size=1,
    max_size=14,
)


def _facts(state: dict[str, TransactionLogValue]) -> set[tuple[object, ...]]:
    return {
        (
            transactional_id,
            _NAMES[value.transaction_status],
            value.producer_id,
            value.producer_epoch,
            None
            if value.transaction_partitions is None
            else frozenset(each.topic for each in value.transaction_partitions),
        )
        for transactional_id, value in state.items()
    }


def _of_rows(rows: list[dict[str, object]]) -> set[tuple[object, ...]]:
    found = set[tuple[object, ...]]()
    for row in rows:
        partitions = row["partitions"]
        topics = frozenset(each["topic"] for each in partitions) if isinstance(partitions, list) else None
        found.add((row["transactional_id"], row["state"], row["producer_id"], row["producer_epoch"], topics))
    return found


@given(_STEPS, st.integers(0, 14))
@settings(max_examples=scaled(25))
def test_the_states_as_of_any_time_are_those_of_the_coordinator(steps: list[_Step], cut: int) -> None:
    now, state, states, batches = _START, dict[str, TransactionLogValue](), {}, list[Written]()
    for step in steps:
        now += step.passed
        batches.append(Written(now, ((TransactionLogKey(step.transactional_id), step.value, step.version),)))
        if step.value is None:
            state.pop(step.transactional_id, None)
        else:
            state[step.transactional_id] = step.value
        states[now] = _facts(state)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / TRANSACTIONS_LOG
        middle = write_coordinator_segment(folder, 0, batches[:cut], _TOPIC)
        if batches[cut:]:
            write_coordinator_segment(folder, middle, batches[cut:], _TOPIC)
        for at, expected in states.items():
            assert _of_rows(history("transaction_history", folder, options=ReadOptions(as_of=time(at)))) == expected
        accounts = Accounts()
        rows = history("transaction_history", folder, accounts=accounts)
        assert _of_rows(still_open(rows)) == _facts(state)
        assert accounts.records_read == len(steps)
        for row in rows:
            assert (row["valid_to"] is None) == (row["to_offset"] is None)
            assert row["from_offset"] == row["log_offset"]
