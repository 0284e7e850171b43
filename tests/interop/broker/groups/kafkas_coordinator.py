"""What the classes of Kafka's group coordinator compute: the questions of ``tests/interop/java/assignors``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from tests.apache_kafka.java_program import JavaProgram, running_program

from kafkawire.broker.served_apis import RELEASE

_SOURCES = Path(__file__).parents[2] / "java" / "assignors"


class AskedTopic(msgspec.Struct, frozen=True):
    """A topic of a group."""

    name: str
    id: str
    partitions: int


class AskedMember(msgspec.Struct, frozen=True):
    """A member of a group; ``target`` has topic ids and their partitions."""

    id: str
    instance: str | None
    topics: tuple[str, ...]
    target: tuple[tuple[str, tuple[int, ...]], ...]


class Assign(msgspec.Struct, frozen=True, tag_field="op", tag="assign"):
    """Which partitions shall the members have?

    ``assignable`` has topic ids and the partitions that members may get; None lets them get all.
    """

    assignor: str
    homogeneous: bool
    topics: tuple[AskedTopic, ...]
    members: tuple[AskedMember, ...]
    assignable: tuple[tuple[str, tuple[int, ...]], ...] | None = None


class Hash(msgspec.Struct, frozen=True, tag_field="op", tag="hash"):
    """What is the XXH3 hash of these bytes?"""

    hex: str


class Match(msgspec.Struct, frozen=True, tag_field="op", tag="match"):
    """Which names does a regular expression match?"""

    pattern: str
    names: tuple[str, ...]


@contextmanager
def kafkas_coordinator() -> Iterator[JavaProgram]:
    """Start the program; it ends with the context."""
    with running_program(RELEASE, _SOURCES, "Assignors", heap="128m") as program:
        yield program
