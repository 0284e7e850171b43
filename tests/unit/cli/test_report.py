"""``kafkawire report logs`` on the logs of a real cluster: the contents of the page, and errors."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.browser.report_data import data_of, number_at, rows_of
from tests.made.clusters import MadeCluster
from tests.made.logs import Step, write_segment

from kafkawire.cli.app import main
from kafkawire.protocol import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from kafkawire.wire import Uuid

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"
SEGMENT = "00000000000000000000.log"


def report(*words: str | Path) -> int:
    return main(["report", "logs", *map(str, words)])


def test_page_has_every_section_of_the_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.html"
    assert report(LOGS, "--out", page, "--title", "A & B", "--as-of", "2026-11-21T08:36:40Z") == 0
    data = data_of(page)
    assert data["title"] == "A & B"
    assert data["asOf"] == 1_795_250_200_000
    end_state = json.loads((LOGS.parent / "end-state.json").read_text("utf-8"))
    now = {name: [row for row in rows_of(data, name) if row["to"] is None] for name in ("acls", "quotas", "topics")}
    assert len(now["acls"]) == len(end_state["acls"])
    assert len(now["topics"]) == len(end_state["topics"])
    assert {row["entity"] for row in now["quotas"]} >= {"user late", "user <default>"}
    values = [row["value"] for row in rows_of(data, "configs")]
    assert None not in values
    assert {row["group"] for row in rows_of(data, "commits")} >= {"grp-classic-1", "grp-kip848-0"}
    assert {account["log"] for account in data["accounts"]} == {
        "__cluster_metadata",
        "__consumer_offsets",
        "__transaction_state",
        "__share_group_state",
    }
    assert data["notes"] == []
    assert capsys.readouterr().err.startswith("bytes read 89818 = 89818 decoded")


def test_the_page_names_missing_logs(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert report(LOGS / "__consumer_offsets-0", "--out", page) == 0
    (note,) = data_of(page)["notes"]
    assert note.startswith("No log of __cluster_metadata was found: this page shows no ACLs, topics, quotas")


def test_page_covers_all_of_a_log_and_the_time_of_a_snapshot_alone(tmp_path: Path) -> None:
    """The last records of the log change nothing on the page; records of a snapshot have no times of their own."""
    page, alone = tmp_path / "report.html", tmp_path / "__cluster_metadata-0"
    alone.mkdir()
    shutil.copy(next((LOGS / "__cluster_metadata-0").glob("*202-*.checkpoint")), alone)
    times = []
    for folder in (LOGS / "__cluster_metadata-0", alone):
        assert report(folder, "--out", page) == 0
        times.append((data_of(page)["from"], data_of(page)["to"]))
    assert times == [(1_795_250_187_044, 1_795_250_251_883), (1_795_250_193_746, 1_795_250_193_753)]


def test_lag_is_shown_with_the_partitions_own_log(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(LOGS / "__consumer_offsets-0", logs / "__consumer_offsets-0")
    shutil.copytree(LOGS / "__consumer_offsets-1", logs / "billing.events-1")  # ends at offset 373
    page = tmp_path / "report.html"
    assert report(logs, "--out", page) == 0
    ends = {(row["topic"], row["partition"]): row["end"] for row in rows_of(data_of(page), "commits")}
    assert ends["billing.events", 1] == 373
    assert {end for key, end in ends.items() if key != ("billing.events", 1)} == {None}


def test_a_log_ends_after_its_last_complete_batch(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(LOGS / "__consumer_offsets-0", logs / "__consumer_offsets-0")
    content = (LOGS / "__consumer_offsets-1" / SEGMENT).read_bytes()
    whole = 12 + int.from_bytes(content[8:12], "big")
    for partition, kept in enumerate((content[:whole], content[: whole + 40], content[: whole - 1])):
        folder = logs / f"billing.events-{partition}"
        folder.mkdir()
        (folder / SEGMENT).write_bytes(kept)
    page = tmp_path / "report.html"
    assert report(logs, "--out", page) == 0
    ends = {
        row["partition"]: row["end"] for row in rows_of(data_of(page), "commits") if row["topic"] == "billing.events"
    }
    assert ends[0] == ends[1] == 1


def test_the_longest_copy_determines_the_end_of_a_log(tmp_path: Path) -> None:
    content = (LOGS / "__consumer_offsets-1" / SEGMENT).read_bytes()
    first = content[: 12 + int.from_bytes(content[8:12], "big")]
    for broker, kept in (("1", first), ("2", content), ("3", first)):
        folder = tmp_path / broker / "billing.events-1"
        folder.mkdir(parents=True)
        (folder / SEGMENT).write_bytes(kept)
    shutil.copytree(LOGS / "__consumer_offsets-0", tmp_path / "1" / "__consumer_offsets-0")
    page = tmp_path / "report.html"
    assert report(*(tmp_path / broker for broker in "123"), "--out", page) == 0
    ends = {(row["topic"], row["partition"]): row["end"] for row in rows_of(data_of(page), "commits")}
    assert ends["billing.events", 1] == 373


def test_the_time_index_shows_where_a_log_ended_before(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(LOGS / "__consumer_offsets-0", logs / "__consumer_offsets-0")
    shutil.copytree(LOGS / "__consumer_offsets-1", logs / "billing.events-1")
    entries = [(1_795_250_000_000, 99), (1_795_250_100_000, 199), (0, 0), (1_795_250_150_000, 300)]
    index = b"".join(time.to_bytes(8, "big") + offset.to_bytes(4, "big") for time, offset in entries)
    (logs / "billing.events-1" / SEGMENT).with_suffix(".timeindex").write_bytes(index)
    page = tmp_path / "report.html"
    assert report(logs, "--out", page) == 0
    (steps,) = data_of(page)["ends"]
    assert steps[:4] == [1_795_250_000_000, 100, 100_000, 100]  # preallocated zeros end the index
    assert len(steps) == 6
    assert 100 + 100 + steps[5] == 373


def test_alerts_of_rules_in_a_file_are_on_the_page(tmp_path: Path) -> None:
    file, page, plain = tmp_path / "rules.toml", tmp_path / "report.html", tmp_path / "plain.html"
    file.write_text(
        '[[rules]]\nid = "own"\ntitle = "A topic was deleted."\nseverity = "low"\nhistory = "topic_history"\n'
        'remedy = "look"\nwhen = { change = "deleted", name = "payments.events" }\n',
        "utf-8",
    )
    assert report(LOGS, "--out", plain) == 0
    assert report(LOGS, "--out", page, "--alert-rules", file) == 0
    data, expected = data_of(page), data_of(plain)
    assert [row for row in rows_of(data, "alerts") if row["rule"] != "own"] == rows_of(expected, "alerts")
    assert [row["message"] for row in rows_of(data, "alerts") if row["rule"] == "own"] == [
        "topic payments.events was deleted"
    ]
    own = {"title": "A topic was deleted.", "remedy": "look", "looksAt": "topic_history"}
    assert data["alertRules"] == {**expected["alertRules"], "own": own}
    assert "--alert-rules" in str(data["evidence"]["options"])


def test_the_limit_is_of_rows_that_ended_and_the_page_says_what_is_missing(tmp_path: Path) -> None:
    page, all_rows = tmp_path / "report.html", tmp_path / "all.html"
    assert report(LOGS, "--out", all_rows) == 0
    assert report(LOGS, "--out", page, "--max-rows", "1") == 0
    data, expected = data_of(page), data_of(all_rows)
    assert len(rows_of(data, "alerts")) == 1
    assert rows_of(data, "alerts") == rows_of(expected, "alerts")[-1:]
    for name in expected["sections"].keys() - {"alerts"}:
        valid = [row for row in rows_of(expected, name) if row["to"] is None]
        assert [row for row in rows_of(data, name) if row["to"] is None] == valid
        ended = len(rows_of(expected, name)) - len(valid)
        assert len(rows_of(data, name)) == len(valid) + min(1, ended)
    assert data["notes"][0].startswith(
        "Showing 35 of 39 ACL rows: all 34 that are valid at the end of the log, and the 1 newest that ended. "
        "Counts and charts cover all 39; lists lack 4 that ended up to 2026-"
    )
    assert data["notes"][0].endswith(" UTC. To list all, use --max-rows 5.")


def test_a_dash_is_standard_output(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    page = tmp_path / "report.html"
    assert report(LOGS, "--out", "-") == 0
    written = capfdbinary.readouterr()
    page.write_bytes(written.out)
    assert len(rows_of(data_of(page), "acls")) == 39
    assert written.err.startswith(b"bytes read 89818 = 89818 decoded")


def test_copies_of_a_log_in_one_cluster_count_once(tmp_path: Path) -> None:
    """Brokers have copies of the same logs; a copy may be older or lack its beginning."""
    MadeCluster(tmp_path / "1", "c", 1).write(acls=60, changes=60, commits=90)
    alone, together = tmp_path / "alone.html", tmp_path / "together.html"
    assert report(tmp_path / "1", "--out", alone) == 0
    for broker in ("0", "2"):
        shutil.copytree(tmp_path / "1", tmp_path / broker)
        for log in ("__cluster_metadata-0", "__consumer_offsets-0"):
            behind = tmp_path / broker / log / SEGMENT
            behind.write_bytes(behind.read_bytes()[:4000])
    assert report(*(tmp_path / broker for broker in "012"), "--out", together) == 0
    expected, found = data_of(alone), data_of(together)
    for name in expected["sections"]:
        assert rows_of(found, name) == rows_of(expected, name)
        assert found["sections"][name]["numbers"] == expected["sections"][name]["numbers"]
    assert found["commitTimes"] == expected["commitTimes"]
    assert found["logs"] == expected["logs"]
    assert len(found["copies"]) == 4
    assert found["notes"][0].startswith("Of each log one copy was read, the one that goes furthest; 4 others")


def test_the_page_warns_of_possible_copies_without_a_cluster_id(tmp_path: Path) -> None:
    for broker in "12":
        shutil.copytree(LOGS / "__cluster_metadata-0", tmp_path / broker / "__cluster_metadata-0")
    page = tmp_path / "report.html"
    assert report(tmp_path, "--out", page) == 0
    assert any(note.startswith("__cluster_metadata-0 was found more than once") for note in data_of(page)["notes"])


def test_an_acl_known_only_by_its_removal_has_no_principal(tmp_path: Path) -> None:
    acl = AccessControlEntryRecord(Uuid(bytes(15) + b"2"), 2, "t", 3, "User:ann", "*", 3, 3)
    steps = [Step(1000, (acl,)), Step(2000, (RemoveAccessControlEntryRecord(Uuid(bytes(15) + b"1")),))]
    write_segment(tmp_path / "__cluster_metadata-0", 500, steps)  # the earlier records are missing
    page = tmp_path / "report.html"
    assert report(tmp_path, "--out", page) == 3
    (numbers,) = data_of(page)["sections"]["acls"]["numbers"]
    counts = {
        kind: [number_at(count, time) for time in (999, 1000, 2000)] for kind, count in numbers["holding"].items()
    }
    assert counts == {"UNKNOWN": [1, 1, 0], "ALLOW": [0, 1, 1]}
    assert [number_at(numbers["holders"], time) for time in (999, 1000, 2000)] == [0, 1, 1]


def test_a_cluster_without_an_id_counts_as_a_cluster(tmp_path: Path) -> None:
    MadeCluster(tmp_path / "1", "c", 1).write(acls=20, changes=20, commits=20)
    page = tmp_path / "report.html"
    assert report(LOGS, tmp_path / "1", "--out", page) == 0
    data = data_of(page)
    assert data["clusters"] == ["c", None]
    assert [numbers["rows"] for numbers in data["sections"]["acls"]["numbers"]] == [20, 39]


def test_errors_are_in_the_page_and_in_the_exit_code(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    content = bytearray((LOGS / "__cluster_metadata-0" / SEGMENT).read_bytes())
    content[200] ^= 1
    (folder / SEGMENT).write_bytes(content)
    page = tmp_path / "report.html"
    assert report(folder, "--out", page) == 3
    assert all(account["errors"] == {"bad_crc": 1} for account in data_of(page)["accounts"])


def test_a_failed_report_leaves_the_old_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.html"
    page.write_text("old")
    assert report(tmp_path / "none", "--out", page) == 2
    assert "there is no such folder or file" in capsys.readouterr().err
    assert report(LOGS, "--out", page, "--as-of", "soon") == 2
    assert page.read_text() == "old"
    assert list(tmp_path.iterdir()) == [page]
