"""Runs the test suite of another project, with the embedded broker in place of its own.

::

    python -m tests.suites kafka-python CHECKOUT --python VENV/bin/python
    python -m tests.suites aiokafka CHECKOUT --python VENV/bin/python tests/test_consumer.py

CHECKOUT is a clone of the project; the Python has the project and what its tests need, pytest-timeout included. Further
arguments are those of pytest. The exit code is pytest's.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.suites.server import RELEASE

_ROOT: Final = Path(__file__).parents[2]
_PYTEST: Final = ("-m", "pytest", "-p", "no:cacheprovider", "--timeout", "120", "--timeout-method", "signal", "-rfE")
_SCRIPTS: Final = {
    "kafka-run-class.sh": "tests.suites.server",
    "kafka-topics.sh": "tests.suites.tools kafka-topics",
    "kafka-storage.sh": "",
}


class Suite(NamedTuple):
    """How a suite runs.

    Attributes:
        release: the one it expects.
        arguments: of pytest.
        tests: its tests, unless others are named.
        environment: variables besides ours; ``{folder}`` is the folder of this run.
    """

    release: str
    arguments: Sequence[str]
    tests: Sequence[str]
    environment: Mapping[str, str]


SUITES: Final = {
    "kafka-python": Suite("4.2", (), ("test/integration",), {"KAFKA_VERSION": "4.2.0", "KAFKA_ROOT": "{folder}"}),
    "aiokafka": Suite(
        "4.2",
        ("--docker-image", "kafka:2.13_4.2.0", "-o", "asyncio_default_fixture_loop_scope=function"),
        ("tests",),
        {"PYTHONPATH": str(Path(__file__).parent / "packages")},
    ),
}


def main() -> int:
    """Run a suite; returns pytest's exit code."""
    options = argparse.ArgumentParser(prog="python -m tests.suites", description="Run another project's tests.")
    options.add_argument("suite", choices=SUITES)
    options.add_argument("checkout", type=Path)
    options.add_argument("--python", required=True, help="the Python with the project and what its tests need")
    given, arguments = options.parse_known_args()
    suite = SUITES[given.suite]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_scripts(folder / "bin")
        own = {
            "KAFKAWIRE_SUITE_FOLDER": name,
            "KAFKAWIRE_SUITE_PYTHON": sys.executable,
            "KAFKAWIRE_SUITE_ROOT": str(_ROOT),
            RELEASE: suite.release,
            **{key: value.format(folder=name) for key, value in suite.environment.items()},
        }
        python = str(Path(given.python).absolute())
        command = [python, *_PYTEST, *suite.arguments, *(arguments or suite.tests)]
        return subprocess.run(command, cwd=given.checkout, env={**os.environ, **own}, check=False).returncode


def _write_scripts(folder: Path) -> None:
    """Write the scripts of a distribution of Apache Kafka that suites call."""
    folder.mkdir()
    for name, module in _SCRIPTS.items():
        script = folder / name
        script.write_text(_script(name, module), "utf-8")
        script.chmod(0o755)


def _script(name: str, module: str) -> str:
    if not module:
        return "#!/bin/sh\n# The embedded broker needs no formatted storage.\n"
    run = f'PYTHONPATH="$KAFKAWIRE_SUITE_ROOT" exec "$KAFKAWIRE_SUITE_PYTHON" -m {module}'
    if name != "kafka-topics.sh":
        return f'#!/bin/sh\n{run} "$@"\n'
    server = 'while [ $# -gt 1 ]; do [ "$1" = --bootstrap-server ] && server=$2; shift; done'
    return f'#!/bin/sh\n{server}\n{run} "${{server##*:}}"\n'


if __name__ == "__main__":
    sys.exit(main())
