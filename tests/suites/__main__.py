"""Runs the test suite of another project, with the embedded broker in place of its own.

::

    python -m tests.suites kafka-python CHECKOUT --python VENV/bin/python
    python -m tests.suites aiokafka CHECKOUT --python VENV/bin/python tests/test_consumer.py
    python -m tests.suites franz-go CHECKOUT --broker apache
    python -m tests.suites java-clients FOLDER PlaintextConsumerTest ShareConsumerTest#testSubscriptionAndPoll

CHECKOUT is a clone of the project; java-clients has its tests from Maven, and FOLDER gets the traces of those that did
not pass. With ``--broker apache`` they get the cluster that they ask for, of one broker if the variable
KAFKAWIRE_SUITE_BROKERS is 1. A suite in Python needs a Python with the project and what its tests need, pytest-timeout
included. Further arguments name the tests, in place of all of them, and are given to the runner of the suite. The exit
code is that of the runner. What is missing is said first, with exit code 2.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.suites.known_suites import SUITES, Suite
from tests.suites.packages.broker_process import FOLDER, IMPORTS, OURS, ROOT, BrokerProcess
from tests.suites.server import BROKER, ON_DISK, RELEASE

_ROOT: Final = Path(__file__).parents[2]
_SCRIPTS: Final = {
    "kafka-run-class.sh": "tests.suites.server",
    "kafka-topics.sh": "tests.suites.tools kafka-topics",
    "kafka-storage.sh": "",
}


def main() -> int:
    """Run a suite; returns the exit code of its runner, or 2 if something is missing."""
    options = argparse.ArgumentParser(prog="python -m tests.suites", description="Run another project's tests.")
    options.add_argument("suite", choices=SUITES)
    options.add_argument("checkout", type=Path, help="a clone of the project; a folder for results if it needs none")
    options.add_argument("--python", default="", help="the Python with the project, for a suite in Python")
    options.add_argument(
        "--broker", choices=("embedded", "apache"), default="embedded", help="apache: Apache Kafka itself, with Java"
    )
    given, arguments = options.parse_known_args()
    suite, checkout = SUITES[given.suite], given.checkout.absolute()
    python = str(Path(given.python).absolute()) if given.python else ""
    missing = suite.missing(checkout, python)
    if missing is not None:
        sys.stderr.write(f"{given.suite}: {missing}\n")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # and so stop the broker
    with tempfile.TemporaryDirectory() as name:
        own = {FOLDER: name, OURS: sys.executable, ROOT: str(_ROOT), IMPORTS: os.pathsep.join(sys.path)}
        chosen = {BROKER: given.broker, RELEASE: suite.release, ON_DISK: "yes" if suite.on_disk else ""}
        os.environ |= {**own, **chosen}
        return _run(suite, checkout, python, arguments)


def _run(suite: Suite, checkout: Path, python: str, arguments: Sequence[str]) -> int:
    """Run the tests, at a broker of the run or at brokers that they start; the exit code."""
    folder = Path(os.environ[FOLDER])
    _write_scripts(folder / "bin")
    began = time.monotonic()
    properties = suite.properties(folder)
    broker = None if properties is None else BrokerProcess(properties)
    try:
        if broker is not None:
            sys.stderr.write(f"the broker started in {time.monotonic() - began:.1f} s\n")
            for tool, *words in suite.prepared_by:
                broker.run_tool(tool, *words).check_returncode()
        command = (*suite.command, *(arguments or suite.tests))
        classes = suite.class_path()
        words = [word.format(python=python, classes=classes) for word in command]
        own = {
            key: value.format(folder=folder, port=broker and broker.port) for key, value in suite.environment.items()
        }
        done = subprocess.run(words, cwd=checkout / suite.folder, env=_environment(own), check=False)
    finally:
        if broker is not None:
            broker.stop()
    sys.stderr.write(f"all in all: {time.monotonic() - began:.1f} s\n")
    return done.returncode


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    """The variables of the runner: those that are set win, so that a run may have other sizes than ours."""
    return {**own, **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"}}


def _write_scripts(folder: Path) -> None:
    """Write the scripts of a distribution of Apache Kafka that suites call."""
    folder.mkdir()
    for name, module in _SCRIPTS.items():
        script = folder / name
        script.write_text(_script(name, module), "utf-8")
        script.chmod(0o755)


def _script(name: str, module: str) -> str:
    if not module:
        return "#!/bin/sh\n# The storage is formatted when the broker starts.\n"
    run = f'PYTHONPATH="${ROOT}" exec "${OURS}" -m {module}'
    if name != "kafka-topics.sh":
        return f'#!/bin/sh\n{run} "$@"\n'
    server = 'while [ $# -gt 1 ]; do [ "$1" = --bootstrap-server ] && server=$2; shift; done'
    return f'#!/bin/sh\n{server}\n{run} "${{server##*:}}"\n'


if __name__ == "__main__":
    sys.exit(main())
