"""What the assignor of streams groups works with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol, TypeAlias

Partitions: TypeAlias = Mapping[str, tuple[int, ...]]
"""Subtopology id to partitions, both sorted."""


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
        target: what it shall have so far.
    """

    process_id: str
    target: Tasks = NO_TASKS


class SubtopologySpec(Protocol):
    """A subtopology: how many tasks it has, and whether they have state."""

    @property
    def tasks(self) -> int:
        """How many there are."""

    @property
    def is_stateful(self) -> bool:
        """Whether they may have standby tasks."""
