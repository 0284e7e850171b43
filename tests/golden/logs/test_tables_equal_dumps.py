"""Every row of the tables of the real logs, compared with the output of kafka-dump-log for the same files."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from tests.kafka_logs.dumped_tables import (
    assert_batches_as_dumped,
    assert_records_as_dumped,
    assert_typed_as_dumped,
    record_of,
    rows_of,
)
from tests.kafka_logs.dumps import FIXTURES, RealLog, real_logs

from kafkawire.logs import Accounts, read_table, table_names
from kafkawire.logs.registry import BUILT_IN
from kafkawire.logs.tables.typed_tables import typed_table_names

each_log = pytest.mark.parametrize("log", real_logs(), ids=lambda log: log.name)
LOGS = str(FIXTURES / "logs")


@each_log
def test_batches(log: RealLog) -> None:
    assert_batches_as_dumped(rows_of("batches", str(log.path)), log.read_dump())


@each_log
def test_records(log: RealLog) -> None:
    assert_records_as_dumped(rows_of("records", str(log.path)), log.read_dump())


def test_typed_tables() -> None:
    """Each row that is no control record is in exactly one typed table, with the same fields."""
    said = {
        (str(log.path), record.offset): record_of(record)
        for log in real_logs()
        for batch in log.read_dump()
        if not batch.control
        for record in batch.records
    }
    seen: Counter[tuple[str, int]] = Counter()
    for table in typed_tables():
        for row in rows_of(table, LOGS):
            place = row["file"], row["log_offset"]
            assert row["_error"] is None
            assert_typed_as_dumped(row, said[place])
            seen[place] += 1
    assert seen == dict.fromkeys(said, 1)


def test_control_records_are_named_and_have_their_content() -> None:
    rows = [row for row in rows_of("records", LOGS) if row["record_type"] in CONTROL_TYPES]
    assert Counter(row["record_type"] for row in rows) == {
        "COMMIT": 3, "LEADER_CHANGE": 2, "SNAPSHOT_HEADER": 2, "SNAPSHOT_FOOTER": 2,
        "KRAFT_VERSION": 3, "KRAFT_VOTERS": 3,
    }  # fmt: skip
    contents = {row["record_type"]: json.loads(row["json"]) for row in rows}
    assert contents["COMMIT"] == {"type": "COMMIT", "version": 0, "data": {"coordinatorEpoch": 0}}
    assert contents["KRAFT_VERSION"]["data"] == {"version": 0, "kRaftVersion": 1}


def test_every_byte_and_record_is_accounted_for() -> None:
    size = sum(log.path.stat().st_size for log in real_logs())
    for table in ("batches", "records"):
        accounts = Accounts()
        rows = sum(batch.num_rows for batch in read_table(table, LOGS, accounts=accounts))
        assert accounts.bytes_read == accounts.bytes_decoded == size
        assert accounts.rows == rows
        assert accounts.records_read == rows + sum(accounts.records_dropped.values())
        assert not accounts.errors


CONTROL_TYPES = ("COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER", "KRAFT_VERSION", "KRAFT_VOTERS")


def typed_tables() -> list[str]:
    assert set(typed_table_names(BUILT_IN)) <= set(table_names())
    return list(typed_table_names(BUILT_IN))
