"""Questions before a change: on a terminal, and in production. Exit codes of what was read."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
import typer

from kafkawire.admin import Results
from kafkawire.cli.access.changes import WatchedFailures, confirm, failures_printed
from kafkawire.cli.access.cluster_command import Cluster, GivenOptions
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.protocol.errors import GroupIdNotFoundError
from kafkawire.wire.kafka_errors import KafkaError


@pytest.fixture
def production(config_file: Path) -> Cluster:
    config_file.parent.mkdir(parents=True)
    config_file.write_text("[contexts.prod]\nbootstrap_servers = 'a:1'\nproduction = true\n")
    return Cluster(GivenOptions(context="prod"))


def asked_on_a_terminal(cluster: Cluster, answer: bytes, monkeypatch: pytest.MonkeyPatch) -> int | None:
    """The exit code after an answer; None if the change may go on."""
    import pty  # noqa: PLC0415 not on Windows

    outside, inside = pty.openpty()
    os.write(outside, answer)
    with os.fdopen(inside, "r") as keyboard, os.fdopen(os.dup(inside), "w") as screen:
        monkeypatch.setattr(sys, "stdin", keyboard)
        monkeypatch.setattr(sys, "stderr", screen)
        try:
            confirm(cluster, "delete 3 topics", yes=False)
        except typer.Exit as end:
            return end.exit_code
        finally:
            screen.flush()
            os.close(outside)
    return None


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", None), (b"YES\n", None), (b"\n", 1), (b"n\n", 1)])
def test_only_yes_is_yes(answer: bytes, code: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked_on_a_terminal(Cluster(GivenOptions("a:1")), answer, monkeypatch) == code


def test_without_a_terminal_a_destructive_change_is_wrong_usage() -> None:
    with pytest.raises(CommandError, match="give --yes, or --dry-run") as raised:
        confirm(Cluster(GivenOptions("a:1")), "delete 3 topics", yes=False)
    assert raised.value.exit_code == ExitCode.USAGE


def test_a_harmless_change_is_asked_about_in_production_only(production: Cluster) -> None:
    confirm(Cluster(GivenOptions("a:1")), "create a topic", yes=False, destructive=False)
    with pytest.raises(CommandError, match=r"create a topic \(context prod is production\): there is no terminal"):
        confirm(production, "create a topic", yes=False, destructive=False)
    confirm(production, "create a topic", yes=True, destructive=False)


def test_every_command_with_yes_confirms() -> None:
    """Otherwise a change in production would not be asked about."""
    import kafkawire.cli  # noqa: PLC0415 a namespace

    for folder in kafkawire.cli.__path__:
        for path in Path(folder).rglob("*.py"):
            text = path.read_text("utf-8")
            if re.search(r": (YesOption = False|ChangeOptions),", text):
                assert re.search(r"\bconfirm\(\s*cluster,", text), path


NO_GROUP = GroupIdNotFoundError("there is no such group")


@pytest.mark.parametrize(
    ("outcomes", "items", "code"),
    [
        ({"a": NO_GROUP}, ["a", "a"], ExitCode.FAILED),
        ({"a": NO_GROUP, "b": None}, ["a", "b", "a"], ExitCode.SOME_FAILED),
    ],
)
def test_items_that_are_given_twice_do_not_change_the_exit_code(
    outcomes: dict[str, KafkaError | None], items: list[str], code: ExitCode
) -> None:
    results = Results[str, None](outcomes, items)
    with pytest.raises(typer.Exit) as end, failures_printed(results):
        pass
    assert end.value.exit_code == code
    if code is ExitCode.FAILED:
        with pytest.raises(typer.Exit):
            WatchedFailures().checked(results)
    else:
        WatchedFailures().checked(results)
