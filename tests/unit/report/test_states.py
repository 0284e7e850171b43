"""The states of transactional ids and share groups on a page equal those of their histories, and are bounded."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from tests.browser.report_data import PageData, data_of, number_at, rows_of
from tests.kafka_logs.dumps import FIXTURES
from tests.kafka_logs.histories import Row, history, time
from tests.made.logs import METADATA_LOG, TRANSACTIONS_LOG, write_batches, write_segment

from kafkawire.cli.app import main
from kafkawire.logs import ReadOptions
from kafkawire.protocol import TransactionLogKey
from kafkawire.records.coordinator_records import encode_coordinator_record
from kafkawire.wire.batches import Record, encode_batch

_LOGS = FIXTURES / "logs"


def _page(logs: Path, folder: Path, *options: str) -> PageData:
    page = folder / "report.html"
    assert main(["report", "logs", str(logs), "--out", str(page), *options]) == 0
    return data_of(page)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> PageData:
    return _page(_LOGS, tmp_path_factory.mktemp("page"))


def _milliseconds(cell: datetime | None) -> int | None:
    return None if cell is None else round(cell.timestamp() * 1000)


def _interval(row: Row) -> tuple[int | None, int | None]:
    return _milliseconds(row["valid_from"]), _milliseconds(row["valid_to"])


def test_transactions(data: PageData) -> None:
    names = ("transactional_id", "state", "producer_id", "producer_epoch")
    expected = [
        (
            *(row[name] for name in names),
            None if row["partitions"] is None else sum(len(each["partitions"]) for each in row["partitions"]),
            *_interval(row),
        )
        for row in history("transaction_history", _LOGS)
    ]
    fields = ("id", "state", "producer", "epoch", "partitions", "from", "to")
    assert [tuple(row[field] for field in fields) for row in rows_of(data, "transactions")] == expected
    (numbers,) = data["sections"]["transactions"]["numbers"]
    assert (numbers["things"], numbers["rows"]) == (4, 28)
    for at in range(1_795_250_219_000, 1_795_250_221_500, 100):
        states = [row["state"] for row in history("transaction_history", _LOGS, options=ReadOptions(as_of=time(at)))]
        found = {state: number_at(count, at) for state, count in numbers["holding"].items()}
        assert {state: number for state, number in found.items() if number} == {
            state: states.count(state) for state in states
        }


def test_share_groups(data: PageData) -> None:
    names = ("group_id", "topic_id", "partition", "start_offset", "available", "acknowledged", "archived")
    expected = [(*(row[name] for name in names), *_interval(row)) for row in history("share_group_history", _LOGS)]
    fields = ("group", "topicId", "partition", "start", "available", "acknowledged", "archived", "from", "to")
    assert [tuple(row[field] for field in fields) for row in rows_of(data, "shares")] == expected


def test_what_was_read_has_their_logs(data: PageData) -> None:
    assert {each["log"]: each["rows"] for each in data["accounts"]} == {
        "__cluster_metadata": 355,
        "__consumer_offsets": 471,
        "__transaction_state": 28,
        "__share_group_state": 36,
    }


def test_rows_that_ended_are_bounded_and_the_page_says_so(tmp_path: Path) -> None:
    data = _page(_LOGS, tmp_path, "--max-rows", "5")
    for name, valid in (("transactions", 4), ("shares", 5)):
        rows = rows_of(data, name)
        assert len([row for row in rows if row["to"] is None]) == valid
        assert len(rows) == valid + 5
    assert any("of 28 rows of transactional ids" in note for note in data["notes"])
    assert any("of 36 rows of share groups" in note for note in data["notes"])


def test_a_state_that_cannot_be_read_is_unknown_and_a_lost_batch_is_no_row(tmp_path: Path) -> None:
    write_segment(tmp_path / METADATA_LOG, 0, [])
    key, _ = encode_coordinator_record("__transaction_state", TransactionLogKey("a"), None)
    batches = [
        encode_batch([Record(timestamp=1000 * (at + 1), key=key, value=b"\0\x63newer")], base_offset=at)
        for at in (0, 1)
    ]
    write_batches(tmp_path / TRANSACTIONS_LOG, 0, [batches[0], batches[1][:-1] + b"?"])
    page = tmp_path / "report.html"
    assert main(["report", "logs", str(tmp_path), "--out", str(page)]) == 3
    (row,) = rows_of(data_of(page), "transactions")
    assert (row["id"], row["state"], row["partitions"], row["to"]) == ("a", "unknown", None, None)
