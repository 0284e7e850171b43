"""Table ``alerts``: the alerts of each log with where they are from, those in a range, and what is lost."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.kafka_logs.histories import time

from kafkawire.logs import (
    Accounts,
    AlertFinder,
    OptionError,
    ReadMode,
    ReadOptions,
    UnknownColumnError,
    read_alerts,
    read_table,
    table_named,
)

LOGS = Path(__file__).parents[3] / "fixtures" / "kafka-4.3.1" / "logs"
METADATA = "__cluster_metadata-0"


def rows(path: Path, options: ReadOptions | None = None, accounts: Accounts | None = None) -> list[dict[str, Any]]:
    batches = read_table("alerts", path, options or ReadOptions(), accounts=accounts)
    return [row for batch in batches for row in batch.to_pylist()]


def test_rows_are_the_alerts_with_the_log_and_the_cluster() -> None:
    found = rows(LOGS, ReadOptions(cluster="mine"))
    alerts = read_alerts(LOGS)
    assert len(alerts) == 11
    assert [(row["rule"], row["time"], row["log_offset"], row["message"]) for row in found] == [
        (alert.rule, alert.time, alert.log_offset, alert.message) for alert in alerts
    ]
    assert {(row["cluster"], row["log"], row["_error"]) for row in found} == {("mine", f"{LOGS}/{METADATA}", None)}


def test_each_log_is_watched_by_itself(tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(LOGS / METADATA, tmp_path / name / METADATA)
    (tmp_path / "two" / METADATA / "00000000000000000315.log").unlink()
    found = rows(tmp_path)
    one = [row for row in found if "/one/" in row["log"]]
    assert [row["message"] for row in one] == [row["message"] for row in rows(LOGS)]
    assert [row["message"] for row in found[len(one) :]] == [row["message"] for row in rows(LOGS)][:-2]


def test_rules_know_what_a_snapshot_had_at_the_beginning(tmp_path: Path) -> None:
    log = shutil.copytree(LOGS / METADATA, tmp_path / METADATA)
    (log / "00000000000000000000.log").unlink()
    after = [(row["log_offset"], row["message"]) for row in rows(LOGS) if row["log_offset"] >= 202]
    assert [(row["log_offset"], row["message"]) for row in rows(tmp_path)] == after
    assert "topic payments.events was deleted, and this is left" in after[-1][1]
    names = ("acl_history", "topic_history", "config_history", "scram_history")
    histories = {name: [row for batch in read_table(name, tmp_path) for row in batch.to_pylist()] for name in names}
    found = AlertFinder().find_in_rows(histories)
    assert [(alert.log_offset, alert.message) for alert in found] == after


def test_ranges_columns_and_several_processes() -> None:
    found = rows(LOGS)
    assert rows(LOGS, ReadOptions(from_offset=100, until_offset=141)) == found[4:8]
    assert rows(LOGS, ReadOptions(from_time=found[4]["time"], until_time=found[8]["time"])) == found[4:8]
    assert rows(LOGS, ReadOptions(columns=("rule", "log_offset")))[0] == {"rule": "retention-unset", "log_offset": 69}
    assert rows(LOGS, ReadOptions(high_watermark=141)) == found[:8]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(OptionError, match="it needs a history; table 'alerts' has a row for each alert"):
        table_named("alerts", ReadOptions(as_of=time(1)))
    with pytest.raises(UnknownColumnError, match="has no column 'rules'; did you mean rule"):
        table_named("alerts", ReadOptions(columns=("rules",)))


def test_a_row_says_that_alerts_may_be_missing(tmp_path: Path) -> None:
    shutil.copytree(LOGS / METADATA, tmp_path / METADATA)
    (tmp_path / METADATA / "00000000000000000159.log").unlink()
    (tmp_path / METADATA / "00000000000000000202-0000000001.checkpoint").unlink()
    accounts = Accounts()
    found = rows(tmp_path, accounts=accounts)
    (lost,) = [row for row in found if row["_error"] is not None]
    assert (lost["_error"], lost["log_offset"], lost["rule"]) == ("offset_gap", 159, None)
    assert accounts.errors["offset_gap"] == 1
    assert accounts.balanced
    dropping = rows(tmp_path, ReadOptions(mode=ReadMode.DROPMALFORMED))
    assert [row["rule"] for row in found if row is not lost] == [row["rule"] for row in dropping]
    assert "deny-removed" in {row["rule"] for row in dropping}
