"""How long the command line takes to start: ``python -m benchmarks.command_line [ROUNDS]``.

Prints medians, beside a start of Python that does nothing; the calls take turns in each round.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from kafkawire.cli.completion import VARIABLE

_COMMAND = str(Path(sys.executable).with_name("kafkawire"))
_PYTHON = "python -c pass"

CALLS: Mapping[str, tuple[Sequence[str], str]] = {
    _PYTHON: ((sys.executable, "-c", "pass"), ""),
    "kafkawire --help": ((_COMMAND, "--help"), ""),
    "kafkawire --version": ((_COMMAND, "--version"), ""),
    "a command that does not exist": ((_COMMAND, "tabels"), ""),
    "kafkawire tables --help": ((_COMMAND, "tables", "--help"), ""),
    "completion of a command": ((_COMMAND, "ta"), "bash"),
    "completion of an option": ((_COMMAND, "tables", "--col"), "bash"),
    "completion of a table": ((_COMMAND, "tables", "--table", "ac"), "bash"),
    "completion of a column": ((_COMMAND, "tables", "--table", "topic", "--columns", "n"), "zsh"),
}
"""The words of each call, and the shell that asks for a completion."""


def measured(rounds: int) -> Mapping[str, Sequence[float]]:
    """Seconds of each call in each round."""
    seconds: dict[str, list[float]] = {name: [] for name in CALLS}
    for _ in range(rounds):
        for name, (words, shell) in CALLS.items():
            environment = {**os.environ, VARIABLE: shell} if shell else dict(os.environ)
            begin = time.perf_counter()
            subprocess.run(words, capture_output=True, check=False, env=environment)
            seconds[name].append(time.perf_counter() - begin)
    return seconds


def main() -> None:
    """Print a line for each call."""
    seconds = measured(int(sys.argv[1]) if len(sys.argv) > 1 else 25)
    usual = statistics.median(seconds[_PYTHON])
    for name, each in seconds.items():
        median = statistics.median(each)
        print(f"{name:<32}{median * 1000:7.1f} ms {median / usual:6.1f} times")


if __name__ == "__main__":
    main()
