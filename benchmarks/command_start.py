"""The start of the command line, whole processes, beside a start of Python that does nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from benchmarks.processes import KAFKAWIRE, whole_process
from benchmarks.results import KAFKA_PYTHON, OURS, Measurement, Target
from benchmarks.sampling import Waiting, interleave_waiting
from kafkawire.cli.completion import VARIABLE

KIND: Final = "command start"
EMPTY: Final = "python -c pass"
OTHERS: Final = (EMPTY, KAFKA_PYTHON)
PYTHON_COMMAND: Final = os.fspath(Path(sys.executable).with_name("kafka-python"))
"""The command line of kafka-python."""

_OF_HELP: Final = 0.150
_OF_A_COMPLETION: Final = 0.100


class Call(NamedTuple):
    """A call of the command line.

    Attributes:
        words: those after ``kafkawire``.
        most: seconds that it may take.
        shell: the shell that asks for a completion.
        exit_code: what it ends with.
        peer: the words of the same call of kafka-python's command line.
    """

    words: Sequence[str]
    most: float = _OF_HELP
    shell: str = ""
    exit_code: int = 0
    peer: Sequence[str] = ()


CALLS: Mapping[str, Call] = {
    "`kafkawire --help`": Call(("--help",), peer=("--help",)),
    "`kafkawire topics list --help`": Call(("topics", "list", "--help"), peer=("admin", "topics", "list", "--help")),
    "`kafkawire --version`": Call(("--version",)),
    "a command that does not exist": Call(("tabels",), exit_code=2),
    "completion of a command": Call(("to",), _OF_A_COMPLETION, "bash"),
    "completion of an option": Call(("topics", "list", "--out"), _OF_A_COMPLETION, "bash"),
    "completion of a column": Call(("tables", "--table", "topic", "--columns", "n"), _OF_A_COMPLETION, "zsh"),
}


def run(rounds: int) -> Iterator[Measurement]:
    """Measure each call."""
    for name, call in CALLS.items():
        environment = {VARIABLE: call.shell} if call.shell else {}
        contenders = {
            OURS: _process([KAFKAWIRE, *call.words], environment, exit_code=call.exit_code),
            EMPTY: _process([sys.executable, "-c", "pass"]),
        }
        if call.peer:
            contenders[KAFKA_PYTHON] = _process([PYTHON_COMMAND, *call.peer])
        yield Measurement(KIND, name, interleave_waiting(contenders, rounds), (Target(None, call.most),))


def _process(
    words: Sequence[str], environment: Mapping[str, str] = MappingProxyType({}), *, exit_code: int = 0
) -> Waiting:
    ran = partial(whole_process, words, environment, exit_code=exit_code)
    return Waiting(lambda: ran().seconds)
