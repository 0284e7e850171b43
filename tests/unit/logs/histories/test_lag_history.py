"""How far groups were from the ends of their partitions, from their commits and the logs of the partitions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES
from tests.kafka_logs.histories import Row, history, time
from tests.made.logs import OFFSETS_LOG, Written, write_batches, write_offsets_segment

from kafkawire.logs import Accounts, NoLogsError, ReadMode, ReadOptions, find_log_files, plan, table_named
from kafkawire.logs.planning import find_logs
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue
from kafkawire.wire.batches import Record, encode_batch

_ENDS = ("end_offset", "lag", "last_end_offset", "last_lag")


def _commit(at: int, offset: int | None, *, partition: int = 0, producer_id: int = -1) -> Written:
    value = None if offset is None else OffsetCommitValue(offset)
    return Written(at, ((OffsetCommitKey("g", "t", partition), value, 3),), producer_id)


def _marker(at: int, marker: str) -> Written:
    return Written(at, (), 7, 0, marker)


def _write_commits(folder: Path, *commits: Written) -> None:
    write_offsets_segment(folder / OFFSETS_LOG, 0, commits)


def _write_partition(
    folder: Path, *batches: tuple[int, int], start: int = 0, broker_time: bool = True, log: str = "t-0"
) -> Path:
    """Batches of a partition: the time of each, and how many records it has."""
    offset, encoded = start, []
    for at, count in batches:
        records = [Record(timestamp=at, offset=offset + each, value=b"v") for each in range(count)]
        encoded.append(encode_batch(records, base_offset=offset, log_append_time=at if broker_time else None))
        offset += count
    return write_batches(folder / log, start, encoded)


def _lags(rows: Sequence[Row]) -> list[tuple[int | None, ...]]:
    return [(row["committed_offset"], *(row[name] for name in _ENDS)) for row in rows]


def test_a_row_has_the_lag_at_its_commit_and_at_its_end(tmp_path: Path) -> None:
    _write_partition(tmp_path, (1000, 10), (2000, 10), (2500, 10), (4000, 10))
    _write_commits(tmp_path, _commit(2000, 5), _commit(3000, 25))
    first, second = history("lag_history", tmp_path)
    place = {"cluster", "file", "batch_position", "leader_epoch", "append_time"}
    assert {name: cell for name, cell in first.items() if name not in place} == {
        "log_offset": 0,
        "group_id": "g",
        "topic": "t",
        "partition": 0,
        "committed_offset": 5,
        "valid_from": time(2000),
        "valid_to": time(3000),
        "to_offset": 1,
        "end_offset": 20,
        "lag": 15,
        "last_end_offset": 30,
        "last_lag": 25,
        "timestamp_type": "LogAppendTime",
        "_error": None,
        "_corrupt_record": None,
    }
    assert _lags([second]) == [(25, 30, 5, 40, 15)]


@pytest.mark.parametrize(("at", "end", "lag"), [(2000, 20, 15), (2499, 20, 15), (2500, 30, 25), (2999, 30, 25)])
def test_as_of_a_time_the_last_lag_is_that_of_the_time(at: int, end: int, lag: int, tmp_path: Path) -> None:
    _write_partition(tmp_path, (1000, 10), (2000, 10), (2500, 10), (4000, 10))
    _write_commits(tmp_path, _commit(2000, 5), _commit(3000, 25))
    assert _lags(history("lag_history", tmp_path, options=ReadOptions(as_of=time(at)))) == [(5, 20, 15, end, lag)]


def test_without_the_log_of_the_partition_the_lag_is_unknown(tmp_path: Path) -> None:
    _write_commits(tmp_path, _commit(2000, 5))
    assert _lags(history("lag_history", tmp_path)) == [(5, None, None, None, None)]


def test_a_copy_that_does_not_reach_a_commit_has_no_end_for_it(tmp_path: Path) -> None:
    _write_partition(tmp_path, (1000, 10))
    _write_commits(tmp_path, _commit(2000, 8), _commit(3000, 11))
    assert _lags(history("lag_history", tmp_path)) == [(8, 10, 2, 10, 2), (11, None, None, None, None)]


def test_before_the_first_batch_of_a_complete_log_its_end_was_0(tmp_path: Path) -> None:
    _write_partition(tmp_path, (2000, 10))
    _write_commits(tmp_path, _commit(1000, 0))
    assert _lags(history("lag_history", tmp_path)) == [(0, 0, 0, 10, 10)]


def test_before_the_first_batch_that_is_left_the_end_is_what_a_group_had_reached(tmp_path: Path) -> None:
    """All records before the log's start are deleted: only a commit of that offset shows the end."""
    _write_partition(tmp_path, (2000, 10), start=50)
    _write_commits(tmp_path, _commit(1000, 40), _commit(1500, 50))
    assert _lags(history("lag_history", tmp_path)) == [(40, None, None, None, None), (50, 50, 0, 60, 10)]


