"""The streams groups of a broker: passes heartbeats to them, writes records, and keeps time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from weakref import WeakValueDictionary

from kafkawire.broker.clock import Clock
from kafkawire.broker.groups.assigned_groups import AssignedGroups
from kafkawire.broker.groups.classic.live_groups import ClassicGroups
from kafkawire.broker.groups.classic.states import State
from kafkawire.broker.groups.commits import CommitRules
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.state import GroupKind
from kafkawire.broker.groups.streams.group import Answer, StreamsGroup
from kafkawire.broker.groups.streams.joining import check
from kafkawire.broker.groups.streams.long_work import DeferredWork, LongWorkError, Work
from kafkawire.broker.groups.streams.member import LEFT, TAG_BYTES, StreamsMember
from kafkawire.broker.groups.streams.settings import StreamsGroupSettings
from kafkawire.broker.groups.streams.task_offsets import size_of_offsets
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.broker.internal_topics.entries import Change
from kafkawire.protocol import GroupMetadataKey, StreamsGroupHeartbeatRequest
from kafkawire.protocol.error_codes import ErrorCode


class StreamsGroups(AssignedGroups[StreamsGroup]):
    """The groups of KIP-1071, with and without members.

    Args:
        coordinator: has the records of all groups, and writes new ones.
        classic: the classic groups, of which one without members becomes a streams group.
        clock: the broker's.
        settings: of all groups.
        topics: of the cluster.
    """

    def __init__(
        self,
        coordinator: GroupCoordinator,
        classic: ClassicGroups,
        clock: Clock,
        settings: StreamsGroupSettings,
        topics: KnownTopics,
    ) -> None:
        super().__init__(coordinator, clock, topics, GroupKind.STREAMS, settings.most_bytes)
        self._classic = classic
        self._settings = settings
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By group: its heartbeats are answered one at a time, as some take long."""
        self._thread = ThreadPoolExecutor(1, "kafkawire large streams groups")

    async def close(self) -> None:
        """Stop the timers, and end the thread."""
        await super().close()
        self._thread.shutdown(cancel_futures=True)

    @property
    def settings(self) -> StreamsGroupSettings:
        """The properties of all groups."""
        return self._settings

    def commit_rules(self, group_id: str) -> CommitRules[StreamsMember] | None:
        """Which commits a group accepts; None if there is none of this kind."""
        group = self.group(group_id)
        return None if group is None else group.state.commit_rules(self._topics.name_of)

    async def heartbeat(self, request: StreamsGroupHeartbeatRequest, client: tuple[str, str]) -> Answer:
        """The answer to a heartbeat.

        Args:
            request: the request.
            client: id and host of the client, the host as Kafka records it.

        Raises:
            GroupError: it is refused.
            StorageError, OSError: a record could not be written.
        """
        check(request, is_later=self._settings.is_later)
        self._check_room(_size(request))
        self._existing(request)
        group_id, work = request.group_id, DeferredWork()
        answer: Answer | None = None
        async with self._turns.setdefault(group_id, asyncio.Lock()):
            while answer is None:
                await self._coordinator.prepare([group_id])
                try:
                    answer = self._answer(request, client, work)
                except LongWorkError as long:
                    await asyncio.get_running_loop().run_in_executor(self._thread, long.work)
        await self._coordinator.durable()
        return answer

    def _answer(self, request: StreamsGroupHeartbeatRequest, client: tuple[str, str], work: Work) -> Answer:
        """The answer to a heartbeat; the log is prepared."""
        group = self._existing(request)
        before: Sequence[Change] = ()
        if self._classic.group(request.group_id) is not None:
            before = ((GroupMetadataKey(request.group_id), None),)
        if request.member_epoch == LEFT:
            answer = Answer(group.leave(request), {})
        else:
            answer = group.heartbeat(request, client, self._now(), work, self._has_room)
        self._write(group, [*before, *group.changes()])
        self._keep(group)
        if before:
            self._classic.end(request.group_id)
        return answer

    def found(self, group_id: str) -> StreamsGroup:
        """The group with a name.

        Raises:
            GroupError: there is none, or it is of another kind.
        """
        group = self.group(group_id)
        if group is None:
            is_there = group_id in self._coordinator.state.by_id or self._classic.group(group_id) is not None
            reason = f"Group {group_id} is not a streams group." if is_there else f"Group {group_id} not found."
            raise GroupError(ErrorCode.GROUP_ID_NOT_FOUND, reason)
        return group

    def make_room_for_classic(self, group_id: str) -> None:
        """Delete a group without members: a classic one begins. Its offsets stay.

        Raises:
            StorageError: a record could not be written.
        """
        self._coordinator.commit([*self._coordinator.state.by_id[group_id].removal_of_members()])
        self.forget(group_id)

    def _existing(self, request: StreamsGroupHeartbeatRequest) -> StreamsGroup:
        """The group of a request, which may begin now; a classic group without members becomes one.

        Raises:
            GroupError: there is no such group, and none begins.
        """
        group_id, classic = request.group_id, self._classic.group(request.group_id)
        group, is_known = self.group(group_id), group_id in self._coordinator.state.by_id
        if group is not None:
            return group
        if request.member_epoch == 0 and (not is_known or (classic is not None and classic.state is State.EMPTY)):
            return self._made(group_id)
        if request.member_epoch > 0 and not is_known and classic is None:
            raise GroupError(ErrorCode.GROUP_ID_NOT_FOUND, f"Streams group {group_id} not found.")
        return self.found(group_id)

    def _made(self, group_id: str) -> StreamsGroup:
        stored = self._coordinator.state.by_id.get(group_id)
        records = () if stored is None else stored.streams_records()
        return StreamsGroup(group_id, records, self._settings, self._topics, self._now())

    def _keep(self, group: StreamsGroup) -> None:
        """Keep a group without members too, as Kafka does: not all that it has found is in its records."""
        self._hold(group)


def _size(request: StreamsGroupHeartbeatRequest) -> int:
    """About how many bytes the group keeps of it."""
    tags, endpoint = request.client_tags or (), request.user_endpoint
    host = "" if endpoint is None else endpoint.host
    names = (request.member_id, request.rack_id or "", request.process_id or "", host)
    topology = 0 if request.topology is None else len(StreamsGroupHeartbeatRequest(topology=request.topology).encode(0))
    of_tags = sum(TAG_BYTES + len(each.key) + len(each.value) for each in tags)
    return topology + sum(map(len, names)) + of_tags + size_of_offsets(request)
