"""The classic groups of a broker: passes events to them, writes records, answers requests that wait, and keeps time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from kafkawire.broker.clock import Clock
from kafkawire.broker.groups.classic.group import ClassicGroup, Joining
from kafkawire.broker.groups.classic.rebalance import first_value
from kafkawire.broker.groups.classic.roster import Ticket
from kafkawire.broker.groups.classic.settings import GroupSettings
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.live_groups import LiveGroups
from kafkawire.broker.groups.state import GroupKind
from kafkawire.protocol import (
    GroupMetadataKey,
    HeartbeatRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    SyncGroupRequest,
    SyncGroupResponse,
    TxnOffsetCommitRequest,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message

_LARGE: Final = 1 << 14
"""Bytes of a member; smaller ones may join however much the large ones take."""

R = TypeVar("R", bound=Message)


class ClassicGroups(LiveGroups[ClassicGroup]):
    """The classic groups that have members or timers.

    Args:
        coordinator: has the records of all groups, and writes new ones.
        clock: the broker's.
        settings: of all groups.
    """

    def __init__(self, coordinator: GroupCoordinator, clock: Clock, settings: GroupSettings) -> None:
        super().__init__(coordinator, clock)
        self._settings = settings
        self._waiting: dict[Ticket, asyncio.Future[Message]] = {}
        self._tickets = itertools.count()

    def load(self) -> None:
        """Begin the sessions of all members that the records have, as Kafka does when it starts."""
        for group_id, stored in self._coordinator.state.by_id.items():
            if stored.metadata is not None and stored.metadata.members:
                self._settle(self._group(group_id))

    async def close(self) -> None:
        """Stop the timers, and forget the requests that wait."""
        await self._wakes.close()
        for waiting in self._waiting.values():
            waiting.cancel()

    @property
    def planned(self) -> int:
        """How many times there are at which a group is checked."""
        return self._wakes.planned

    def group(self, group_id: str) -> ClassicGroup | None:
        """A group as it is now; None if there is none of this kind."""
        if group_id in self._live:
            return self._live[group_id]
        stored = self._coordinator.state.by_id.get(group_id)
        if stored is None or stored.kind is not GroupKind.CLASSIC:
            return None
        return ClassicGroup(group_id, stored.metadata, self._settings, self._now())

    # Requests.

    def refusal(self, joining: Joining) -> JoinGroupResponse | None:
        """The answer to a JoinGroup request that can be refused before the group is read; None for any other."""
        request = joining.request
        if request.session_timeout_ms not in self._settings.session_ms:
            return refused_join(ErrorCode.INVALID_SESSION_TIMEOUT, request.member_id)
        if request.member_id and not self._exists(request.group_id):
            return refused_join(ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
        if joining.size > _LARGE and self._bytes + joining.size > self._settings.most_bytes:
            return refused_join(ErrorCode.GROUP_MAX_SIZE_REACHED, "")
        return None

    async def join(self, joining: Joining) -> JoinGroupResponse:
        """The answer to a JoinGroup request, which may wait for other members; the log is prepared.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        request, refused = joining.request, self.refusal(joining)
        if refused is not None:
            return refused
        if not self._exists(request.group_id):
            self._coordinator.commit([(GroupMetadataKey(request.group_id), first_value(self._now()))])
        group = self._group(request.group_id)
        ticket, answer = self._waited_for()
        group.join(joining, ticket, self._now())
        self._settle(group)
        return await self._answered(ticket, answer, JoinGroupResponse)

    async def sync(self, request: SyncGroupRequest) -> SyncGroupResponse:
        """The answer to a SyncGroup request, which may wait for the leader; the log is prepared.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        if not self._exists(request.group_id):
            return SyncGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID)
        group = self._group(request.group_id)
        ticket, answer = self._waited_for()
        group.sync(request, ticket, self._now())
        self._settle(group)
        return await self._answered(ticket, answer, SyncGroupResponse)

    def heartbeat(self, request: HeartbeatRequest) -> ErrorCode:
        """The error for a heartbeat."""
        group = self._live.get(request.group_id)
        if group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        error = group.heartbeat(request, self._now())
        self._settle(group)
        return error

    async def leave(
        self, group_id: str, members: Sequence[LeaveGroupRequest.MemberIdentity]
    ) -> Sequence[LeaveGroupResponse.MemberResponse]:
        """The results of a LeaveGroup request; the log is prepared.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        group = self._live.get(group_id)
        if group is None:
            result, unknown = LeaveGroupResponse.MemberResponse, ErrorCode.UNKNOWN_MEMBER_ID
            return tuple(result(each.member_id, each.group_instance_id, unknown) for each in members)
        results = group.leave(members, self._now())
        self._settle(group)
        await self._coordinator.durable()
        return results

    def commit_error(self, request: OffsetCommitRequest) -> ErrorCode:
        """The error for a commit of offsets; a commit of a member is a sign of life."""
        group = self.group(request.group_id)
        if group is None:
            return ErrorCode.NONE
        error = group.commit(request, self._now())
        if not group.is_idle:
            self._wakes.set(group.group_id, group.timers.look_at)
        return error

    def transactional_commit_error(self, request: TxnOffsetCommitRequest) -> ErrorCode:
        """The error for offsets that are committed with a transaction."""
        group = self.group(request.group_id)
        if group is None:
            is_member = request.generation_id_or_member_epoch >= 0
            return ErrorCode.ILLEGAL_GENERATION if is_member else ErrorCode.NONE
        return group.transactional_commit_error(request)

    # Groups that become groups of the other kind.

    def interrupt(self, group: ClassicGroup) -> None:
        """Let the members of a group that wait join again: it becomes a consumer group."""
        group.interrupt(ErrorCode.REBALANCE_IN_PROGRESS)
        self._settle(group)

    def end(self, group_id: str) -> None:
        """Forget a group that is a consumer group now."""
        group = self._live.pop(group_id, None)
        if group is not None:
            self._close(group, ErrorCode.REBALANCE_IN_PROGRESS)

    def take(self, group: ClassicGroup) -> None:
        """Take a group that was a consumer group; its record is written."""
        self._live[group.group_id] = group
        self._settle(group)

    def _exists(self, group_id: str) -> bool:
        return group_id in self._live or group_id in self._coordinator.state.by_id

    def _group(self, group_id: str) -> ClassicGroup:
        group = self._live.get(group_id)
        if group is None:
            stored = self._coordinator.state.by_id.get(group_id)
            value = None if stored is None else stored.metadata
            group = self._live[group_id] = ClassicGroup(group_id, value, self._settings, self._now())
        return group

    # What follows from events.

    def _settle(self, group: ClassicGroup) -> None:
        """Write, answer and set the timer as an event demands; the logs are prepared if it may write."""
        answers, value = group.outcome()
        if value is not None:
            self._coordinator.commit([(GroupMetadataKey(group.group_id), value)])
        self._answer(answers)
        self._count(group)
        if group.is_idle:
            self._live.pop(group.group_id, None)
        else:
            self._wakes.set(group.group_id, group.timers.look_at)

    def _answer(self, answers: Mapping[Ticket, Message]) -> None:
        for ticket, answer in answers.items():
            waiting = self._waiting.get(ticket)
            if waiting is not None and not waiting.done():
                waiting.set_result(answer)

    def _close(self, group: ClassicGroup, error: ErrorCode) -> None:
        group.close(error)
        self._count(group)
        self._answer(group.outcome().answers)

    def _count(self, group: ClassicGroup) -> None:
        self._bytes += group.roster.size - self._sizes.pop(group.group_id, 0)
        if group.roster.size:
            self._sizes[group.group_id] = group.roster.size

    def _waited_for(self) -> tuple[Ticket, asyncio.Future[Message]]:
        ticket = next(self._tickets)
        self._waiting[ticket] = answer = asyncio.get_running_loop().create_future()
        return ticket, answer

    async def _answered(self, ticket: Ticket, answer: asyncio.Future[Message], expected: type[R]) -> R:
        try:
            answered = await answer
        finally:
            del self._waiting[ticket]
        await self._coordinator.durable()
        if not isinstance(answered, expected):
            raise TypeError(f"a request that waits for {expected.NAME} got {answered.NAME}")
        return answered

    def _forget_all(self) -> None:
        """The topic of the records was deleted."""
        live, self._live = self._live, {}
        for group in live.values():
            self._close(group, ErrorCode.NOT_COORDINATOR)


def refused_join(error: ErrorCode, member_id: str) -> JoinGroupResponse:
    """The answer to a JoinGroup request that is refused."""
    return JoinGroupResponse(error_code=error, protocol_name=None, member_id=member_id)
