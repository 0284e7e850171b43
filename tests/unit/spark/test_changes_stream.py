"""A stream of a history or of alerts returns what is new since the micro-batch before, however the log grows."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from hypothesis import given, settings, strategies as st
from tests.apache_spark.following import Followed, Row
from tests.hypothesis_profiles import scaled

from kafkawire.logs import LogReadError, read_table
from kafkawire.spark.options import OptionError
from kafkawire.spark.source import KafkaLogSource

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"
METADATA = LOGS / "__cluster_metadata-0"
OFFSETS = LOGS / "__consumer_offsets-0"


def followed(folder: Path, table: str, **options: str) -> Followed:
    states = folder.parent / "states"
    return Followed(folder, {"table": table, "statePath": str(states), **options})


def kept(rows: Sequence[Row]) -> list[str]:
    """The last row of each interval, without the id."""
    return sorted(map(repr, {row[-1]: row[:-1] for row in rows}.values()))


def whole(folder: Path, table: str) -> list[str]:
    rows = (row for batch in read_table(table, folder) for row in batch.to_pylist())
    return sorted(repr(tuple(row.values())) for row in rows)


def alerts_of(folder: Path) -> list[Row]:
    return [tuple(row.values()) for batch in read_table("alerts", folder) for row in batch.to_pylist()]


def grow(source: Path, log: Path, size: int) -> None:
    """Copy the first bytes of the segments of a log."""
    log.mkdir(parents=True, exist_ok=True)
    for segment in sorted(source.glob("*.log")):
        if size > 0 or not any(log.iterdir()):
            (log / segment.name).write_bytes(segment.read_bytes()[: max(size, 0)])
        size -= segment.stat().st_size


def size_of(source: Path) -> int:
    return sum(segment.stat().st_size for segment in source.glob("*.log"))


@pytest.mark.parametrize(
    ("table", "source"),
    [
        ("acl_history", METADATA),
        ("config_history", METADATA),
        ("partition_history", METADATA),
        ("broker_history", METADATA),
        ("offset_commits", OFFSETS),
        ("group_history", OFFSETS),
        ("transaction_history", LOGS / "__transaction_state-0"),
    ],
)
@given(cuts=st.lists(st.integers(0, 1000), max_size=5), budget=st.sampled_from(["", "2000"]))
@settings(max_examples=scaled(8), deadline=None)
def test_a_log_that_grows_in_pieces_cut_anywhere_has_its_rows(
    tmp_path_factory: pytest.TempPathFactory, table: str, source: Path, cuts: list[int], budget: str
) -> None:
    folder = tmp_path_factory.mktemp("stream") / "data"
    query = followed(folder, table, maxBytesPerTrigger=budget) if budget else followed(folder, table)
    for cut in [*sorted(cuts), 1000]:
        grow(source, folder / source.name, size_of(source) * cut // 1000)
        query.look()
    assert kept(query.rows) == whole(folder, table)


@pytest.mark.usefixtures("one_engine")
@given(cuts=st.lists(st.integers(0, 1000), max_size=5), budget=st.sampled_from(["1000", "100m"]))
@settings(max_examples=scaled(8), deadline=None)
def test_alerts_of_a_log_that_grows_come_once(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], budget: str
) -> None:
    folder = tmp_path_factory.mktemp("stream") / "data"
    query = followed(folder, "alerts", maxBytesPerTrigger=budget)
    for cut in [*sorted(cuts), 1000]:
        grow(METADATA, folder / METADATA.name, size_of(METADATA) * cut // 1000)
        query.look()
    assert query.rows == alerts_of(folder) != []


@pytest.mark.parametrize("table", ["acl_history", "alerts"])
def test_a_micro_batch_that_is_run_again_returns_the_same_rows(tmp_path: Path, table: str) -> None:
    query = followed(tmp_path / "data", table)
    grow(METADATA, tmp_path / "data" / METADATA.name, size_of(METADATA) // 2)
    query.look()
    begin = query.position
    grow(METADATA, tmp_path / "data" / METADATA.name, size_of(METADATA))
    first = query.look()
    query.planned, query.position = query.position, begin
    assert query.look() == first != []


def test_a_lost_or_damaged_state_is_computed_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    query = followed(tmp_path / "data", "acl_history")
    for share, break_it in ((3, Path.unlink), (2, _damage), (1, _damage)):
        grow(METADATA, tmp_path / "data" / METADATA.name, size_of(METADATA) // share)
        with caplog.at_level(logging.WARNING):
            query.look()
        for state in (tmp_path / "states").rglob("*.state"):
            break_it(state)
    assert kept(query.rows) == whole(tmp_path / "data", "acl_history")
    assert [record.message.rpartition("; ")[2] for record in caplog.records] == ["it is computed again"] * 2


def _damage(file: Path) -> None:
    octets = bytearray(file.read_bytes())
    octets[len(octets) // 2] ^= 1
    file.write_bytes(octets)


def test_a_lost_state_of_alerts_is_computed_anew(tmp_path: Path) -> None:
    query = followed(tmp_path / "data", "alerts")
    for share in (2, 1):
        grow(METADATA, tmp_path / "data" / METADATA.name, size_of(METADATA) // share)
        query.look()
        for state in (tmp_path / "states").rglob("*.state"):
            state.unlink()
    assert query.rows == alerts_of(tmp_path / "data") != []


def test_alerts_of_a_log_that_begins_with_a_snapshot_are_those_of_the_table(tmp_path: Path) -> None:
    log = shutil.copytree(METADATA, tmp_path / "data" / METADATA.name)
    min(log.glob("*.log")).unlink()
    query = followed(tmp_path / "data", "alerts", maxBytesPerTrigger="1000")
    query.look()
    assert query.steps > 4
    assert query.rows == alerts_of(tmp_path / "data") != []


def test_a_lost_state_of_a_log_without_its_beginning_is_an_error(tmp_path: Path) -> None:
    log = tmp_path / "data" / METADATA.name
    query = followed(tmp_path / "data", "acl_history")
    first, _, third = sorted(METADATA.glob("*.log"))
    shutil.copytree(METADATA, log, ignore=shutil.ignore_patterns(third.name, "*.checkpoint"))
    query.look()
    shutil.rmtree(tmp_path / "states")
    (log / first.name).unlink()
    shutil.copy(third, log)
    with pytest.raises(LogReadError, match="no longer has its beginning: start a query with a new checkpoint"):
        query.look()


def test_commit_leaves_the_state_of_the_last_position(tmp_path: Path) -> None:
    query = followed(tmp_path / "data", "acl_history")
    for share in (3, 2, 1):
        grow(METADATA, tmp_path / "data" / METADATA.name, size_of(METADATA) // share)
        query.look()
    assert len([*(tmp_path / "states").rglob("*.state")]) == 3
    query.reader().commit(json.loads(query.position))
    assert len([*(tmp_path / "states").rglob("*.state")]) == 1
    assert query.look() == []


@pytest.mark.parametrize("table", ["acl_history", "alerts"])
def test_a_stream_that_continues_from_a_state_needs_a_folder_for_it(tmp_path: Path, table: str) -> None:
    with pytest.raises(OptionError, match=f"option 'statePath': a stream of {table} keeps states"):
        Followed(tmp_path, {"table": table, "columns": "cluster"}).reader()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"table": "acl_history", "asOf": "2026-03-01"}, "option 'asOf': changes have all rows"),
        ({"table": "records"}, "table 'records' has no changes: only alerts and histories of one log have them"),
        ({"table": "alerts", "fromOffset": "5"}, "option 'fromOffset': changes have all rows"),
    ],
)
def test_options_that_do_not_fit_a_stream_of_changes_are_refused(
    tmp_path: Path, options: dict[str, str], reason: str
) -> None:
    source = KafkaLogSource({"path": str(LOGS), "statePath": str(tmp_path), **options})
    with pytest.raises(OptionError, match=reason):
        source.schema()


def test_a_batch_read_refuses_the_folder_for_states(tmp_path: Path) -> None:
    source = KafkaLogSource({"path": str(LOGS), "statePath": str(tmp_path), "table": "acl_history"})
    with pytest.raises(OptionError, match="option 'statePath': it is for"):
        source.reader(source.schema())
