"""Texts of partitions, times and durations: one form of them, and of their mistakes, in all commands."""

from __future__ import annotations

import pytest

from kafkawire.cli.app import main
from kafkawire.cli.argument_texts import partitions_of
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.model.partitions import TopicPartition


def test_a_topic_has_one_partition_or_several() -> None:
    assert partitions_of("orders:0") == [TopicPartition("orders", 0)]
    assert partitions_of("a.b-c:3,0") == [TopicPartition("a.b-c", 3), TopicPartition("a.b-c", 0)]


@pytest.mark.parametrize(
    "text",
    ["orders", ":0", "orders:", "orders:x", "orders:0,", "orders:-1", "orders:²", f"o:{1 << 31}", f"o:{'9' * 5000}"],
)
def test_other_texts_say_how_to_write_them(text: str) -> None:
    with pytest.raises(CommandError, match="write TOPIC:PARTITION, such as orders:0 or orders:0,2") as raised:
        partitions_of(text, "--topic")
    assert raised.value.exit_code == ExitCode.USAGE
    assert raised.value.message.startswith("--topic: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("groups reset g --to-datetime x", "--to-datetime: 'x' is not a time such as 2026-03-01"),
        ("groups reset g --by-duration x", "--by-duration: 'x' is not a duration: give seconds"),
        ("groups reset g --to-latest --topic orders:x", "--topic: 'orders:x': write TOPIC:PARTITION"),
        ("transactions list --open-longer-than x", "--open-longer-than: 'x' is not a duration"),
        ("transactions producers orders", "'orders': write TOPIC:PARTITION"),
        ("transactions abort orders:0,1 --start-offset 3", "'orders:0,1': name one partition, such as orders:0"),
    ],
)
def test_mistakes_begin_with_their_option(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words.split(), "-b", "127.0.0.1:9"]) == ExitCode.USAGE
    assert capsys.readouterr().err.startswith(f"kafkawire: {message}")
