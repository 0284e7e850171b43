"""The consumer groups of a broker: passes heartbeats to them, writes records, resolves expressions, and keeps time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from kafkawire.broker.clock import Clock
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.groups.assigned_groups import AssignedGroups
from kafkawire.broker.groups.classic.group import Joining
from kafkawire.broker.groups.classic.live_groups import ClassicGroups, refused_join
from kafkawire.broker.groups.classic.states import State
from kafkawire.broker.groups.commits import CommitRules
from kafkawire.broker.groups.consumer.conversion import check_upgrade, upgraded
from kafkawire.broker.groups.consumer.joining import Beat, check
from kafkawire.broker.groups.consumer.member import LEFT, LEFT_FOR_A_WHILE, Member
from kafkawire.broker.groups.consumer.mixed_group import MixedGroup
from kafkawire.broker.groups.consumer.settings import ConsumerGroupSettings
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.state import GroupKind
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.broker.internal_topics.entries import Change
from kafkawire.broker.regexes.regex import Regex
from kafkawire.broker.storage.errors import StorageError
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    GroupMetadataKey,
    HeartbeatRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

_log = logging.getLogger(__name__)


class ConsumerGroups(AssignedGroups[MixedGroup]):
    """The groups of KIP-848 that have members; all others are made from their records when they are needed.

    Args:
        coordinator: has the records of all groups, and writes new ones.
        classic: the classic groups, which become consumer groups and the other way round.
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
        super().__init__(coordinator, clock, topics, GroupKind.CONSUMER, settings.most_bytes)
        self._classic = classic
        self._settings = settings
        self._resolving: dict[str, asyncio.Task[None]] = {}
        self._one_at_a_time = asyncio.Lock()

    async def close(self) -> None:
        """Stop the timers, and the search for topics that match regular expressions."""
        await super().close()
        for task in self._resolving.values():
            task.cancel()
        await asyncio.gather(*self._resolving.values(), return_exceptions=True)

    @property
    def is_served(self) -> bool:
        """Whether there are consumer groups at all."""
        return self._settings.is_served

    @property
    def assignors(self) -> Sequence[str]:
        """The names of the assignors, the default first."""
        return self._settings.assignors

    def commit_rules(self, group_id: str) -> CommitRules[Member] | None:
        """Which commits a group accepts; None if there is none of this kind."""
        group = self.group(group_id)
        return None if group is None else group.state.commit_rules(self._topics.id_of)

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
        self._check_room(beat.size)
        self._existing(request)
        await self._coordinator.prepare([request.group_id])
        group = self._existing(request)
        before: Sequence[Change] = ()
        if group is None:
            group, before = self._begun(request.group_id)
        leaves = request.member_epoch in {LEFT, LEFT_FOR_A_WHILE}
        answer = group.leave(beat, self._now()) if leaves else group.heartbeat(beat, self._now())
        self._settle(group, before)
        if before:
            self._classic.end(request.group_id)
        self._resolve_soon(group, may_see)
        await self._coordinator.durable()
        return answer

    # Requests of classic members; the log is prepared.

    async def join(self, group: MixedGroup, joining: Joining, may_see: Callable[[str], bool]) -> JoinGroupResponse:
        """The answer to a JoinGroup request.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        if not self._has_room(joining.size):
            return refused_join(ErrorCode.GROUP_MAX_SIZE_REACHED, "")
        try:
            answer = group.join(joining, self._now())
        except GroupError as refused:
            return refused_join(refused.code, "")
        self._settle(group)
        self._resolve_soon(group, may_see)
        await self._coordinator.durable()
        return answer

    async def sync(self, group: MixedGroup, request: SyncGroupRequest) -> SyncGroupResponse:
        """The answer to a SyncGroup request.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        try:
            answer = group.sync(request, self._now())
        except GroupError as refused:
            answer = SyncGroupResponse(error_code=refused.code)
        self._keep(group)
        await self._coordinator.durable()
        return answer

    def beat(self, group: MixedGroup, request: HeartbeatRequest) -> ErrorCode:
        """The error for a heartbeat."""
        try:
            return group.beat(request, self._now())
        except GroupError as refused:
            return refused.code
        finally:
            self._keep(group)

    async def leave(
        self, group: MixedGroup, members: Sequence[LeaveGroupRequest.MemberIdentity]
    ) -> Sequence[LeaveGroupResponse.MemberResponse]:
        """Classic members leave, or an administrator removes members; returns the result of each.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        results, gone = [], dict[str, None]()
        for each in members:
            error = ErrorCode.NONE
            try:
                gone[group.find(each.member_id, each.group_instance_id).member_id] = None
            except GroupError as refused:
                error = refused.code
            results.append(LeaveGroupResponse.MemberResponse(each.member_id, each.group_instance_id, error))
        group.fence([*gone], self._now())
        self._settle(group)
        await self._coordinator.durable()
        return results

    def make_room_for_classic(self, group_id: str) -> None:
        """Delete a group without members: a classic one begins. Its offsets stay.

        Raises:
            StorageError: a record could not be written.
        """
        self._coordinator.commit([*self._coordinator.state.by_id[group_id].removal_of_members()])
        self.forget(group_id)

    # Groups that begin.

    def _existing(self, request: ConsumerGroupHeartbeatRequest) -> MixedGroup | None:
        """The group of a request; None if it begins now.

        Raises:
            GroupError: there is no such group, and none begins.
        """
        group_id, may_begin = request.group_id, request.member_epoch == 0
        group = self.group(group_id)
        if group is not None:
            return group
        classic, stored = self._classic.group(group_id), self._coordinator.state.by_id.get(group_id)
        is_other = stored is not None and stored.kind in {GroupKind.SHARE, GroupKind.STREAMS}
        if is_other or (classic is not None and not may_begin):
            raise GroupError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        if classic is None and not may_begin:
            kind = "Consumer group" if request.member_epoch > 0 else "Group"
            raise GroupError(ErrorCode.GROUP_ID_NOT_FOUND, f"{kind} {group_id} not found.")
        if classic is not None and classic.state is not State.EMPTY:
            check_upgrade(classic, self._settings)
        return None

    def _begun(self, group_id: str) -> tuple[MixedGroup, Sequence[Change]]:
        """A group that begins, with the records that end a classic group of the name; its offsets stay.

        Clients that wait in the classic group join again, even if it cannot be converted: as with Apache Kafka.

        Raises:
            GroupError: the members of the classic group cannot be taken over.
        """
        classic = self._classic.group(group_id)
        if classic is None:
            return self._made(group_id), ()
        ends: Change = (GroupMetadataKey(group_id), None)
        if classic.state is State.EMPTY:
            return self._made(group_id), (ends,)
        self._classic.interrupt(classic)
        records = upgraded(classic, self._topics)
        return MixedGroup(group_id, records, self._settings, self._topics, self._now()), (ends, *records)

    def _made(self, group_id: str) -> MixedGroup:
        stored = self._coordinator.state.by_id.get(group_id)
        records = () if stored is None else stored.consumer_records()
        return MixedGroup(group_id, records, self._settings, self._topics, self._now())

    # What follows from events.

    def _settle(self, group: MixedGroup, before: Sequence[Change] = ()) -> None:
        """Write what an event demands; the logs are prepared."""
        became = group.became
        after = () if became is None else ((GroupMetadataKey(group.group_id), became.outcome().value),)
        self._write(group, [*before, *group.changes(), *after])
        self._keep(group)
        if became is not None:
            self._classic.take(became)

    # Regular expressions.

    def _resolve_soon(self, group: MixedGroup, may_see: Callable[[str], bool]) -> None:
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
