"""Messages that Apache Kafka's own classes decode and encode, in a warm Java machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
from tests.apache_kafka.java_program import JavaProgram, running_program
from tests.apache_kafka.releases import newest_broker_release

from benchmarks.sampling import Waiting

_SOURCES = Path(__file__).parent / "java" / "messages"
_HEAP = "1g"


class _Work(msgspec.Struct):
    """A question to the program; see Messages.java."""

    message: str
    version: int
    octets: bytes
    encodes: bool
    calls: int


@dataclass(frozen=True)
class JavaMessages:
    """Kafka's classes in a running Java machine.

    Attributes:
        program: the machine.
        slice_seconds: the time of all calls of a measurement.
    """

    program: JavaProgram
    slice_seconds: float

    def timed(self, message: str, version: int, octets: bytes, *, encodes: bool) -> Waiting:
        """A contender that decodes a message, or encodes what it has decoded once.

        Its first calls are compiled before it is measured.
        """

        def seconds(calls: int) -> float:
            (answer,) = self.program.ask([_Work(message, version, octets, encodes, calls)])
            return float(answer)

        calls = 1
        for _ in range(_WARMING):
            calls = max(int(self.slice_seconds / max(seconds(calls), 1e-9)), 1)
        return Waiting(lambda: seconds(calls))


_WARMING = 10
"""Slices that do not count, while the machine compiles."""


@contextmanager
def java_messages(slice_seconds: float) -> Iterator[JavaMessages | None]:
    """Start the machine; None where there is no Java."""
    if shutil.which("java") is None or shutil.which("mvn") is None:
        yield None
        return
    with running_program(newest_broker_release(), _SOURCES, "Messages", heap=_HEAP, options=()) as program:
        yield JavaMessages(program, slice_seconds)
