"""For any records and commits, the lag of a commit, and as of any time, is what a watcher of the partitions saw."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal, TypeAlias

from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.kafka_logs.histories import history, time
from tests.made.logs import OFFSETS_LOG, Written, write_batches, write_offsets_segment

from kafkawire.logs import ReadOptions
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue
from kafkawire.wire.batches import Record, encode_batch

_START = 1_000_000
_Step: TypeAlias = tuple[int, Literal["produce", "commit"], int, int]
"""Passed milliseconds, what is done, the partition, and how many records are written or left."""

_STEPS = st.lists(
    st.tuples(st.integers(1, 3), st.sampled_from(["produce", "commit"]), st.integers(0, 1), st.integers(1, 4)),
    min_size=1,
    max_size=14,
)


@given(_STEPS, st.integers(0, 6))
@settings(max_examples=scaled(25))
def test_the_lag_is_what_a_watcher_saw(steps: list[_Step], rolled: int) -> None:
    """With the times of the broker it is exact, however the log is cut into segments."""
    ends, committed = {0: 0, 1: 0}, dict[int, int]()
    batches: dict[int, list[bytes]] = {0: [], 1: []}
    bases: dict[int, list[int]] = {0: [], 1: []}
    commits, at_commit, now, watched = list[Written](), list[int](), _START, {}
    for passed, what, partition, number in steps:
        now += passed
        if what == "produce":
            records = [Record(timestamp=5, offset=ends[partition] + each, value=b"v") for each in range(number)]
            batches[partition].append(encode_batch(records, base_offset=ends[partition], log_append_time=now))
            bases[partition].append(ends[partition])
            ends[partition] += number
        else:
            committed[partition] = max(0, ends[partition] - number)
            commits.append(
                Written(now, ((OffsetCommitKey("g", "t", partition), OffsetCommitValue(committed[partition]), 3),))
            )
            at_commit.append(ends[partition] - committed[partition])
        watched[now] = {partition: ends[partition] - offset for partition, offset in committed.items()}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_offsets_segment(folder / OFFSETS_LOG, 0, commits)
        for partition, encoded in batches.items():
            cut = min(rolled, len(encoded))
            write_batches(folder / f"t-{partition}", 0, encoded[:cut])
            if encoded[cut:]:
                write_batches(folder / f"t-{partition}", bases[partition][cut], encoded[cut:])
        rows = sorted(history("lag_history", folder), key=lambda row: row["log_offset"])
        assert [row["lag"] for row in rows] == at_commit
        assert {row["partition"]: row["last_lag"] for row in rows if row["valid_to"] is None} == watched[now]
        for at, expected in watched.items():
            found = history("lag_history", folder, options=ReadOptions(as_of=time(at)))
            assert {row["partition"]: row["last_lag"] for row in found} == expected
