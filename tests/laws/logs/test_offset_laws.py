"""For any commits, in transactions or not, the offsets as of any time are those of Kafka's coordinator."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.kafka_logs.histories import history, still_open, time
from tests.made.logs import OFFSETS_LOG, Written, write_offsets_segment

from kafkawire.logs import Accounts, ReadOptions
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue

_START = 1_000_000

Offsets: TypeAlias = dict[int, tuple[int, int]]
"""Partition to the place of the record and what it committed."""


@dataclass
class Coordinator:
    """What the group coordinator of Kafka does when it loads its log."""

    valid: Offsets = field(default_factory=dict)
    pending: dict[int, Offsets] = field(default_factory=dict)

    def load(self, place: int, batch: Written) -> None:
        if batch.marker is not None:
            for partition, commit in self.pending.pop(batch.producer_id, {}).items():
                if batch.marker == "COMMIT" and self.valid.get(partition, (-1, 0)) < commit:
                    self.valid[partition] = commit
            return
        for at, (key, value, _) in enumerate(batch.records, place):
            assert isinstance(key, OffsetCommitKey)
            if isinstance(value, OffsetCommitValue):
                of = self.valid if batch.producer_id < 0 else self.pending.setdefault(batch.producer_id, {})
                of[key.partition] = (at, value.offset)
                continue
            for offsets in (self.valid, *self.pending.values()):
                offsets.pop(key.partition, None)

    def facts(self) -> set[tuple[int, int]]:
        return {(partition, offset) for partition, (_, offset) in self.valid.items()}


@st.composite
def logs(draw: st.DrawFn) -> list[Written]:
    batches: list[Written] = []
    now, count = _START, 0
    kinds = st.sampled_from(["plain", "plain", "transaction", "transaction", "tombstone", "COMMIT", "ABORT"])
    steps = st.tuples(kinds, st.integers(0, 2), st.lists(st.integers(0, 2), min_size=1, max_size=3), st.integers(7, 8))
    for kind, passed, partitions, producer_id in draw(st.lists(steps, min_size=1, max_size=14)):
        now += passed
        if kind in {"COMMIT", "ABORT"}:
            batches.append(Written(now, (), producer_id, 1, kind))
            continue
        records = []
        for partition in partitions:
            count += 1
            value = None if kind == "tombstone" else OffsetCommitValue(count)
            records.append((OffsetCommitKey("g", "t", partition), value, 3))
        batches.append(Written(now, tuple(records), producer_id if kind == "transaction" else -1, 0))
    return batches


@given(logs(), st.integers(0, 14))
@settings(max_examples=scaled(20))
def test_offsets_as_of_any_time_are_those_of_the_coordinator(batches: list[Written], cut: int) -> None:
    coordinator, place, states = Coordinator(), 0, {}
    for batch in batches:
        coordinator.load(place, batch)
        place += max(1, len(batch.records))
        states[batch.time] = coordinator.facts()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / OFFSETS_LOG
        middle = write_offsets_segment(folder, 0, batches[:cut])
        write_offsets_segment(folder, middle, batches[cut:]) if batches[cut:] else None
        for at, expected in states.items():
            rows = history("offset_commits", folder, options=ReadOptions(as_of=time(at)))
            assert {(row["partition"], row["committed_offset"]) for row in rows} == expected
        accounts = Accounts()
        rows = history("offset_commits", folder, accounts=accounts)
        assert {(row["partition"], row["committed_offset"]) for row in still_open(rows)} == coordinator.facts()
        assert len(rows) == sum(len(batch.records) for batch in batches)
        assert accounts.records_read == accounts.rows + sum(accounts.records_dropped.values()) == place
        assert {row["txn_outcome"] for row in rows if not row["is_transactional"]} <= {None}
