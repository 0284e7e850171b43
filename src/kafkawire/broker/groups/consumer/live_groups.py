"""The consumer groups of a broker: passes heartbeats to them, writes records, resolves expressions, and keeps time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.clock import Clock
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.groups.classic.live_groups import ClassicGroups
from kafkawire.broker.groups.classic.states import State
from kafkawire.broker.groups.consumer.errors import GroupError
from kafkawire.broker.groups.consumer.group import ConsumerGroup
from kafkawire.broker.groups.consumer.joining import Beat, check
from kafkawire.broker.groups.consumer.member import LEFT, LEFT_FOR_A_WHILE
from kafkawire.broker.groups.consumer.settings import ConsumerGroupSettings
from kafkawire.broker.groups.consumer.topics import KnownTopics
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.live_groups import LiveGroups
from kafkawire.broker.internal_topics.entries import Change
from kafkawire.broker.regexes.regex import Regex
from kafkawire.broker.storage.errors import StorageError
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    GroupMetadataKey,
    LeaveGroupRequest,
    LeaveGroupResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

_log = logging.getLogger(__name__)
_LARGE: Final = 1 << 14
"""Bytes of a member; smaller ones may join however much the large ones take."""


class ConsumerGroups(LiveGroups[ConsumerGroup]):
    """The groups of KIP-848 that have members; all others are made from their records when they are needed.

    Args:
        coordinator: has the records of all groups, and writes new ones.
        classic: the classic groups; an empty one becomes a consumer group when a member joins.
        clock: the broker's.
        settings: of all groups.
        topics: of the cluster.
    """

    def __init__(
        self,
        coordinator: GroupCoordinator,
        classic: ClassicGroups,
        clock: Clock,
        settings: ConsumerGroupSettings,
        topics: KnownTopics,
    ) -> None:
        super().__init__(coordinator, clock)
        self._classic = classic
        self._settings = settings
        self._topics = topics
        self._resolving: dict[str, asyncio.Task[None]] = {}
        self._one_at_a_time = asyncio.Lock()

    def load(self) -> None:
        """Begin the sessions of all members that the records have, as Kafka does when it starts."""
        for group_id, stored in self._coordinator.state.by_id.items():
            if stored.is_consumer_group:
                self._keep(self._made(group_id))

    async def close(self) -> None:
        """Stop the timers, and the search for topics that match regular expressions."""
        await self._wakes.close()
        for task in self._resolving.values():
            task.cancel()
        await asyncio.gather(*self._resolving.values(), return_exceptions=True)

    @property
    def topics(self) -> KnownTopics:
        """The topics of the cluster."""
        return self._topics

    @property
    def is_served(self) -> bool:
        """Whether there are consumer groups at all."""
        return self._settings.is_served

    @property
    def assignors(self) -> Sequence[str]:
        """The names of the assignors, the default first."""
        return self._settings.assignors

    def group(self, group_id: str) -> ConsumerGroup | None:
        """A group as it is now; None if there is none of this kind."""
        if group_id in self._live:
            return self._live[group_id]
        stored = self._coordinator.state.by_id.get(group_id)
        return self._made(group_id) if stored is not None and stored.is_consumer_group else None

    # Requests.

    async def heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        version: int,
        client: tuple[str, str],
        may_see: Callable[[str], bool],
    ) -> ConsumerGroupHeartbeatResponse:
        """The answer to a heartbeat.

        Args:
            request: the request.
            version: its version.
            client: id and host of the client, the host as Kafka records it.
            may_see: whether the client may see a topic that a regular expression matches.

        Raises:
            GroupError: it is refused.
            StorageError, OSError: a record could not be written.
        """
        check(request, version, self._settings.assignors)
        if not request.member_id and request.member_epoch == 0:
            request = replace(request, member_id=str(Uuid.random()))
        beat = Beat(request, *client, check_regex)
        if beat.size > _LARGE and self._bytes + beat.size > self._settings.most_bytes:
            raise GroupError(ErrorCode.GROUP_MAX_SIZE_REACHED, "The members of all groups have no room for more.")
        self._existing(request)
        await self._coordinator.prepare([request.group_id])
        group = self._existing(request)
        before: list[Change] = []
        if group is None:
            before = self._end_of_classic(request.group_id)
            group = self._made(request.group_id)
        leaves = request.member_epoch in {LEFT, LEFT_FOR_A_WHILE}
        answer = group.leave(beat, self._now()) if leaves else group.heartbeat(beat, self._now())
        self._settle(group, before)
        self._resolve_soon(group, may_see)
        await self._coordinator.durable()
        return answer

    async def leave(
        self, group_id: str, members: Sequence[LeaveGroupRequest.MemberIdentity]
    ) -> Sequence[LeaveGroupResponse.MemberResponse]:
        """An administrator removes members of a group that exists; returns the result of each.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        await self._coordinator.prepare([group_id])
        group = self.group(group_id)
        results, gone = [], dict[str, None]()
        for each in members:
            error = ErrorCode.UNKNOWN_MEMBER_ID
            if group is not None:
                try:
                    gone[group.find(each.member_id, each.group_instance_id).member_id] = None
                    error = ErrorCode.NONE
                except GroupError as refused:
                    error = refused.code
            results.append(LeaveGroupResponse.MemberResponse(each.member_id, each.group_instance_id, error))
        if group is not None:
            group.fence([*gone])
            self._settle(group)
        await self._coordinator.durable()
        return results

    async def make_room_for_classic(self, group_id: str) -> ErrorCode:
        """A member of a classic group wants to join: an empty consumer group is deleted for it, others stay.

        Returns:
            The error for the member; NONE if it may join.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        if self.group(group_id) is None:
            return ErrorCode.NONE
        await self._coordinator.prepare([group_id])
        group = self.group(group_id)
        if group is None:
            return ErrorCode.NONE
        if group.state.members:
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        self._coordinator.commit([*self._coordinator.state.by_id[group_id].removal_of_members()])
        self.forget(group_id)
        return ErrorCode.NONE

    def _existing(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroup | None:
        """The group of a request; None if it begins now.

        Raises:
            GroupError: there is no such group, and none begins.
        """
        group_id, may_begin = request.group_id, request.member_epoch == 0
        group = self.group(group_id)
        if group is not None:
            return group
        classic = self._classic.group(group_id)
        if classic is None and not may_begin:
            kind = "Consumer group" if request.member_epoch > 0 else "Group"
            raise GroupError(ErrorCode.GROUP_ID_NOT_FOUND, f"{kind} {group_id} not found.")
        if classic is not None and not may_begin:
            raise GroupError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        if classic is not None and classic.state is not State.EMPTY:
            reason = f"Cannot upgrade classic group {group_id} to consumer group because online upgrade is disabled."
            raise GroupError(ErrorCode.GROUP_ID_NOT_FOUND, reason)
        return None

    def _end_of_classic(self, group_id: str) -> list[Change]:
        """What ends an empty classic group, whose offsets stay."""
        if self._classic.group(group_id) is None:
            return []
        self._classic.forget(group_id)
        return [(GroupMetadataKey(group_id), None)]

    def _made(self, group_id: str) -> ConsumerGroup:
        stored = self._coordinator.state.by_id.get(group_id)
        records = () if stored is None else stored.records.items()
        return ConsumerGroup(group_id, records, self._settings, self._topics, self._now())

    # What follows from events.

    def _settle(self, group: ConsumerGroup, before: Sequence[Change] = ()) -> None:
        """Write what an event demands; the logs are prepared."""
        try:
            self._coordinator.commit([*before, *group.changes()])
        except BaseException:
            self.forget(group.state.group_id)  # it is made again from what is written
            raise
        self._keep(group)

    def _keep(self, group: ConsumerGroup) -> None:
        """Keep a group as long as it has members."""
        group_id = group.state.group_id
        if not group.state.members:
            self.forget(group_id)
            return
        self._live[group_id] = group
        self._bytes += group.size - self._sizes.get(group_id, 0)
        self._sizes[group_id] = group.size
        self._wakes.set(group_id, group.timers.look_at)

    def _forget_all(self) -> None:
        """The topic of the records was deleted."""
        for group_id in [*self._live]:
            self.forget(group_id)

    # Regular expressions.

    def _resolve_soon(self, group: ConsumerGroup, may_see: Callable[[str], bool]) -> None:
        group_id, regexes = group.state.group_id, group.wanted_regexes
        group.wanted_regexes = ()
        if not regexes or group_id in self._resolving:
            return
        task = asyncio.get_running_loop().create_task(self._resolve(group_id, regexes, may_see))
        self._resolving[group_id] = task
        task.add_done_callback(lambda _: self._resolving.pop(group_id, None))

    async def _resolve(self, group_id: str, regexes: Sequence[str], may_see: Callable[[str], bool]) -> None:
        version, matches = self._topics.version, dict[str, list[str]]()
        async with self._one_at_a_time:
            for text in regexes:
                names = await asyncio.to_thread(_matching, text, tuple(self._topics.names))
                matches[text] = [name async for name in in_slices(names) if may_see(name)]
        try:
            await self._coordinator.prepare([group_id])
            group = self._live.get(group_id)
            if group is not None:
                group.resolve(matches, version, self._now())
                self._settle(group)
        except (StorageError, OSError) as error:
            _log.warning("Group %r: its record cannot be written: %s", group_id, error)


def _matching(text: str, names: Sequence[str]) -> Sequence[str]:
    """The names that a regular expression matches.

    There are none if that takes too long, or if another release has taken the expression and this one does not.
    """
    try:
        regex = Regex(text)
        return [name for name in names if regex.matches(name)]
    except ValueError as error:
        _log.warning("SubscribedTopicRegex %r matches no topic: %r", text, str(error))
        return ()


def check_regex(text: str) -> None:
    """Check that a regular expression can be used.

    Raises:
        GroupError: it cannot; the message says why.
    """
    try:
        Regex(text)
    except ValueError as error:
        raise GroupError(ErrorCode.INVALID_REGULAR_EXPRESSION, f"SubscribedTopicRegex {error}") from None
