"""The changes of a metadata transaction hold from its end; an aborted or unfinished one changes nothing (KIP-868)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kafka_logs.histories import history, time
from tests.made.logs import METADATA_LOG, Step, write_checkpoint, write_segment

from kafkawire.logs import ReadOptions
from kafkawire.protocol import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    ConfigRecord,
    EndTransactionRecord,
    NoOpRecord,
)
from kafkawire.wire import Message


def _set(value: str | None) -> ConfigRecord:
    return ConfigRecord(2, "t", "retention.ms", value)


def _rows(tmp_path: Path, *steps: tuple[int, tuple[Message, ...]]) -> list[tuple[object, ...]]:
    write_segment(tmp_path / METADATA_LOG, 0, [Step(*step) for step in steps])
    rows = history("config_history", tmp_path)
    return [(row["value"], row["valid_from"], row["valid_to"]) for row in rows]


def test_committed(tmp_path: Path) -> None:
    rows = _rows(
        tmp_path,
        (1000, (_set("1"),)),
        (2000, (BeginTransactionRecord("several"), _set("2"))),
        (3000, (NoOpRecord(),)),
        (4000, (EndTransactionRecord(),)),
    )
    assert rows == [("1", time(1000), time(4000)), ("2", time(4000), None)]


@pytest.mark.parametrize("end", [(), (AbortTransactionRecord("controller changed"),)], ids=["open", "aborted"])
def test_not_committed(tmp_path: Path, end: tuple[Message, ...]) -> None:
    rows = _rows(tmp_path, (1000, (_set("1"),)), (2000, (BeginTransactionRecord(), _set("2"), _set(None), *end)))
    assert rows == [("1", time(1000), None)]


def test_records_after_an_aborted_one_count(tmp_path: Path) -> None:
    steps = [
        (1000, (BeginTransactionRecord(), _set("1"), AbortTransactionRecord())),
        (2000, (_set("2"),)),
        (3000, (BeginTransactionRecord(), _set("3"), EndTransactionRecord())),
    ]
    assert _rows(tmp_path, *steps) == [("2", time(2000), time(3000)), ("3", time(3000), None)]


def test_a_second_begin_aborts_the_first_transaction(tmp_path: Path) -> None:
    steps = [
        (1000, (BeginTransactionRecord("lost"), _set("1"))),
        (2000, (BeginTransactionRecord("next"), _set("2"), EndTransactionRecord())),
    ]
    assert _rows(tmp_path, *steps) == [("2", time(2000), None)]


def test_the_end_of_a_transaction_that_began_before_the_log(tmp_path: Path) -> None:
    """Its records count at once: the log does not show that they were part of a transaction."""
    folder = tmp_path / METADATA_LOG
    write_segment(folder, 10, [Step(1000, (_set("1"), EndTransactionRecord(), _set("2")))])
    rows = history("config_history", folder)
    assert [(row["value"], row["valid_to"]) for row in rows] == [("1", time(1000)), ("2", None)]


def test_a_snapshot_after_a_gap_ends_the_transaction(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    write_segment(folder, 0, [Step(1000, (BeginTransactionRecord(), _set("1")))])
    write_checkpoint(folder, 10, [_set("1")], time=2000)
    write_segment(folder, 10, [Step(3000, (_set("2"),))])
    rows = history("config_history", folder)
    assert [(row["value"], row["valid_from"]) for row in rows] == [("1", time(2000)), ("2", time(3000))]


def test_records_from_the_high_watermark_on_are_left_out(tmp_path: Path) -> None:
    """Records at it and after it are not known to be committed, in the middle of a batch as well."""
    folder = tmp_path / METADATA_LOG
    write_segment(folder, 0, [Step(1000, (_set("1"), _set("2"), _set("3")))])
    for high_watermark, expected in ((0, []), (1, ["1"]), (2, ["1", "2"]), (9, ["1", "2", "3"])):
        rows = history("config_history", folder, options=ReadOptions(high_watermark=high_watermark))
        assert [row["value"] for row in rows] == expected
