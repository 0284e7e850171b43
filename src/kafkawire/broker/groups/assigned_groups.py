"""The groups of a broker to whose members the coordinator assigns partitions, of one kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

from kafkawire.broker.clock import Clock
from kafkawire.broker.groups.assigned_group import NO_ROOM
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.live_groups import Expiring, LiveGroups
from kafkawire.broker.groups.state import GroupKind
from kafkawire.broker.groups.timers import Timers
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.broker.internal_topics.entries import Change
from kafkawire.protocol.error_codes import ErrorCode

_LARGE: Final = 1 << 14
"""Bytes of a member; smaller ones may join however much the large ones take."""


class Recorded(Expiring, Protocol):
    """A group that says what is to be written."""

    @property
    def group_id(self) -> str:
        """Its id."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""

    @property
    def size(self) -> int:
        """About how many bytes its members determine."""

    @property
    def timers(self) -> Timers:
        """The timers that are set."""

    def changes(self) -> Sequence[Change]:
        """The records to write since the last call, in their order."""


A = TypeVar("A", bound=Recorded)


class AssignedGroups(LiveGroups[A]):
    """The groups of a kind that have members; all others are made from their records when they are needed.

    Args:
        coordinator: has the records of all groups, and writes new ones.
        clock: the broker's.
        topics: of the cluster.
        kind: of the groups.
        most_bytes: of the names and subscriptions of all members of all groups.
    """

    def __init__(
        self, coordinator: GroupCoordinator, clock: Clock, topics: KnownTopics, kind: GroupKind, most_bytes: int
    ) -> None:
        super().__init__(coordinator, clock)
        self._topics = topics
        self._kind = kind
        self._most_bytes = most_bytes

    @property
    def topics(self) -> KnownTopics:
        """The topics of the cluster."""
        return self._topics

    def load(self) -> None:
        """Begin the sessions of all members that the records have, as Kafka does when it starts."""
        for group_id, stored in self._coordinator.state.by_id.items():
            if stored.kind is self._kind:
                self._keep(self._made(group_id))

    def group(self, group_id: str) -> A | None:
        """A group as it is now; None if there is none of this kind."""
        if group_id in self._live:
            return self._live[group_id]
        stored = self._coordinator.state.by_id.get(group_id)
        return self._made(group_id) if stored is not None and stored.kind is self._kind else None

    async def close(self) -> None:
        """Stop the timers."""
        await self._wakes.close()

    @abstractmethod
    def _made(self, group_id: str) -> A:
        """A group from its records, or a new one."""

    def _has_room(self, size: int) -> bool:
        """Whether a member of a size may join."""
        return size <= _LARGE or self._bytes + size <= self._most_bytes

    def _check_room(self, size: int) -> None:
        if not self._has_room(size):
            raise GroupError(ErrorCode.GROUP_MAX_SIZE_REACHED, NO_ROOM)

    def _settle(self, group: A) -> None:
        self._write(group, group.changes())
        self._keep(group)

    def _write(self, group: A, changes: Sequence[Change]) -> None:
        """Write what an event demands; the logs are prepared."""
        try:
            self._coordinator.commit(changes)
        except BaseException:
            self.forget(group.group_id)  # it is made again from what is written
            raise

    def _keep(self, group: A) -> None:
        """Keep a group as long as it has members."""
        if group.is_empty:
            self.forget(group.group_id)
        else:
            self._hold(group)

    def _hold(self, group: A) -> None:
        """Keep a group, and look at it when its next timer is due."""
        group_id = group.group_id
        self._live[group_id] = group
        self._bytes += group.size - self._sizes.get(group_id, 0)
        self._sizes[group_id] = group.size
        self._wakes.set(group_id, group.timers.look_at)

    def _forget_all(self) -> None:
        """The topic of the records was deleted."""
        for group_id in [*self._live]:
            self.forget(group_id)
