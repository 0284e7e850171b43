"""For any snapshots, updates and tombstones, the states as of any time are those of a simple coordinator."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.kafka_logs.histories import Row, history, still_open, time
from tests.made.logs import SHARES_LOG, Written, write_coordinator_segment

from kafkawire.layout import Uuid
from kafkawire.logs import ReadOptions
from kafkawire.protocol import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue
from kafkawire.wire import Message

_START = 1_000_000
_TOPIC = "__share_group_state"
_ID = Uuid(b"t" * 16)
_STATES = {0: "AVAILABLE", 2: "ACKNOWLEDGED", 4: "ARCHIVED"}

_Fact: TypeAlias = tuple[int, int | None, int, int, frozenset[tuple[str, int, int]]]


@dataclass
class _State:
    """Kept offset by offset."""

    state_epoch: int
    leader_epoch: int
    start_offset: int
    deliveries: dict[int, tuple[int, int]] = field(default_factory=dict)

    def deliver(self, first: int, last: int, state: int, times: int) -> None:
        for at in range(first, last + 1):
            self.deliveries[at] = max(self.deliveries.get(at, (0, 0)), (times, state))

    def fact(self, partition: int) -> _Fact:
        counts: dict[tuple[str, int], int] = {}
        for at, (times, state) in self.deliveries.items():
            if at >= self.start_offset:
                counts[_STATES[state], times] = counts.get((_STATES[state], times), 0) + 1
        start = None if self.start_offset < 0 else self.start_offset
        found = frozenset((*of, records) for of, records in counts.items())
        return partition, start, self.state_epoch, self.leader_epoch, found


def _fact(row: Row) -> _Fact:
    found = frozenset((each["state"], each["delivery_count"], each["records"]) for each in row["deliveries"])
    of_states = dict.fromkeys(_STATES.values(), 0)
    for state, _, records in found:
        of_states[state] += records
    assert tuple(of_states.values()) == (row["available"], row["acknowledged"], row["archived"])
    return row["partition"], row["start_offset"], row["state_epoch"], row["partition_leader_epoch"], found


_BATCHES = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 4), st.sampled_from(list(_STATES)), st.integers(1, 3)).map(
        lambda each: (each[0], each[0] + each[1], *each[2:])
    ),
    max_size=4,
)
_STEPS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(0, 1),
        st.sampled_from(["snapshot", "update", "update", "update", "tombstone"]),
        st.integers(-1, 8),
        st.integers(-1, 2),
        _BATCHES,
    ),
    min_size=1,
    max_size=14,
)


@given(_STEPS)
@settings(max_examples=scaled(25))
def test_the_states_as_of_any_time_are_those_of_the_coordinator(
    steps: list[tuple[int, int, str, int, int, list[tuple[int, int, int, int]]]],
) -> None:
    now, written, held, facts = _START, list[Written](), dict[int, _State](), {}
    for passed, partition, kind, start, epoch, batches in steps:
        now += passed
        key: Message = ShareSnapshotKey("g", _ID, partition)
        value: Message | None = None
        if kind == "tombstone":
            held.pop(partition, None)
        elif kind == "snapshot" or partition not in held:
            held[partition] = _State(epoch, epoch, start)
            value = ShareSnapshotValue(
                0, epoch, epoch, start, state_batches=tuple(ShareSnapshotValue.StateBatch(*each) for each in batches)
            )
        else:
            state, key = held[partition], ShareUpdateKey("g", _ID, partition)
            state.start_offset = state.start_offset if start < 0 else start
            state.leader_epoch = state.leader_epoch if epoch < 0 else epoch
            state.deliveries = {at: each for at, each in state.deliveries.items() if at >= state.start_offset}
            listed = tuple(ShareUpdateValue.StateBatch(*each) for each in batches)
            value = ShareUpdateValue(0, epoch, start, -1, listed)
        if value is not None:
            for each in batches:
                held[partition].deliver(*each)
            kept = held[partition]
            kept.deliveries = {at: each for at, each in kept.deliveries.items() if at >= kept.start_offset}
        written.append(Written(now, ((key, value, 0),)))
        facts[now] = {state.fact(number) for number, state in held.items()}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / SHARES_LOG
        write_coordinator_segment(folder, 0, written, _TOPIC)
        for at, expected in facts.items():
            rows = history("share_group_history", folder, options=ReadOptions(as_of=time(at)))
            assert {_fact(row) for row in rows} == expected
        assert {_fact(row) for row in still_open(history("share_group_history", folder))} == facts[now]
