"""Snapshots are used where the log has no records, and only there (KIP-630)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES
from tests.kafka_logs.histories import OF_METADATA, Row, history, still_open, time
from tests.made.cluster_state import CLUSTER_HISTORIES
from tests.made.logs import METADATA_LOG, Step, write_checkpoint, write_segment

from kafkawire.layout import Uuid
from kafkawire.logs import find_log_files, read_metadata_histories
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.errors import LogReadError
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.protocol import (
    ConfigRecord,
    FeatureLevelRecord,
    NoOpRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafkawire.wire import Message
from kafkawire.wire.batches import Record, decode_records, encode_batch, read_batches

_REAL_LOG = FIXTURES / "logs" / METADATA_LOG
_REAL_SNAPSHOT = _REAL_LOG / "00000000000000000202-0000000001.checkpoint"
_BEGINNINGS = ("valid_from", "created_at", "from_offset", "added_by_snapshot")
_SHOWN = ReadOptions(secrets=True)


def _without(rows: Sequence[Row], *names: str) -> list[Row]:
    return sorted(({name: value for name, value in row.items() if name not in names} for row in rows), key=str)


def _folder(tmp_path: Path, *names: str) -> Path:
    folder = tmp_path / METADATA_LOG
    folder.mkdir()
    for name in names:
        shutil.copy(_REAL_LOG / name, folder / name)
    return folder


@pytest.mark.parametrize(
    "name", ["acl_history", "quota_history", "config_history", "topic_history", *CLUSTER_HISTORIES]
)
def test_state_of_the_log_at_the_snapshot_is_the_snapshot(tmp_path: Path, name: str) -> None:
    below = history(name, _REAL_LOG, options=ReadOptions(high_watermark=202))
    alone = history(name, _folder(tmp_path, _REAL_SNAPSHOT.name))
    set_there = [row for row in still_open(below) if row.get("value", "") is not None]
    assert len(alone) > 10 or name in CLUSTER_HISTORIES
    assert _without(alone, *_BEGINNINGS) == _without(set_there, *_BEGINNINGS)
    assert {row["valid_from"] for row in alone} <= {None}


@pytest.mark.parametrize("name", OF_METADATA)
def test_the_log_takes_precedence_over_the_snapshot(tmp_path: Path, name: str) -> None:
    segments = [path.name for path in _REAL_LOG.glob("*.log")]
    assert history(name, _folder(tmp_path, *segments)) == history(name, _REAL_LOG)


def test_a_bootstrap_file_beside_the_log_is_not_read_again(tmp_path: Path) -> None:
    """It has the level of ``metadata.version`` and SCRAM credentials from formatting, which the log repeats."""
    folder = _folder(tmp_path, *(path.name for path in _REAL_LOG.glob("*.log")))
    made = write_checkpoint(tmp_path / "made", 0, [FeatureLevelRecord("metadata.version", 27)], time=-1)
    shutil.copy(made, tmp_path / "bootstrap.checkpoint")
    shutil.rmtree(tmp_path / "made")
    accounts, names = Accounts(), {"feature_history": None, "scram_history": None}
    together = [
        row
        for _, batch in read_metadata_histories(names, find_log_files([str(tmp_path)]), ReadOptions(), accounts)
        for row in batch.to_pylist()
    ]
    for name in names:
        assert history(name, tmp_path) == history(name, folder)
    assert len(together) == sum(len(history(name, folder)) for name in names)
    shutil.rmtree(folder)
    (row,) = history("feature_history", tmp_path)
    assert (row["level"], row["added_by_snapshot"]) == (27, True)


def test_snapshot_before_the_first_record_begins_the_state(tmp_path: Path) -> None:
    """The real log without its first two segments: records from 315 on, the snapshot of 202, nothing in between."""
    folder = _folder(tmp_path, _REAL_SNAPSHOT.name, "00000000000000000159.log", "00000000000000000315.log")
    names = ("valid_from", "from_offset", "added_by_snapshot")
    whole, rest = history("acl_history", _REAL_LOG), history("acl_history", folder)
    assert _without(still_open(rest), *names) == _without(still_open(whole), *names)
    known = {row["acl_id"] for row in rest if not row["added_by_snapshot"]}
    assert {row["acl_id"] for row in whole if row["from_offset"] >= 202} <= known
    assert all(row["valid_from"] is None and row["from_offset"] is None for row in rest if row["added_by_snapshot"])


def _config(name: str, value: str | None) -> ConfigRecord:
    return ConfigRecord(2, "t", name, value)


def _rows(folder: Path) -> set[tuple[object, ...]]:
    names = ("name", "value", "valid_from", "valid_to")
    return {tuple(row[name] for name in names) for row in history("config_history", folder, options=_SHOWN)}


def _filled(*records: Message) -> tuple[Message, ...]:
    return (*records, *(NoOpRecord(),) * (10 - len(records)))


def test_after_a_gap_differences_have_the_time_of_the_snapshot(tmp_path: Path) -> None:
    """Offsets 0 to 9, then nothing up to a snapshot at 30, then offsets 30 to 39."""
    folder = tmp_path / METADATA_LOG
    write_segment(folder, 0, [Step(1000, _filled(_config("a", "1"), _config("b", "1"), _config("c", "1")))])
    write_checkpoint(folder, 30, [_config("a", "1"), _config("b", "2"), _config("d", "1")], time=5000)
    write_segment(folder, 30, [Step(6000, _filled(_config("d", "2")))])
    assert _rows(folder) == {
        ("a", "1", time(1000), None),
        ("b", "1", time(1000), time(5000)),
        ("b", "2", time(5000), None),
        ("c", "1", time(1000), time(5000)),
        ("d", "1", time(5000), time(6000)),
        ("d", "2", time(6000), None),
    }


def test_kept_snapshots_alone_are_a_history(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    write_checkpoint(folder, 10, [_config("a", "1")], time=1000)
    write_checkpoint(folder, 20, [_config("a", "2"), _config("b", "1")], time=2000)
    write_checkpoint(folder, 30, [_config("b", "1")], time=3000)
    assert _rows(folder) == {
        ("a", "1", None, time(2000)),
        ("a", "2", time(2000), time(3000)),
        ("b", "1", time(2000), None),
    }


def test_an_unset_config_stays_unset_after_a_snapshot_without_it(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    write_segment(folder, 0, [Step(1000, _filled(_config("a", "1"))), Step(2000, _filled(_config("a", None)))])
    write_checkpoint(folder, 30, [], time=3000)
    write_segment(folder, 30, [Step(4000, _filled(_config("a", "2")))])
    assert _rows(folder) == {
        ("a", "1", time(1000), time(2000)),
        ("a", None, time(2000), time(4000)),
        ("a", "2", time(4000), None),
    }


def test_snapshot_amid_a_log_without_beginning_completes_the_state(tmp_path: Path) -> None:
    """The log begins at 20; the snapshot of 25 has the earlier state, and offsets 25 to 29 follow it."""
    folder = tmp_path / METADATA_LOG
    write_segment(
        folder,
        20,
        [
            Step(1000, (_config("b", "1"), *(NoOpRecord(),) * 4)),
            Step(2000, (_config("c", "1"), *(NoOpRecord(),) * 4)),
        ],
    )
    write_checkpoint(folder, 25, [_config("a", "1"), _config("b", "1")], time=1000)
    assert _rows(folder) == {("a", "1", None, None), ("b", "1", time(1000), None), ("c", "1", time(2000), None)}


def test_an_end_without_a_known_beginning_is_a_row(tmp_path: Path) -> None:
    """A topic that was created before the log begins: only its id and its end are known."""
    folder = tmp_path / METADATA_LOG
    write_segment(folder, 20, [Step(1000, (RemoveTopicRecord(Uuid(b"t" * 16)),))])
    (row,) = history("topic_history", folder)
    assert row["topic_id"] == str(Uuid(b"t" * 16))
    assert (row["name"], row["created_at"], row["deleted_at"]) == (None, None, time(1000))


def test_the_removal_of_an_unknown_topic_adds_no_row(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    write_segment(folder, 0, [Step(1000, (RemoveTopicRecord(Uuid(b"t" * 16)),))])
    assert history("topic_history", folder) == []


def test_a_gap_without_a_snapshot_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    write_segment(folder, 0, [Step(1000, (_config("a", "1"),))])
    write_segment(folder, 5, [Step(2000, (_config("b", "1"),))])
    accounts = Accounts()
    assert len(history("config_history", folder, accounts=accounts)) == 2
    assert accounts.errors == {"offset_gap": 1}
    with pytest.raises(LogReadError, match="offset_gap: the log has no records from offset 1 to 4"):
        history("config_history", folder, options=ReadOptions(mode=ReadMode.FAILFAST))


def test_a_deleted_beginning_without_a_snapshot_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    write_segment(folder, 5, [Step(1000, (_config("a", "1"),))])
    accounts = Accounts()
    assert len(history("config_history", folder, accounts=accounts)) == 1
    assert accounts.errors == {"offset_gap": 1}
    with pytest.raises(LogReadError, match="offset_gap: the log has no records before 5"):
        history("config_history", folder, options=ReadOptions(mode=ReadMode.FAILFAST))
    write_checkpoint(folder, 5, [_config("b", "1")], time=500)
    accounts = Accounts()
    assert len(history("config_history", folder, accounts=accounts)) == 2
    assert not accounts.errors


def test_duplicate_offsets_are_applied_once(tmp_path: Path) -> None:
    """A segment that begins inside the previous one, as in a copy of a log that was still written."""
    folder = tmp_path / METADATA_LOG
    steps = [Step(at * 1000, (_config("a", str(at)),)) for at in range(6)]
    write_segment(folder, 0, steps[:4])
    write_segment(folder, 2, steps[2:])
    rows = history("config_history", folder, options=_SHOWN)
    assert [row["value"] for row in rows] == ["0", "1", "2", "3", "4", "5"]


def test_an_incomplete_snapshot_is_ignored(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    write_checkpoint(folder, 10, [_config("a", "1")], time=1000)
    whole = write_checkpoint(folder, 20, [_config("a", "2")], time=2000)
    whole.write_bytes(whole.read_bytes()[:-20])
    accounts = Accounts()
    rows = history("config_history", folder, options=_SHOWN, accounts=accounts)
    assert [row["value"] for row in rows] == ["1"]
    assert accounts.errors == {"truncated_batch": 1}


def test_a_snapshot_with_unreadable_records(tmp_path: Path) -> None:
    """Without a log its readable entries are used; with a log the snapshot is not used."""
    folder = tmp_path / METADATA_LOG
    path = write_checkpoint(folder, 10, [_config("a", "1"), _config("b", "1")], time=2000)
    whole = path.read_bytes()
    batches = [*read_batches(whole)]
    value = next(record.value for record in decode_records(batches[1]))
    assert value is not None
    newer = [Record(timestamp=2000, value=each) for each in (value, value[:2] + b"\x09" + value[3:])]
    batches[1:2] = [*read_batches(encode_batch(newer, base_offset=1, partition_leader_epoch=1))]
    path.write_bytes(b"".join(batch.to_bytes() for batch in batches))
    assert [row["name"] for row in history("config_history", folder)] == ["a"]
    write_segment(folder, 0, [Step(1000, (_config("b", "1"),))])
    accounts = Accounts()
    assert [row["name"] for row in history("config_history", folder, accounts=accounts)] == ["b"]
    assert accounts.errors == {"unsupported_version": 1}


def test_added_partitions_count_in_the_row_of_the_topic(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    topic = Uuid(b"t" * 16)
    made = (TopicRecord("t", topic), PartitionRecord(0, topic), PartitionRecord(1, topic))
    write_segment(folder, 0, [Step(1000, made), Step(5000, (PartitionRecord(2, topic),))])
    (row,) = history("topic_history", folder)
    assert (row["partitions"], row["valid_from"]) == (3, time(1000))
    (earlier,) = history("topic_history", folder, options=ReadOptions(as_of=time(4999)))
    assert earlier["partitions"] == 2
