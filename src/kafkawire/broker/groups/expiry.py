"""Offsets expire some time after their group has used them last, and groups without members with them (KIP-211)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Final

from kafkawire.broker.clock import Clock
from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.groups.by_kind import GroupsByKind
from kafkawire.broker.groups.classic.states import State
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.state import Group, Partition
from kafkawire.broker.internal_topics.entries import Change
from kafkawire.broker.storage.errors import StorageError
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue

_log = logging.getLogger(__name__)
_MS_OF_MINUTE: Final = 60_000


class OffsetExpiry:
    """Deletes offsets and groups at the intervals of the broker's configuration.

    Args:
        coordinator: has the records of all groups.
        groups: of all kinds.
        clock: the broker's.
        configuration: has ``offsets.retention.minutes`` and ``offsets.retention.check.interval.ms``.
    """

    def __init__(
        self, coordinator: GroupCoordinator, groups: GroupsByKind, *, clock: Clock, configuration: Values
    ) -> None:
        self._coordinator = coordinator
        self._groups = groups
        self._clock = clock
        self._retention_ms = configuration.integer("offsets.retention.minutes") * _MS_OF_MINUTE
        self._interval = configuration.integer("offsets.retention.check.interval.ms") / 1000
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Look at all groups from now on."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def end(self) -> None:
        """End the task."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def settled(self) -> None:
        """Wait until a round that has begun is over."""
        async with self._turn:
            return

    async def expire(self) -> None:
        """Delete what is due now.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        async with self._turn:
            async for group_id in in_slices(tuple(self._coordinator.state.by_id)):
                if self._due(group_id):
                    await self._coordinator.prepare([group_id])
                    self._coordinator.commit(self._due(group_id))

    async def _run(self) -> None:
        while True:
            await self._clock.sleep(self._interval)
            try:
                await self.expire()
            except (StorageError, OSError) as error:
                _log.warning("Offsets that are due cannot be deleted: %s", error)

    def _due(self, group_id: str) -> list[Change]:
        """The changes that delete the offsets of a group that are due, and the group if nothing of it is left."""
        stored = self._coordinator.state.by_id.get(group_id)
        if stored is None:
            return []
        expired = [*self._expired(stored)]
        changes: list[Change] = [(OffsetCommitKey(group_id, *partition), None) for partition in expired]
        if len(expired) == len(stored.commits) and not stored.pending and self._is_empty(group_id):
            self._groups.forget(group_id)
            changes += stored.removal_of_members()
        return changes

    def _is_empty(self, group_id: str) -> bool:
        assigned = self._groups.committing(group_id)
        if assigned is not None:
            return assigned.is_empty
        classic = self._groups.classic.group(group_id)
        return classic is not None and classic.state is State.EMPTY

    def _expired(self, stored: Group) -> Iterator[Partition]:
        used_at = self._last_use(stored)
        now_ms = self._clock.now_ms()
        for partition, value in stored.commits.items() if used_at is not None else ():
            since = None if used_at is None else used_at(partition[0], value)
            if since is None or partition in stored.pending:
                continue
            is_due = now_ms - since >= self._retention_ms
            if is_due if value.expire_timestamp == -1 else now_ms >= value.expire_timestamp:
                yield partition

    def _last_use(self, stored: Group) -> Callable[[str, OffsetCommitValue], int | None] | None:
        """When a group has last used the commit of a topic; None for one that it uses, or may use."""
        assigned = self._groups.committing(stored.group_id)
        classic = self._groups.classic.group(stored.group_id)
        if assigned is not None:
            subscribed = assigned.state.subscribed
            return lambda topic, value: None if topic in subscribed else value.commit_timestamp
        if classic is None:
            return None
        if stored.metadata is None or not classic.protocol_type:
            return lambda _, value: value.commit_timestamp
        if classic.state is State.EMPTY:
            emptied = stored.metadata.current_state_timestamp
            return lambda _, value: emptied if emptied >= 0 else value.commit_timestamp
        if classic.state is State.STABLE and classic.subscribed is not None:
            return lambda topic, value: None if classic.is_subscribed_to(topic) else value.commit_timestamp
        return None
