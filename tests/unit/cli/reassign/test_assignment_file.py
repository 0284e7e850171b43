"""The file of assignments: what Kafka's tool writes is read, and mistakes are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.cli.outcome import CommandError
from kafkawire.cli.reassign.assignment_file import read_assignment, write_assignment
from kafkawire.model.partitions import TopicPartition


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "moves.json"
    assignment = {TopicPartition("b", 1): (3, 1), TopicPartition("a", 0): (2,)}
    write_assignment(path, assignment)
    assert read_assignment(path) == assignment
    assert path.read_text().splitlines()[1] == '  {"topic":"a","partition":0,"replicas":[2]},'


def test_a_file_of_kafkas_tool_is_read(tmp_path: Path) -> None:
    path = tmp_path / "moves.json"
    path.write_text(
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2],"log_dirs":["any","any"]}]}'
    )
    assert read_assignment(path) == {TopicPartition("t", 0): (1, 2)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is no file of assignments"),
        ("[]", "it is no file of assignments: Expected `object`, got `array`"),
        ('{"version":2,"partitions":[]}', "version 2 of such files is unknown"),
        (
            '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[]}]}',
            "t-0: its replicas are []; name at least one broker",
        ),
        ('{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,1]}]}', "and each once"),
        (
            '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1],"log_dirs":["/disk"]}]}',
            "it places replicas in directories",
        ),
        (
            (
                '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1]},'
                '{"topic":"t","partition":0,"replicas":[2]}]}'
            ),
            "t-0: it is there twice",
        ),
    ],
)
def test_mistakes_are_named_with_the_file(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "moves.json"
    path.write_text(text)
    with pytest.raises(CommandError) as raised:
        read_assignment(path)
    assert raised.value.message.startswith(f"{path}: ")
    assert message in raised.value.message