def test_a_log_whose_records_are_all_deleted(tmp_path: Path) -> None:
    _write_partition(tmp_path, start=50)
    _write_commits(tmp_path, _commit(1000, 40))
    assert _lags(history("lag_history", tmp_path)) == [(40, None, None, 50, 10)]


def test_a_log_of_several_segments_with_an_overlap(tmp_path: Path) -> None:
    _write_partition(tmp_path, (1000, 10), (2000, 10))
    _write_partition(tmp_path, (2000, 10), (3000, 10), start=10)
    _write_commits(tmp_path, _commit(1500, 5), _commit(2500, 5), _commit(3500, 5))
    assert [row["end_offset"] for row in history("lag_history", tmp_path)] == [10, 20, 30]


def test_clocks_of_producers_are_said_and_never_give_an_end_before_a_commit(tmp_path: Path) -> None:
    """A producer whose clock is ahead wrote what a group has read before its time."""
    _write_partition(tmp_path, (1000, 10), (9000, 10), (2000, 10), broker_time=False)
    _write_commits(tmp_path, _commit(1500, 5), _commit(2500, 12), _commit(9000, 30))
    rows = history("lag_history", tmp_path)
    assert _lags(rows) == [(5, 10, 5, 10, 5), (12, 12, 0, 30, 18), (30, 30, 0, 30, 0)]
    assert {row["timestamp_type"] for row in rows} == {"CreateTime"}


def test_of_two_kinds_of_times_the_less_certain_is_said(tmp_path: Path) -> None:
    first, second = (
        encode_batch([Record(timestamp=at, value=b"v")], base_offset=base, log_append_time=append)
        for at, base, append in ((1000, 0, 1000), (2000, 1, None))
    )
    write_batches(tmp_path / "t-0", 0, [first, second])
    _write_commits(tmp_path, _commit(1500, 0), _commit(1600, 0))
    rows = history("lag_history", tmp_path)
    assert [row["timestamp_type"] for row in rows] == ["LogAppendTime", "CreateTime"]


def test_a_commit_in_a_transaction_counts_from_its_marker(tmp_path: Path) -> None:
    _write_partition(tmp_path, (1000, 10), (2500, 10))
    _write_commits(
        tmp_path,
        _commit(2000, 4, producer_id=7),
        _marker(3000, "COMMIT"),
        _commit(3500, 6, producer_id=7),
        _marker(3600, "ABORT"),
        _commit(4000, 8, producer_id=7),
    )
    accounts = Accounts()
    (row,) = history("lag_history", tmp_path, accounts=accounts)
    assert (row["valid_from"], row["end_offset"], row["lag"]) == (time(3000), 20, 16)
    assert accounts.records_read == accounts.rows + sum(accounts.records_dropped.values())
    assert accounts.records_dropped == {"control": 2, "filtered": 2}


def test_tombstones_end_rows_and_are_none(tmp_path: Path) -> None:
    _write_partition(tmp_path, (1000, 10))
    _write_commits(tmp_path, _commit(2000, 4), _commit(3000, None))
    (row,) = history("lag_history", tmp_path)
    assert (row["valid_to"], row["lag"]) == (time(3000), 6)


