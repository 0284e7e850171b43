"""How many tasks members and processes have, and how many a member may have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from kafkawire.broker.groups.assignors.priority_queue import PriorityQueue
from kafkawire.model.java_order import in_java_order

Task: TypeAlias = tuple[int, int]
"""The position of its subtopology in the order of ids, and its partition."""


class Process:
    """A process and its members.

    Args:
        member_ids: in the order in which they are added.

    Attributes:
        counts: how many tasks each member has, in Java's order.
        tasks: those that some member has; others may get no copy of them.
        load: tasks for each member.
    """

    def __init__(self, member_ids: Iterable[str]) -> None:
        self.counts = dict.fromkeys(in_java_order(member_ids), 0)
        self.tasks = set[Task]()
        self.load = 0.0
        self._given = 0
        self._by_count: PriorityQueue[str] | None = None

    def give(self, member_id: str, task: Task) -> int:
        """Give a task to a member; returns how many it has then."""
        self._by_count = None
        return self._add(member_id, task)

    def give_to_least_loaded(self, task: Task) -> tuple[str, int]:
        """Give a task to the member with the fewest; returns its id, and how many it has then."""
        if self._by_count is None:
            self._by_count = PriorityQueue(self.counts, self.counts.__getitem__)
        member_id = self._by_count.poll()
        count = self._add(member_id, task)
        self._by_count.add(member_id)
        return member_id, count

    def _add(self, member_id: str, task: Task) -> int:
        self.tasks.add(task)
        self.counts[member_id] += 1
        self._given += 1
        self.load = self._given / len(self.counts)
        return self.counts[member_id]


class Holder(NamedTuple):
    """A member that has had a task.

    Attributes:
        process: in which it runs.
        member_id: its id.
    """

    process: Process
    member_id: str

    @property
    def held(self) -> int:
        """How many tasks it has."""
        return self.process.counts[self.member_id]


class Quota:
    """How many tasks a member may have: as many as are left for each member that is left.

    Args:
        tasks: that are to be given.
        members: that may get them.

    Attributes:
        per_member: the quota now.
    """

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks = tasks
        self._members = members
        self.per_member = self._share()

    def note(self, count: int) -> None:
        """A member has got a task; with those that it has, it may have reached the quota."""
        if count == self.per_member:
            self._members -= 1
            self._tasks -= count
            self.per_member = self._share()

    def _share(self) -> int:
        return -(-self._tasks // self._members) if self._members else 0
