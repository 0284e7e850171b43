"""Files of offsets: Kafka's CSV with and without groups, what -o csv prints, and the place of each mistake."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kafkawire.admin import TopicPartition
from kafkawire.cli.groups.offsets_file import read_offsets
from kafkawire.cli.outcome import CommandError


def written(folder: Path, text: str) -> Path:
    file = folder / "offsets.csv"
    file.write_text(text)
    return file


def test_kafkas_csv_of_several_groups_is_read(tmp_path: Path) -> None:
    file = written(tmp_path, '"g1","t",0,5\n"g2","t",1,6\n\n')
    assert read_offsets(file, []) == {"g1": {TopicPartition("t", 0): 5}, "g2": {TopicPartition("t", 1): 6}}


def test_lines_without_a_group_are_of_the_given_groups(tmp_path: Path) -> None:
    file = written(tmp_path, "t,0,5\n")
    assert read_offsets(file, ["a", "b"]) == {group: {TopicPartition("t", 0): 5} for group in ("a", "b")}


def test_of_what_a_reset_prints_the_new_offset_counts(tmp_path: Path) -> None:
    file = written(tmp_path, "group,topic,partition,offset,new_offset,shift\ng,t,0,5,9,4\n")
    assert read_offsets(file, []) == {"g": {TopicPartition("t", 0): 9}}


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"g,t,0,5\n")))
    assert read_offsets(Path("-"), []) == {"g": {TopicPartition("t", 0): 5}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("g,t,0,5\ng,t,0,6\n", ":2: t-0 of g is there twice"),
        ("t,0,5\n", ":1: the line names no group"),
        ("g,t,x,5\n", ":1: the partition 'x' is no whole number"),
        ("g,t,0,-5\n", ":1: the offset '-5' is no whole number"),
        ("g,t,0,9223372036854775808\n", ":1: the offset '9223372036854775808' is no whole number"),
        ("", ": it has no offsets; write group,topic,partition,offset"),
        ("g,t\n", ":1: write group,topic,partition,offset"),
        ("topic,partition\nt,0\n", ":1: no column is named offset or new_offset"),
        ("topic,partition,offset\nt,0\n", ":2: write group,topic,partition,offset"),
    ],
)
def test_mistakes_have_their_line(text: str, message: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    with pytest.raises(CommandError) as raised:
        read_offsets(file, [])
    assert raised.value.message.startswith(f"{file}{message}")
