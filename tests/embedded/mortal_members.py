"""Members of groups of a broker that may be killed: what it has answered them holds after a kill too."""

from __future__ import annotations

import base64
from abc import abstractmethod
from collections.abc import Collection
from typing import Final

from tests.embedded.mortal_clients import OFFSETS_OF, Key, MortalClient, World
from tests.embedded.streams_members import Subtopology, Topology, joining

from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

SESSION_MS: Final = 45_000
_REBALANCE_MS: Final = 60_000
_TOPOLOGY: Final = Topology(0, (Subtopology("0", (OFFSETS_OF,)),))
_INSTANCE: Final = "instance"
_COMMIT: Final = 9
_LEAVING: Final = -1
_REMOVED: Final = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.GROUP_ID_NOT_FOUND}
"""What a member may be answered that the group has removed."""


class Member(MortalClient):
    """The only member of a group. It stays one until it leaves, or has not been heard of for long.

    Args:
        world: what clients share.
        group: id of the group.

    Attributes:
        instance: its id as a static member; None for a dynamic one.
        key: of the offsets that it commits.
        member_id: its id.
        epoch: epoch or generation, as a broker has answered last; None while it is no member.
        has_left: whether a broker has answered that it is no member, or it never joined.
        rival: a member of the other kind of the same group, which changes its kind when one follows the other.
    """

    instance: str | None = None
    rival: Member | None = None

    def __init__(self, world: World, group: str) -> None:
        super().__init__(world, group)
        self.key: Key = (group, 0)
        self.member_id = ""
        self.epoch: int | None = None
        self.has_left = True
        self._left: int | None = None
        self._may_be_removed = False

    def waited(self, seconds: float) -> None:
        self._may_be_removed = self._may_be_removed or seconds * 1000 > SESSION_MS

    async def act(self) -> None:
        if self.epoch is None:
            if self.rival is None or self.rival.has_left:
                self.has_left, self._left = False, None
                await self.join()
                self._may_be_removed = False
            return
        stays = [self._heartbeat, self._heartbeat, self._commit, self._commit] if self.rival is None else [self._commit]
        await self.chance.choice([*stays, self._leave])()

    async def confirm(self) -> None:
        """A broker that has started has the member still, and not if it has left."""
        if self.epoch is not None:
            await self._heartbeat()
        elif self._left is not None:
            error = await self.heartbeat(self._left)
            assert error in _REMOVED, f"{self.name}: member {self.member_id}, which has left, gets {error}"

    @abstractmethod
    async def join(self) -> None:
        """Become a member, whether or not a broker has the member already; ``epoch`` is set after the answer."""

    @abstractmethod
    async def heartbeat(self, epoch: int) -> int:
        """The error of a heartbeat."""

    @abstractmethod
    async def leave(self) -> int:
        """The error of leaving."""

    async def _heartbeat(self) -> None:
        assert self.epoch is not None
        self._check(await self.heartbeat(self.epoch))

    async def _leave(self) -> None:
        epoch, self.epoch = self.epoch, None
        error = await self.leave()
        assert not error or (self._may_be_removed and error in _REMOVED), f"{self.name}: error {error} of {epoch}"
        self.has_left, self._left = True, epoch

    async def _commit(self) -> None:
        assert self.epoch is not None
        offset = self.world.next_number()
        self.world.offsets.setdefault(self.key, [-1]).append(offset)
        one = OffsetCommitRequest.OffsetCommitRequestPartition(self.key[1], offset)
        topics = (OffsetCommitRequest.OffsetCommitRequestTopic(OFFSETS_OF, partitions=(one,)),)
        request = OffsetCommitRequest(self.key[0], self.epoch, self.member_id, self.instance, topics=topics)
        answer = await self.client.send(request, _COMMIT, OffsetCommitResponse)
        error = answer.topics[0].partitions[0].error_code
        values = self.world.offsets[self.key]
        self.world.offsets[self.key] = [value for value in values if (value == offset) == (not error)]
        self._check(error)

    def _check(self, error: int) -> None:
        assert not error or (self._may_be_removed and error in _REMOVED), (
            f"{self.name}: member {self.member_id} of epoch {self.epoch} gets error {error}"
        )
        if error:
            self.epoch = None


