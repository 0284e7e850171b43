"""The rows of a history show that some are missing, and from which log each row comes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kafka_logs.histories import OF_METADATA, history, history_and_losses, time
from tests.made.logs import METADATA_LOG, Step, write_checkpoint, write_segment

from kafkawire.logs import LogReadError, ReadMode, ReadOptions, read_table, table_named
from kafkawire.protocol import ConfigRecord
from kafkawire.wire.batches import Record, encode_batch, read_batches

TOPIC = 2


def config(value: str) -> ConfigRecord:
    return ConfigRecord(TOPIC, "t", "retention.ms", value)


def write_log(folder: Path) -> Path:
    """Three batches of one record each."""
    write_segment(folder, 0, [Step(1000 * at, (config(str(at)),)) for at in (1, 2, 3)])
    return folder / f"{0:020}.log"


def broken(segment: Path) -> None:
    """Turn over a bit of the second batch."""
    content = bytearray(segment.read_bytes())
    second = list(read_batches(bytes(content)))[1]
    content[second.position + second.size - 1] ^= 1
    segment.write_bytes(content)


@pytest.mark.parametrize("name", OF_METADATA)
def test_a_broken_batch_is_a_row_of_every_history(tmp_path: Path, name: str) -> None:
    broken(write_log(tmp_path / METADATA_LOG))
    _, lost = history_and_losses(name, tmp_path)
    assert [row["_error"] for row in lost] == ["bad_crc", "offset_gap"][: len(lost)]
    row = lost[0]
    assert (row.get("from_offset", 1), row.get("to_offset")) == (1, None)
    assert row["valid_from"] == row["valid_to"] == (time(1000) if name == "config_history" else row["valid_from"])
    known = {"log", "from_offset", "valid_from", "valid_to", "_error"}
    assert all(row[column] is None for column in row.keys() - known)
    schema = table_named(name).schema
    assert schema.names[-2:] == ["log", "_error"]


def test_a_gap_is_a_row_with_its_offsets(tmp_path: Path) -> None:
    write_segment(tmp_path / METADATA_LOG, 0, [Step(1000, (config("1"),))])
    write_segment(tmp_path / METADATA_LOG, 7, [Step(2000, (config("2"),))])
    (lost,) = history_and_losses("acl_history", tmp_path)[1]
    assert (lost["_error"], lost["from_offset"], lost["to_offset"]) == ("offset_gap", 1, 7)
    rows, (lost,) = history_and_losses("config_history", tmp_path)
    assert [row["value"] for row in rows] == ["1", "2"]
    assert lost["valid_from"] == lost["valid_to"] == time(1000)


def test_records_that_cannot_be_decoded_are_rows(tmp_path: Path) -> None:
    write_segment(tmp_path / METADATA_LOG, 0, [Step(1000, (config("1"),))])
    unknown = encode_batch([Record(timestamp=2000, value=b"\1\x4d\0")], base_offset=1)
    segment = tmp_path / METADATA_LOG / f"{0:020}.log"
    segment.write_bytes(segment.read_bytes() + unknown)
    _, (lost,) = history_and_losses("acl_history", tmp_path)
    assert (lost["_error"], lost["from_offset"], lost["to_offset"]) == ("unknown_type", 1, 2)


def test_a_broken_snapshot_that_is_needed_is_a_row(tmp_path: Path) -> None:
    snapshot = write_checkpoint(tmp_path / METADATA_LOG, 5, [config("1")], time=1000)
    snapshot.write_bytes(snapshot.read_bytes()[:-1] + b"?")
    _, lost = history_and_losses("config_history", tmp_path)
    assert [row["_error"] for row in lost] == ["bad_crc"]


def test_an_incomplete_batch_at_the_end_is_no_loss(tmp_path: Path) -> None:
    segment = write_log(tmp_path / METADATA_LOG)
    segment.write_bytes(segment.read_bytes()[:-1])
    assert history_and_losses("config_history", tmp_path)[1] == []


def test_a_state_as_of_a_time_has_the_losses_before_it(tmp_path: Path) -> None:
    broken(write_log(tmp_path / METADATA_LOG))
    for at, codes in ((1000, ["bad_crc"]), (3000, ["bad_crc"])):
        _, lost = history_and_losses("config_history", tmp_path, options=ReadOptions(as_of=time(at)))
        assert [row["_error"] for row in lost] == codes
    write_segment(tmp_path / METADATA_LOG, 9, [Step(9000, (config("9"),))])
    _, lost = history_and_losses("config_history", tmp_path, options=ReadOptions(as_of=time(2500)))
    assert [row["_error"] for row in lost] == ["bad_crc"]


def test_losses_are_rows_only_where_errors_are(tmp_path: Path) -> None:
    broken(write_log(tmp_path / METADATA_LOG))
    assert "_error" not in table_named("config_history", ReadOptions(mode=ReadMode.DROPMALFORMED)).schema.names
    chosen = history("config_history", tmp_path, options=ReadOptions(columns=("value",)))
    dropped = history("config_history", tmp_path, options=ReadOptions(mode=ReadMode.DROPMALFORMED))
    assert [row["value"] for row in chosen] == [row["value"] for row in dropped] == ["1", "3"]
    with pytest.raises(LogReadError, match="bad_crc"):
        history("config_history", tmp_path, options=ReadOptions(mode=ReadMode.FAILFAST))


@pytest.mark.parametrize("name", OF_METADATA)
def test_logs_of_two_clusters_without_ids_can_be_distinguished(tmp_path: Path, name: str) -> None:
    folders = [tmp_path / cluster / METADATA_LOG for cluster in ("east", "west")]
    for folder in folders:
        broken(write_log(folder))
    options = ReadOptions(columns=("cluster", "log", "_error"))
    rows = [row for batch in read_table(name, tmp_path, options) for row in batch.to_pylist()]
    assert {row["log"] for row in rows} == {str(folder) for folder in folders}
    assert {row["cluster"] for row in rows} == {None}
