"""The ACLs of a broker's own log over time are those of its state at each date."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafkawire.declared import read_log_state
from kafkawire.logs import BeforeKnowledgeError, NoLogsError, PastAcl, read_past_acls, read_table

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"


def valid(history: list[PastAcl], time: datetime) -> set[object]:
    return {
        each.acl
        for each in history
        if (each.valid_from is None or each.valid_from <= time) and (each.valid_to is None or time < each.valid_to)
    }


@pytest.mark.usefixtures("one_engine")
def test_at_each_date_they_are_the_acls_of_the_state_then() -> None:
    history = read_past_acls(LOGS)
    changes = sorted({time for each in history for time in (each.valid_from, each.valid_to) if time is not None})
    assert len(changes) > 10
    for change in changes:
        for time in (change - timedelta(milliseconds=1), change):
            assert valid(history, time) == read_log_state(LOGS, time).acls


def test_they_are_the_rows_of_acl_history() -> None:
    (batch,) = read_table("acl_history", str(LOGS))
    rows = {(row["principal"], row["resource_name"], row["valid_from"], row["valid_to"]) for row in batch.to_pylist()}
    found = {
        (each.acl.principal, each.acl.resource_name, each.valid_from, each.valid_to)
        for each in read_past_acls(LOGS / "__cluster_metadata-0")
    }
    assert found == rows


def test_a_time_of_which_not_all_acls_are_known_is_refused() -> None:
    with pytest.raises(BeforeKnowledgeError, match="the whole state is known since"):
        read_past_acls(LOGS, datetime(2001, 1, 1, tzinfo=UTC))


def test_a_folder_without_a_metadata_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoLogsError, match="no segment"):
        read_past_acls(tmp_path)
