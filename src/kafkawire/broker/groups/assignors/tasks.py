"""What the assignor of streams groups works with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol, TypeAlias

Partitions: TypeAlias = Mapping[str, tuple[int, ...]]
"""Subtopology id to partitions, both sorted."""

Offsets: TypeAlias = Mapping[tuple[str, int], int]
"""Subtopology id and partition to the offset of a task."""


class Tasks(NamedTuple):
    """Tasks of a member.

    Attributes:
        active: that it processes.
        standby: of which it keeps a copy.
        warmup: that it restores in order to take over.
    """

    active: Partitions
    standby: Partitions
    warmup: Partitions


NO_TASKS: Final = Tasks({}, {}, {})


class MemberSpec(NamedTuple):
    """A member.

    Attributes:
        process_id: of the process in which it runs.
        previous: what it shall have so far, or has with the rules of Apache Kafka 4.4.
        offsets: of the copies of tasks that its client has reported.
    """

    process_id: str
    previous: Tasks = NO_TASKS
    offsets: Offsets = MappingProxyType({})


class SubtopologySpec(Protocol):
    """A subtopology: how many tasks it has, and whether they have state."""

    @property
    def tasks(self) -> int:
        """How many there are."""

    @property
    def is_stateful(self) -> bool:
        """Whether they may have standby tasks."""
