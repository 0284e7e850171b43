"""Changes of a table: what is returned again, what is kept, and which states and options are refused."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from kafkawire.logs import LogReadError, OptionError, ReadMode, ReadOptions, read_changes, read_table
from kafkawire.logs.catalogue import table_named, table_names
from kafkawire.logs.folding.continued import ContinuedTable
from kafkawire.logs.folding.saved_state import FORM, SavedLog, SavedTable

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"
METADATA = LOGS / "__cluster_metadata-0"


def grown(folder: Path, size: int) -> Path:
    """The first bytes of the first segment of the metadata log."""
    log = folder / METADATA.name
    log.mkdir(exist_ok=True)
    segment = min(METADATA.glob("*.log"))
    (log / segment.name).write_bytes(segment.read_bytes()[:size])
    return log


@pytest.mark.parametrize("name", [each for each in table_names() if isinstance(table_named(each), ContinuedTable)])
def test_the_first_reading_returns_all_rows_and_the_next_none(name: str, tmp_path: Path) -> None:
    state = tmp_path / "state"
    changes = read_changes(name, LOGS, state)
    rows = [row for batch in changes for row in batch.to_pylist()]
    changes.commit()
    assert changes.started_over == f"there is no state at {state} yet"
    ids = [row.pop("interval_id", row.get("log_offset")) for row in rows]
    assert len(set(ids)) == len(ids) > 0
    expected = [row for batch in read_table(name, LOGS) for row in batch.to_pylist()]
    assert sorted(map(repr, rows)) == sorted(map(repr, expected))
    again = read_changes(name, LOGS, state)
    assert [batch.num_rows for batch in again] == []
    assert again.started_over is None


def test_without_commit_the_rows_come_again(tmp_path: Path) -> None:
    log, state = grown(tmp_path, 8_000), tmp_path / "state"
    first = [batch.to_pylist() for batch in read_changes("acl_history", log, state)]
    assert first == [batch.to_pylist() for batch in read_changes("acl_history", log, state)] != []
    assert not state.exists()


def test_commit_before_the_last_row_is_refused(tmp_path: Path) -> None:
    changes = read_changes("acl_history", METADATA, tmp_path / "state")
    with pytest.raises(ValueError, match="iterate to the end before commit"):
        changes.commit()


def test_a_damaged_state_is_replaced(tmp_path: Path) -> None:
    state = tmp_path / "state"
    changes = read_changes("acl_history", METADATA, state)
    list(changes)
    changes.commit()
    octets = bytearray(state.read_bytes())
    octets[60] ^= 1
    for damaged in (bytes(octets), state.read_bytes()[:-1]):
        state.write_bytes(damaged)
        changes = read_changes("acl_history", METADATA, state)
        assert sum(batch.num_rows for batch in changes) == 39
        assert changes.started_over == f"the state at {state} cannot be used: it is damaged"


def test_a_state_of_another_form_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "state"
    with monkeypatch.context() as older:
        older.setattr("kafkawire.logs.table_changes.FORM", 0)
        changes = read_changes("acl_history", METADATA, state)
        list(changes)
        changes.commit()
    changes = read_changes("acl_history", METADATA, state)
    assert changes.started_over is not None
    assert "another version of kafkawire wrote it, in form 0" in changes.started_over


def test_a_file_that_is_no_state_is_left_alone(tmp_path: Path) -> None:
    mistaken = tmp_path / "rows.parquet"
    mistaken.write_bytes(b"PAR1")
    with pytest.raises(OptionError, match=r"rows.parquet is not the state of a table: give another file"):
        read_changes("acl_history", METADATA, mistaken)


def test_a_state_of_another_history_is_left_alone(tmp_path: Path) -> None:
    state = tmp_path / "state"
    changes = read_changes("acl_history", METADATA, state)
    list(changes)
    changes.commit()
    with pytest.raises(OptionError, match="is the state of acl_history: give another file for quota_history"):
        read_changes("quota_history", METADATA, state)


def test_a_log_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "state"
    changes = read_changes("acl_history", grown(tmp_path, 8_000), state)
    list(changes)
    changes.commit()
    log = grown(tmp_path, 2_000)
    with pytest.raises(LogReadError, match=r"was read up to .* it was cut off or replaced; read it again"):
        list(read_changes("acl_history", log, state))


def test_a_state_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    changes = read_changes("acl_history", METADATA, tmp_path / "folder" / "state")
    list(changes)
    (tmp_path / "folder").write_text("in the place of the folder")
    with pytest.raises(LogReadError, match="unreadable"):
        changes.commit()


def test_records_beyond_the_high_watermark_are_left_to_a_later_reading(tmp_path: Path) -> None:
    state, kept = tmp_path / "state", dict[str, str]()
    for limit in (100, 150, 151, 200, None):
        options = ReadOptions(high_watermark=limit)
        changes = read_changes("config_history", METADATA, state, options)
        kept.update((row.pop("interval_id"), repr(row)) for batch in changes for row in batch.to_pylist())
        changes.commit()
        expected = [repr(row) for batch in read_table("config_history", METADATA, options) for row in batch.to_pylist()]
        assert sorted(kept.values()) == sorted(expected)


def test_chosen_columns_are_followed_by_the_id(tmp_path: Path) -> None:
    options = ReadOptions(columns=("principal", "valid_to"))
    assert read_changes("acl_history", METADATA, tmp_path / "state", options).schema.names == [
        "principal",
        "valid_to",
        "interval_id",
    ]


@pytest.mark.parametrize("table", ["records", "topic", "lag_history"])
def test_a_table_that_is_not_made_of_one_log_has_no_changes(table: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=f"table {table!r} has no changes: only alerts and histories"):
        read_changes(table, METADATA, tmp_path / "state")


def test_options_that_exclude_rows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="changes have all rows"):
        read_changes("acl_history", METADATA, tmp_path / "state", ReadOptions(from_offset=5))


def test_alerts_go_on_with_what_rules_knew_before(tmp_path: Path) -> None:
    state, options, found = tmp_path / "state", ReadOptions(mode=ReadMode.FAILFAST), list[dict[str, object]]()
    for limit in (70, 110, 203, 365, None):
        changes = read_changes("alerts", METADATA, state, replace(options, high_watermark=limit))
        found += (row for batch in changes for row in batch.to_pylist())
        changes.commit()
    assert found == [row for batch in read_table("alerts", METADATA, options) for row in batch.to_pylist()]
    assert [row["rule"] for row in found[-3:]] == ["scram-iterations-lowered", "deny-removed", "acl-of-deleted-topic"]


def test_a_state_of_alerts_without_a_history_that_rules_look_at_is_refused(tmp_path: Path) -> None:
    changes = read_changes("alerts", METADATA, tmp_path / "state")
    list(changes)
    changes.commit()
    saved = SavedTable.decode((tmp_path / "state").read_bytes())
    assert saved is not None
    ((folder, log),) = saved.logs.items()
    folds, known = msgspec.msgpack.decode(log.fold)
    del folds["acl_history"]
    for octets in (msgspec.msgpack.encode((folds, known)), b"\xc1"):
        logs = {folder: SavedLog(log.reached, octets)}
        (tmp_path / "state").write_bytes(SavedTable(FORM, "alerts", logs).encode())
        with pytest.raises(LogReadError, match=r"it has config_history, .* need acl_history|it cannot be decoded"):
            list(read_changes("alerts", METADATA, tmp_path / "state"))


def test_a_log_that_moved_to_another_folder_is_another_log(tmp_path: Path) -> None:
    state = tmp_path / "state"
    for name in ("one", "two"):
        log = shutil.copytree(METADATA, tmp_path / name / METADATA.name)
        changes = read_changes("acl_history", log, state, ReadOptions(mode=ReadMode.FAILFAST))
        assert sum(batch.num_rows for batch in changes) == 39
        changes.commit()