class ClassicMember(Member):
    """A static member of a classic group, which is its leader. Its assignment is what it gave itself last."""

    instance = _INSTANCE

    def __init__(self, world: World, group: str) -> None:
        super().__init__(world, group)
        self._assignments: Collection[bytes] = {b""}

    async def join(self) -> None:
        protocol = JoinGroupRequest.JoinGroupRequestProtocol("range", b"subscription")
        request = JoinGroupRequest(
            self.name,
            SESSION_MS,
            _REBALANCE_MS,
            group_instance_id=self.instance,
            protocol_type="consumer",
            protocols=(protocol,),
        )
        joined = await self.client.send(request, 9, JoinGroupResponse)
        assert not joined.error_code, f"{self.name}: error {joined.error_code} of a join"
        self.member_id = joined.member_id
        assignment = b"%d" % self.world.next_number()
        given = (
            ()
            if joined.skip_assignment
            else (SyncGroupRequest.SyncGroupRequestAssignment(joined.member_id, assignment),)
        )
        possible = {*self._assignments} if joined.skip_assignment else {assignment}
        self._assignments = {*self._assignments, *possible}
        sync = SyncGroupRequest(
            self.name, joined.generation_id, joined.member_id, self.instance, "consumer", "range", given
        )
        synced = await self.client.send(sync, 5, SyncGroupResponse)
        assert not synced.error_code, f"{self.name}: error {synced.error_code} of a sync"
        assert synced.assignment in possible, f"{self.name} is assigned {synced.assignment!r} instead of {possible}"
        self._assignments = {synced.assignment}
        self.epoch = joined.generation_id

    async def heartbeat(self, epoch: int) -> int:
        request = HeartbeatRequest(self.name, epoch, self.member_id, self.instance)
        return (await self.client.send(request, 4, HeartbeatResponse)).error_code

    async def leave(self) -> int:
        identity = LeaveGroupRequest.MemberIdentity(self.member_id, self.instance)
        answer = await self.client.send(LeaveGroupRequest(self.name, members=(identity,)), 5, LeaveGroupResponse)
        return answer.error_code or answer.members[0].error_code


class ConsumerMember(Member):
    """A member of a consumer group (KIP-848)."""

    def __init__(self, world: World, group: str) -> None:
        super().__init__(world, group)
        self._owned: tuple[ConsumerGroupHeartbeatRequest.TopicPartitions, ...] = ()
        self._is_current = False

    def connect(self) -> None:
        super().connect()
        self._is_current = False  # the answer to a heartbeat may be lost, and the epoch with it

    async def join(self) -> None:
        if not self.member_id:
            self.member_id = base64.urlsafe_b64encode(self.chance.randbytes(16)).decode().rstrip("=")
        self._owned = ()
        error = await self._beat(0)
        assert not error, f"{self.name}: error {error} of a first heartbeat"

    async def heartbeat(self, epoch: int) -> int:
        return await self._beat(epoch)

    async def leave(self) -> int:
        request = ConsumerGroupHeartbeatRequest(self.name, self.member_id, _LEAVING)
        return (await self.client.send(request, 1, ConsumerGroupHeartbeatResponse)).error_code

    async def _commit(self) -> None:
        if self._is_current:
            await super()._commit()
        else:
            await self._heartbeat()

    async def _beat(self, epoch: int) -> int:
        request = ConsumerGroupHeartbeatRequest(
            self.name,
            self.member_id,
            epoch,
            rebalance_timeout_ms=_REBALANCE_MS,
            subscribed_topic_names=(OFFSETS_OF,),
            topic_partitions=self._owned,
        )
        answer = await self.client.send(request, 1, ConsumerGroupHeartbeatResponse)
        if answer.error_code:
            return answer.error_code
        assert answer.member_epoch >= max(epoch, 1), f"{self.name}: epoch {answer.member_epoch} follows {epoch}"
        self.epoch, self._is_current = answer.member_epoch, True
        if answer.assignment is not None:
            self._owned = tuple(
                ConsumerGroupHeartbeatRequest.TopicPartitions(each.topic_id, each.partitions)
                for each in answer.assignment.topic_partitions
            )
        return ErrorCode.NONE


class StreamsMember(ConsumerMember):
    """A member of a streams group (KIP-1071); it reports that it has given up all tasks, whatever it has."""

    async def leave(self) -> int:
        request = StreamsGroupHeartbeatRequest(self.name, self.member_id, _LEAVING)
        return (await self.client.send(request, 0, StreamsGroupHeartbeatResponse)).error_code

    async def _beat(self, epoch: int) -> int:
        request = StreamsGroupHeartbeatRequest(
            self.name, self.member_id, epoch, active_tasks=(), standby_tasks=(), warmup_tasks=()
        )
        if not epoch:
            request = joining(self.member_id, _TOPOLOGY, group=self.name, rebalance_ms=_REBALANCE_MS)
        answer = await self.client.send(request, 0, StreamsGroupHeartbeatResponse)
        if answer.error_code:
            return answer.error_code
        assert answer.member_epoch >= max(epoch, 1), f"{self.name}: epoch {answer.member_epoch} follows {epoch}"
        self.epoch, self._is_current = answer.member_epoch, True
        return ErrorCode.NONE


def rivals(world: World, group: str) -> tuple[Member, Member]:
    """A member of each kind; each joins once the other has left, so the group becomes one of the other kind."""
    classic, consumer = ClassicMember(world, group), ConsumerMember(world, group)
    classic.rival, consumer.rival = consumer, classic
    return classic, consumer
