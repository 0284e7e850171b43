"""What the classes of Kafka's group coordinator compute of streams groups: the questions of ``StreamsTasks.java``."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from tests.apache_kafka.java_program import JavaProgram, running_program

from kafkawire.broker.groups.assignors.tasks import Tasks
from kafkawire.broker.served_apis import RELEASE
from kafkawire.protocol import StreamsGroupTopologyValue


class AskedMember(msgspec.Struct, frozen=True):
    """A member of a group, what it has or shall have so far, and the offsets of its copies of tasks."""

    process: str
    previous: Tasks
    offsets: Sequence[tuple[str, int, int]] = ()


class AskedSubtopology(msgspec.Struct, frozen=True):
    """A subtopology with its tasks."""

    tasks: int
    is_stateful: bool


class Assign(msgspec.Struct, frozen=True, tag_field="op", tag="assign"):
    """Which tasks shall the members have? Members are in the order in which Kafka adds them."""

    members: Mapping[str, AskedMember]
    subtopologies: Mapping[str, AskedSubtopology]
    replicas: int


class Configure(msgspec.Struct, frozen=True, tag_field="op", tag="configure"):
    """What does a topology mean with the topics that exist?"""

    topology: str
    topics: Mapping[str, int]


def configure(topology: StreamsGroupTopologyValue, topics: Mapping[str, int]) -> Configure:
    """The question about a topology."""
    return Configure(base64.b64encode(topology.encode(0)).decode(), topics)


@contextmanager
def kafkas_streams() -> Iterator[JavaProgram]:
    """Start the program; it ends with the context."""
    with running_program(RELEASE, Path(__file__).parent, "StreamsTasks", heap="128m") as program:
        yield program


@contextmanager
def kafkas_later_streams(release: str) -> Iterator[JavaProgram]:
    """Start the program that has the assignor of a release since 4.4; it ends with the context."""
    with running_program(release, Path(__file__).parent / "later", "LaterStreamsTasks", heap="128m") as program:
        yield program
