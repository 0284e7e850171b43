"""A cluster, and the command that is run there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main


class Ended(NamedTuple):
    """How a command ended, and what it printed."""

    exit_code: int
    stdout: str
    stderr: str


Run = Callable[..., Ended]
"""Runs ``kafkawire configs`` with these words."""


@pytest.fixture(scope="module")
def broker() -> Iterator[ThreadedBroker]:
    """A broker with the APIs of KIP-248."""
    with ThreadedBroker({"unstable.api.versions.enable": "true"}, topics=["t1", "t2"]) as running:
        yield running


@pytest.fixture
def run(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> Run:
    """``SERVER`` among the words is the address of the broker."""

    def run_command(*words: str) -> Ended:
        exit_code = main(["configs", *(broker.bootstrap_servers if word == "SERVER" else word for word in words)])
        return Ended(exit_code, *capsys.readouterr())

    return run_command
