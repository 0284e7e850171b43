"""Kafka's command line tools, many command lines in one Java process; their output and exit code.

``tests/conformance/java/kafka_tool/KafkaTool.java`` documents its lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec
from tests.apache_kafka.java_program import JavaProgram, running_program

_SOURCES = Path(__file__).parents[1] / "conformance" / "java" / "kafka_tool"
_CONFIGS = "kafka.admin.ConfigCommand"


class Printed(msgspec.Struct, frozen=True):
    """What a command printed, and how it ended."""

    stdout: str
    stderr: str
    exit: int


class Added(msgspec.Struct, frozen=True):
    """What kafka-configs makes of a value of ``--add-config``: pairs in its order, or the text of the error."""

    pairs: list[tuple[str, str]] = []
    error: str | None = None


class Orders(msgspec.Struct, frozen=True):
    """The orders in which maps have keys."""

    hash_map: list[str]
    properties: list[str]
    scala_map: list[str]


class KafkaTool:
    """A running process."""

    def __init__(self, program: JavaProgram) -> None:
        self._program = program

    def configs(self, command_lines: Sequence[Sequence[str]]) -> list[Printed]:
        """Run kafka-configs, with each command line after the one before."""
        return self.run(_CONFIGS, command_lines)

    def run(self, tool: str, command_lines: Sequence[Sequence[str]]) -> list[Printed]:
        """Run a tool, given as its main class, with each command line after the one before."""
        questions = [_Question("run", tool=tool, words=list(words)) for words in command_lines]
        return [msgspec.json.decode(line, type=Printed) for line in self._program.ask(questions)]

    def added(self, texts: Sequence[str]) -> list[Added]:
        """What kafka-configs makes of values of ``--add-config``."""
        questions = [_Question("added", text=text) for text in texts]
        return [msgspec.json.decode(line, type=Added) for line in self._program.ask(questions)]

    def orders(self, keys: Sequence[Sequence[str]]) -> list[Orders]:
        """The orders in which maps have these keys."""
        questions = [_Question("orders", words=list(each)) for each in keys]
        return [msgspec.json.decode(line, type=Orders) for line in self._program.ask(questions)]


@contextmanager
def running_kafka_tool(release: str) -> Iterator[KafkaTool]:
    """Start the process with the classes of a release; it ends with the context."""
    with running_program(release, _SOURCES, "kafka_tool.KafkaTool", heap="512m") as program:
        yield KafkaTool(program)


class _Question(msgspec.Struct, frozen=True):
    op: Literal["run", "added", "orders"]
    tool: str = ""
    words: list[str] = []
    text: str = ""
