"""Plans for the topics of arguments and of files, at an embedded broker."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.made.operator_command import Command

from kafkawire.admin import NewTopic
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode


@pytest.fixture(scope="module")
def broker() -> Iterator[ThreadedBroker]:
    topics = [NewTopic("orders", num_partitions=2), NewTopic("payments", num_partitions=1)]
    with ThreadedBroker({}, topics=topics) as running:
        yield running


@pytest.fixture
def reassign(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command("reassign", broker.bootstrap_servers, capsys)


@pytest.mark.parametrize("text", ["orders\n", '[{"name": "orders", "rack": 2}]', "- name: orders\n", "- orders\n"])
def test_topics_come_from_a_file(text: str, reassign: Command, tmp_path: Path) -> None:
    file = tmp_path / "topics"
    file.write_text(text)
    reassign.text("plan", "--from", str(file))
    assert reassign.err == "no replica needs to move\n"


def test_a_plan_goes_through_a_pipe(reassign: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"payments\norders\n")))
    moves = reassign.text("plan", "--from", "-", "--out", "-")
    assert json.loads(moves) == {"version": 1, "partitions": []}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(moves.encode())))
    assert reassign.rows("run", "-", "--dry-run") == []


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("", ExitCode.USAGE, "it names no topic; write a name on each line"),
        ("order\n", ExitCode.FAILED, "the topic order: there is no such topic; did you mean orders?"),
        ('[{"topic": "orders"}]', ExitCode.USAGE, "item 1: object missing required field name"),
    ],
)
def test_mistakes_are_named(text: str, code: ExitCode, message: str, reassign: Command, tmp_path: Path) -> None:
    file = tmp_path / "topics"
    file.write_text(text)
    reassign.text("plan", "--from", str(file), code=code)
    assert message in reassign.err


@pytest.mark.parametrize("verb", ["plan", "elect-leaders"])
def test_a_topic_that_does_not_exist_is_named(verb: str, reassign: Command) -> None:
    reassign.text(verb, "orders", "payment", code=ExitCode.FAILED)
    assert reassign.err == "kafkawire: the topic payment: there is no such topic; did you mean payments?\n"