def test_of_the_copies_of_several_brokers_the_furthest_counts(tmp_path: Path) -> None:
    for broker, batches in (("one", [(1000, 10)]), ("two", [(1000, 10), (1500, 10)])):
        _write_partition(tmp_path / broker, *batches)
        (tmp_path / broker / "meta.properties").write_text("version=1\ncluster.id=same\n")
    _write_commits(tmp_path / "one", _commit(2000, 4))
    (row,) = history("lag_history", tmp_path)
    assert (row["cluster"], row["end_offset"]) == ("same", 20)


def test_logs_of_several_clusters_are_kept_apart(tmp_path: Path) -> None:
    """Without an id, the logs of a cluster are those in one folder."""
    for name, count in (("one", 10), ("two", 20)):
        _write_partition(tmp_path / name, (1000, count))
        _write_commits(tmp_path / name, _commit(2000, 4))
    _write_partition(tmp_path / "three", (1000, 5))
    assert sorted(row["end_offset"] for row in history("lag_history", tmp_path)) == [10, 20]
    files = find_log_files([str(tmp_path)])
    assert len(plan(table_named("lag_history"), files)) == 3
    assert len(plan(table_named("lag_history"), files, options=ReadOptions(cluster="all"))) == 1


def test_damage_of_either_log_is_counted(tmp_path: Path) -> None:
    partition = _write_partition(tmp_path, (1000, 10), (1500, 10), (1800, 10))
    _write_commits(tmp_path, _commit(2000, 4), _commit(3000, 5))
    for path in (partition, tmp_path / OFFSETS_LOG / f"{0:020d}.log"):
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
    accounts = Accounts()
    rows = history("lag_history", tmp_path, accounts=accounts)
    assert {(row["_error"], row["committed_offset"], row["end_offset"]) for row in rows} == {
        (None, 4, 20),
        ("bad_crc", None, None),
    }
    assert accounts.errors == {"bad_crc": 2}
    dropping = ReadOptions(mode=ReadMode.DROPMALFORMED)
    assert _lags(history("lag_history", tmp_path, options=dropping)) == [(4, 20, 16, 20, 16)]


def test_logs_of_partitions_alone_are_not_enough(tmp_path: Path) -> None:
    _write_partition(tmp_path, (1000, 10))
    with pytest.raises(NoLogsError, match="table lag_history needs a log of __consumer_offsets, and only t-0 is there"):
        find_logs([tmp_path]).needed_by(table_named("lag_history"))


def test_a_partition_without_commits_is_not_read(tmp_path: Path) -> None:
    _write_partition(tmp_path, (1000, 10))
    unread = _write_partition(tmp_path, (1000, 10), log="t-1")
    _write_commits(tmp_path, _commit(2000, 4))
    accounts = Accounts()
    history("lag_history", tmp_path, accounts=accounts)
    files = find_log_files([str(tmp_path)])
    assert accounts.bytes_read == sum(file.size for file in files) - unread.stat().st_size


def test_some_columns(tmp_path: Path) -> None:
    _write_partition(tmp_path, (1000, 10))
    _write_commits(tmp_path, _commit(2000, 4))
    assert history("lag_history", tmp_path, options=ReadOptions(columns=("last_lag", "group_id"))) == [
        {"last_lag": 6, "group_id": "g"}
    ]


def test_the_commits_are_those_of_their_own_history() -> None:
    """The fixtures have no logs of the topics that the groups read."""
    names = ("file", "log_offset", "group_id", "topic", "partition", "committed_offset", "valid_from", "valid_to")
    commits = [
        tuple(row[name] for name in names)
        for row in history("offset_commits", FIXTURES / "logs")
        if not row["tombstone"] and row["txn_outcome"] not in {"aborted", "open"}
    ]
    rows = history("lag_history", FIXTURES / "logs")
    assert [tuple(row[name] for name in names) for row in rows] == commits
    assert {row["lag"] for row in rows} == {None}
