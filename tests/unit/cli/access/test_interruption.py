"""Ctrl-C while a command waits for a cluster: the end is prompt and clean."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.apache_kafka.eventually import eventually

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode
from kafkawire.protocol import CreateTopicsRequest

PROGRAM = Path(sys.executable).with_name("kafkawire")


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("words", ["topics list --verbose", "doctor --verbose"])
def test_a_waiting_command_ends_at_once(words: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(20)
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with subprocess.Popen(
            [PROGRAM, *words.split(), "-b", address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as run:
            connection, _ = silent.accept()  # the command waits for an answer on it
            with connection:
                assert connection.recv(1) or words.startswith("doctor")
                begun = time.monotonic()
                run.send_signal(signal.SIGINT)
                printed, said = run.communicate(timeout=20)
                seconds = time.monotonic() - begun
    assert run.returncode == ExitCode.INTERRUPTED
    assert printed == ""
    assert "Traceback" not in said
    assert seconds < 3


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupted_change_says_that_it_may_be_done() -> None:
    with (
        ThreadedBroker() as broker,
        broker.faults.delay(CreateTopicsRequest, seconds=600) as slow,
        subprocess.Popen(
            [PROGRAM, "topics", "create", "orders", "-b", broker.bootstrap_servers], stderr=subprocess.PIPE, text=True
        ) as run,
    ):
        eventually(lambda: slow.hits, bool)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=20)
    assert run.returncode == ExitCode.INTERRUPTED
    assert said == "kafkawire: interrupted; what was sent may be done: look before you run it again\n"
