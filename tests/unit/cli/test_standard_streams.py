"""The standard streams: a command whose warnings are not read any more does all of its work."""

from __future__ import annotations

import os
import subprocess
import sys

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode

PROGRAM = "import sys; from kafkawire.cli.app import main; sys.exit(main())"


def test_a_change_is_carried_out_without_a_reader_of_its_remarks() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with ThreadedBroker() as broker:
        words = ["topics", "create", "orders", "--verbose", "-b", broker.bootstrap_servers, "-o", "csv"]
        command = [sys.executable, "-c", PROGRAM, *words]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=writing, text=True, check=False)
    os.close(writing)
    assert run.returncode == ExitCode.DONE
    assert '"orders","topic","create","done"' in run.stdout


def test_a_failure_keeps_its_exit_code_without_a_reader() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run([sys.executable, "-c", PROGRAM, "topics", "lst"], stderr=writing, check=False)
    os.close(writing)
    assert run.returncode == ExitCode.USAGE
