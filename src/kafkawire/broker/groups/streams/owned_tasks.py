"""The tasks that members have or must give up, and who has a task."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Final, NamedTuple, Self, TypeAlias

from msgspec import field

from kafkawire.broker.groups.assignors.tasks import Partitions, Tasks
from kafkawire.protocol import (
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupHeartbeatRequest,
    StreamsGroupTargetAssignmentMemberValue,
)
from kafkawire.wire.message import Struct

Active: TypeAlias = Mapping[str, Mapping[int, int]]
"""Subtopology id to partitions, each with the epoch at which the member got the task."""

Sets: TypeAlias = Sequence[Mapping[str, Container[int]]]
"""For each role of `Tasks`, subtopology id to partitions."""

_Recorded: TypeAlias = Sequence[StreamsGroupCurrentMemberAssignmentValue.TaskIds]


class OwnedTasks(Struct, frozen=True):
    """Tasks that a member has, or must give up.

    Attributes:
        active: that it processes.
        standby: of which it keeps a copy.
        warmup: that it restores in order to take over.
    """

    active: Active = field(default_factory=dict)
    standby: Partitions = field(default_factory=dict)
    warmup: Partitions = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.active or self.standby or self.warmup)

    @property
    def tasks(self) -> Tasks:
        """The tasks without epochs."""
        return Tasks({each: (*partitions,) for each, partitions in self.active.items()}, self.standby, self.warmup)

    @classmethod
    def recorded(cls, active: _Recorded, standby: _Recorded, warmup: _Recorded, epoch: int) -> Self:
        """The tasks of a record; releases before 4.3 record no epochs: then it is that of the member."""
        with_epochs = {}
        for each in active:
            epochs = each.assignment_epochs
            if epochs is None or len(epochs) != len(each.partitions):
                epochs = (epoch,) * len(each.partitions)
            with_epochs[each.subtopology_id] = dict(sorted(zip(each.partitions, epochs, strict=True)))
        return cls(dict(sorted(with_epochs.items())), partitions_of(standby), partitions_of(warmup))

    def records(self) -> tuple[_Recorded, _Recorded, _Recorded]:
        """The active, standby and warm-up tasks of a record."""
        ids = StreamsGroupCurrentMemberAssignmentValue.TaskIds
        active = (ids(each, (*partitions,), (*partitions.values(),)) for each, partitions in self.active.items())
        standby, warmup = (
            tuple(ids(each, partitions) for each, partitions in tasks.items()) for tasks in (self.standby, self.warmup)
        )
        return tuple(active), standby, warmup


NO_OWNED_TASKS: Final = OwnedTasks()


def partitions_of(
    ids: Sequence[
        StreamsGroupHeartbeatRequest.TaskIds
        | StreamsGroupCurrentMemberAssignmentValue.TaskIds
        | StreamsGroupTargetAssignmentMemberValue.TaskIds
    ],
) -> Partitions:
    """The tasks of a request or a record, sorted."""
    named: dict[str, set[int]] = {}
    for each in ids:
        named.setdefault(each.subtopology_id, set()).update(each.partitions)
    return {each: tuple(sorted(partitions)) for each, partitions in sorted(named.items())}


def have_in_common(one: Tasks, other: Tasks) -> bool:
    """Whether some task is in both in the same role."""
    return any(
        not frozenset(partitions).isdisjoint(theirs.get(subtopology, ()))
        for own, theirs in zip(one, other, strict=True)
        for subtopology, partitions in own.items()
    )


def as_sets(owned: OwnedTasks) -> Sets:
    """Tasks as sets of partitions."""
    return [{name: frozenset(each) for name, each in by_subtopology.items()} for by_subtopology in owned.tasks]


class Task(NamedTuple):
    """A task in a role.

    Attributes:
        role: the position of the role in `Tasks`.
        subtopology: its id.
        partition: its number.
    """

    role: int
    subtopology: str
    partition: int


ACTIVE: Final = 0
WARMUP: Final = 2


class TaskOwners:
    """The processes that have each task, or are to give it up."""

    def __init__(self) -> None:
        self._roles: tuple[dict[str, dict[int, frozenset[str]]], ...] = tuple({} for _ in Tasks._fields)

    def add(self, process_id: str, owned: OwnedTasks) -> None:
        """A member of a process has tasks now."""
        own = frozenset((process_id,))
        for by_subtopology, tasks in zip(self._roles, owned.tasks, strict=True):
            for subtopology, partitions in tasks.items():
                processes = by_subtopology.setdefault(subtopology, {})
                for partition in partitions:
                    others = processes.get(partition)
                    processes[partition] = own if others is None else others | own

    def remove(self, process_id: str, owned: OwnedTasks) -> None:
        """A member of a process has tasks no more."""
        own = frozenset((process_id,))
        for by_subtopology, tasks in zip(self._roles, owned.tasks, strict=True):
            for subtopology, partitions in tasks.items():
                processes = by_subtopology.get(subtopology, {})
                for partition in partitions:
                    others = processes.pop(partition, own) - own
                    if others:
                        processes[partition] = others
                if not processes:
                    by_subtopology.pop(subtopology, None)

    def is_unreleased(self, task: Task, process_id: str, own: Sets | None = None) -> bool:
        """Whether a process cannot get a task now: it has it already, or another one processes it.

        Args:
            task: in the role in which it is to be given.
            process_id: of the process.
            own: the tasks of the member that is to get it. That it has the task itself in another role does not matter,
                except for a warm-up task of what it processes. None if all roles matter.
        """
        wanted, subtopology, partition = task
        if wanted == ACTIVE and partition in self._roles[ACTIVE].get(subtopology, ()):
            return True
        for role, by_subtopology in enumerate(self._roles):
            is_own = own is not None and partition in own[role].get(subtopology, ())
            if is_own and (role, wanted) != (ACTIVE, WARMUP):
                continue
            if process_id in by_subtopology.get(subtopology, {}).get(partition, ()):
                return True
        return False
