"""State as of a time: what was valid then, or an error that names the first known time."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES
from tests.kafka_logs.histories import history, time
from tests.made.logs import (
    METADATA_LOG,
    OFFSETS_LOG,
    Step,
    Written,
    write_checkpoint,
    write_offsets_segment,
    write_segment,
)

from kafkawire.logs import BeforeKnowledgeError, ReadOptions
from kafkawire.protocol import ConfigRecord, OffsetCommitKey, OffsetCommitValue

_LOGS = FIXTURES / "logs"


def _set(name: str, value: str) -> ConfigRecord:
    return ConfigRecord(2, "t", name, value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Snapshot of 10 at 1000; then a record every second."""
    folder = tmp_path / METADATA_LOG
    write_checkpoint(folder, 10, [_set("segment.ms", "0"), _set("retention.ms", "0")], time=1000)
    write_segment(folder, 10, [Step(1000 + each * 1000, (_set("retention.ms", str(each)),)) for each in (1, 2, 3)])
    return folder


@pytest.mark.parametrize(
    ("at", "retention"), [(1000, "0"), (1999, "0"), (2000, "1"), (2999, "1"), (3000, "2"), (4000, "3"), (10**9, "3")]
)
def test_the_state_as_of_a_time(folder: Path, at: int, retention: str) -> None:
    rows = history("config_history", folder, options=ReadOptions(as_of=time(at)))
    assert {row["name"]: row["value"] for row in rows} == {"segment.ms": "0", "retention.ms": retention}


def test_a_time_before_the_first_snapshot_is_an_error(folder: Path) -> None:
    with pytest.raises(BeforeKnowledgeError) as caught:
        history("config_history", folder, options=ReadOptions(as_of=time(999)))
    assert str(caught.value) == (
        f"{folder}: the state at 1970-01-01T00:00:00.999000+00:00 is unknown: "
        "the whole state is known since 1970-01-01T00:00:01+00:00"
    )
    assert caught.value.begins == time(1000)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301 our own


@pytest.mark.parametrize("name", ["acl_history", "quota_history", "config_history", "scram_history", "topic_history"])
def test_a_time_before_the_first_record_is_an_error(name: str) -> None:
    with pytest.raises(BeforeKnowledgeError, match="the whole state is known since 2026-11-21T08:36:"):
        history(name, _LOGS, options=ReadOptions(as_of=datetime(2026, 11, 21, tzinfo=UTC)))


@pytest.mark.parametrize(
    "name", ["offset_commits", "group_history", "transaction_history", "share_group_history", "lag_history"]
)
def test_a_complete_offsets_partition_was_empty_before_its_first_record(name: str) -> None:
    """Most partitions of a cluster begin long after the cluster."""
    assert history(name, _LOGS, options=ReadOptions(as_of=datetime(2026, 11, 21, tzinfo=UTC))) == []


def test_the_error_for_an_offsets_partition_without_its_beginning_names_the_first_time(tmp_path: Path) -> None:
    commit = Written(5000, ((OffsetCommitKey("g", "t", 0), OffsetCommitValue(1), 3),))
    write_offsets_segment(tmp_path / OFFSETS_LOG, 7, [commit])
    (row,) = history("offset_commits", tmp_path, options=ReadOptions(as_of=time(5000)))
    assert row["committed_offset"] == 1
    with pytest.raises(BeforeKnowledgeError, match="the whole state is known since 1970-01-01T00:00:05"):
        history("offset_commits", tmp_path, options=ReadOptions(as_of=time(4999)))


def test_lost_batches_are_in_no_state_as_of_a_time(tmp_path: Path) -> None:
    commit = Written(5000, ((OffsetCommitKey("g", "t", 0), OffsetCommitValue(1), 3),))
    write_offsets_segment(tmp_path / OFFSETS_LOG, 0, [commit, commit])
    path = tmp_path / OFFSETS_LOG / f"{0:020d}.log"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert len(history("offset_commits", tmp_path)) == 2
    (row,) = history("offset_commits", tmp_path, options=ReadOptions(as_of=time(9000)))
    assert row["_error"] is None


def test_an_empty_log_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    write_segment(folder, 0, [])
    with pytest.raises(BeforeKnowledgeError, match="nothing of the log could be read"):
        history("acl_history", folder, options=ReadOptions(as_of=time(0)))


def test_times_with_and_without_a_zone(folder: Path) -> None:
    """A time without a zone is UTC."""
    east = timezone(timedelta(hours=2))
    for at in (time(2000), time(2000).astimezone(east), time(2000).replace(tzinfo=None)):
        rows = history("config_history", folder, options=ReadOptions(as_of=at))
        assert {row["value"] for row in rows} == {"0", "1"}


@pytest.mark.parametrize(
    "name",
    [
        *("acl_history", "quota_history", "config_history"),
        *("offset_commits", "group_history", "transaction_history", "share_group_history"),
    ],
)
def test_the_real_logs_at_many_times(name: str) -> None:
    """The rows as of a time are those of the whole history that were valid then."""
    rows = history(name, _LOGS)
    first = {  # both partitions of the offsets are known from here on
        "offset_commits": datetime(2026, 11, 21, 8, 36, 45, tzinfo=UTC),
        "group_history": datetime(2026, 11, 21, 8, 36, 45, tzinfo=UTC),
        "transaction_history": datetime(2026, 11, 21, 8, 36, 45, tzinfo=UTC),
        "share_group_history": datetime(2026, 11, 21, 8, 36, 45, tzinfo=UTC),
    }.get(name, datetime(2026, 11, 21, 8, 36, 30, tzinfo=UTC))
    for at in (first + timedelta(seconds=step) for step in range(0, 60, 6)):
        valid = [row for row in rows if row["valid_from"] <= at and (row["valid_to"] is None or at < row["valid_to"])]
        found = history(name, _LOGS, options=ReadOptions(as_of=at))
        assert sorted(found, key=str) == sorted(valid, key=str)


def test_span_of_times_and_offsets(folder: Path) -> None:
    """Rows that were valid at some time of a span, or between offsets; the end is excluded."""

    def values(options: ReadOptions) -> list[str]:
        rows = history("config_history", folder, options=options)
        return sorted(row["value"] for row in rows if row["name"] == "retention.ms")

    assert values(ReadOptions(from_time=time(2500))) == ["1", "2", "3"]
    assert values(ReadOptions(until_time=time(3000))) == ["0", "1"]
    assert values(ReadOptions(from_offset=12)) == ["2", "3"]
    assert values(ReadOptions(until_offset=11)) == ["0", "1"]


@pytest.mark.parametrize(("base_offset", "error"), [(0, None), (7, "nothing of the log could be read")])
def test_an_offsets_partition_without_records_was_always_empty_if_it_begins_at_0(
    base_offset: int, error: str | None, tmp_path: Path
) -> None:
    write_offsets_segment(tmp_path / OFFSETS_LOG, base_offset, [])
    options = ReadOptions(as_of=time(4999))
    if error is None:
        assert history("offset_commits", tmp_path, options=options) == []
        return
    with pytest.raises(BeforeKnowledgeError, match=error):
        history("offset_commits", tmp_path, options=options)


def test_a_damaged_offsets_partition_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    commit = Written(5000, ((OffsetCommitKey("g", "t", 0), OffsetCommitValue(1), 3),))
    write_offsets_segment(tmp_path / OFFSETS_LOG, 0, [commit])
    path = tmp_path / OFFSETS_LOG / f"{0:020d}.log"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(BeforeKnowledgeError, match="nothing of the log could be read"):
        history("offset_commits", tmp_path, options=ReadOptions(as_of=time(4999)))
