"""The share groups of a broker: passes requests to them, writes records, lets states begin and end, and keeps time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from kafkawire.broker.clock import Clock
from kafkawire.broker.controller import Controller
from kafkawire.broker.groups.assigned_groups import AssignedGroups
from kafkawire.broker.groups.classic.live_groups import ClassicGroups
from kafkawire.broker.groups.consumer.live_groups import ConsumerGroups
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.share import offsets
from kafkawire.broker.groups.share.group import ShareGroup, check
from kafkawire.broker.groups.share.member import LEFT
from kafkawire.broker.groups.share.settings import ShareGroupSettings
from kafkawire.broker.groups.share.shared_partitions import SharedPartitions
from kafkawire.broker.groups.state import GroupKind
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.broker.share_coordinator.coordinator import ShareCoordinator
from kafkawire.broker.share_coordinator.state import SharePartitionKey
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    RemoveTopicRecord,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message


class ShareGroups(AssignedGroups[ShareGroup]):
    """The groups of KIP-932 that have members; all others are made from their records when they are needed.

    Args:
        coordinator: has the records of all groups, and writes new ones.
        classic, consumer: the groups of the other kinds, whose names no share group can have.
        clock: the broker's.
        settings: of all groups.
        topics: of the cluster.
        share_coordinator: has the states of share partitions.
    """

    def __init__(
        self,
        coordinator: GroupCoordinator,
        classic: ClassicGroups,
        consumer: ConsumerGroups,
        clock: Clock,
        *,
        settings: ShareGroupSettings,
        topics: KnownTopics,
        share_coordinator: ShareCoordinator,
    ) -> None:
        super().__init__(coordinator, clock, topics, GroupKind.SHARE, settings.most_bytes)
        self._classic = classic
        self._consumer = consumer
        self._settings = settings
        self.share_coordinator = share_coordinator

    def follow(self, controller: Controller) -> None:
        """Forget the partitions of each topic that is deleted, once the deletion is durable."""

        def committed(records: Iterable[Message]) -> None:
            removed = {record.topic_id for record in records if isinstance(record, RemoveTopicRecord)}
            if removed:
                self._coordinator.when_durable(controller, lambda: self._forget_topics(removed))

        controller.subscribe_to_commits(committed)

    # Requests.

    async def heartbeat(
        self, request: ShareGroupHeartbeatRequest, client: tuple[str, str]
    ) -> ShareGroupHeartbeatResponse:
        """The answer to a heartbeat.

        Args:
            request: the request.
            client: id and host of the client, the host as Kafka records it.

        Raises:
            GroupError: it is refused.
            StorageError, OSError: a record could not be written.
        """
        check(request)
        self._check_room(_size(request))
        self._existing(request)
        await self._coordinator.prepare([request.group_id])
        group = self._existing(request)
        leaves = request.member_epoch == LEFT
        answer = group.leave(request) if leaves else group.heartbeat(request, client, self._now())
        self._settle(group)
        await self._begin(group, {topic: dict.fromkeys(each.partitions, -1) for topic, each in group.wanted.items()})
        await self._coordinator.durable()
        return answer

    async def alter_offsets(self, request: AlterShareGroupOffsetsRequest) -> AlterShareGroupOffsetsResponse:
        """The answer to a request that lets a group read from other offsets on; a new group begins with it.

        Raises:
            GroupError: it is refused.
            StorageError, OSError: a record could not be written.
        """
        self._of_name(request.group_id)
        await self._coordinator.prepare([request.group_id])
        group = self._of_name(request.group_id) or self._made(request.group_id)
        if not group.is_empty:
            raise GroupError(ErrorCode.NON_EMPTY_GROUP, offsets.NOT_EMPTY)
        altered = offsets.altered(request, self._topics)
        group.want(altered.shared, self._now())
        self._settle(group)
        await self._begin(group, altered.start_offsets)
        await self._coordinator.durable()
        return altered.answer

    async def delete_offsets(self, request: DeleteShareGroupOffsetsRequest) -> DeleteShareGroupOffsetsResponse:
        """The answer to a request that ends the states of topics.

        Raises:
            GroupError: it is refused.
            StorageError, OSError: a record could not be written.
        """
        self.found(request.group_id)
        await self.prepare_to_end(request.group_id)
        group = self.found(request.group_id)
        if not group.is_empty:
            raise GroupError(ErrorCode.NON_EMPTY_GROUP, offsets.NOT_EMPTY)
        if group.state.partitions is None:
            return DeleteShareGroupOffsetsResponse()
        deleted = offsets.deleted(request, group.partitions, self._topics)
        group.record(deleted.before)
        self._settle(group)
        self._end(group.group_id, deleted.ended)
        if deleted.ended:
            group.record(deleted.after)
            self._settle(group)
        await self.share_coordinator.durable()
        await self._coordinator.durable()
        return deleted.answer

    async def prepare_to_end(self, group_id: str) -> None:
        """Prepare the logs of a group, and of all its states if it is a share group.

        Raises:
            StorageError: a log has failed.
        """
        group = self.group(group_id)
        if group is not None:
            ended = offsets.all_partitions(group.partitions, self._topics)
            await self.share_coordinator.prepare(_owners(group_id, ended))
        await self._coordinator.prepare([group_id])

    def end_states(self, group_id: str) -> None:
        """End all states of a group that is deleted, if it is a share group; the logs are prepared.

        Raises:
            StorageError: a record could not be written.
        """
        group = self.group(group_id)
        if group is None or group.state.partitions is None:
            return
        ended = offsets.all_partitions(group.partitions, self._topics)
        group.record(SharedPartitions(deleting=frozenset(ended)))
        self._settle(group)
        self._end(group_id, ended)

    # Groups.

    def _existing(self, request: ShareGroupHeartbeatRequest) -> ShareGroup:
        """The group of a request, which may begin now.

        Raises:
            GroupError: there is no such group, and none begins.
        """
        group_id = request.group_id
        if request.member_epoch == LEFT:
            return self.found(group_id)
        group = self._of_name(group_id)
        if group is None and request.member_epoch:
            raise GroupError(ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {group_id} not found.")
        return group or self._made(group_id)

    def found(self, group_id: str) -> ShareGroup:
        """The group with a name.

        Raises:
            GroupError: there is none, or it is of another kind.
        """
        group = self._of_name(group_id)
        if group is None:
            raise GroupError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        return group

    def _of_name(self, group_id: str) -> ShareGroup | None:
        """The group with a name; None if there is none.

        Raises:
            GroupError: it is of another kind.
        """
        group = self.group(group_id)
        is_there = group_id in self._coordinator.state.by_id or self._classic.group(group_id) is not None
        if group is None and is_there:
            raise GroupError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
        return group

    def _made(self, group_id: str) -> ShareGroup:
        stored = self._coordinator.state.by_id.get(group_id)
        records = () if stored is None else stored.share_records()
        return ShareGroup(group_id, records, self._settings, self._topics, self._now())

    # States of partitions.

    async def _begin(self, group: ShareGroup, start_offsets: offsets.StartOffsets) -> None:
        """Let states begin that the group has recorded as wanted, then record that they have."""
        wanted, group.wanted = group.wanted, {}
        if not wanted:
            return
        epoch = group.state.epoch
        await self.share_coordinator.prepare(_owners(group.group_id, start_offsets))
        for topic, by_partition in start_offsets.items():
            for partition, start_offset in by_partition.items():
                self.share_coordinator.initialize(group.group_id, topic, partition, epoch, start_offset)
        await self.share_coordinator.durable()
        await self._coordinator.prepare([group.group_id])
        as_it_is_now = self.group(group.group_id)
        if as_it_is_now is not None:
            as_it_is_now.begin(wanted)
            self._settle(as_it_is_now)

    def _end(self, group_id: str, partitions: offsets.Ended) -> None:
        for topic, each in partitions.items():
            for partition in each:
                self.share_coordinator.delete(group_id, topic, partition)

    async def _forget_topics(self, topics: Collection[Uuid]) -> None:
        for group_id in self._with_topics(topics):
            await self._coordinator.prepare([group_id])
            group = self.group(group_id)
            if group is not None:
                group.forget_topics(topics)
                self._settle(group)

    def _with_topics(self, topics: Collection[Uuid]) -> Sequence[str]:
        groups = map(self.group, self._coordinator.state.share_groups)
        found = (group for group in groups if group is not None)
        return [group.group_id for group in found if group.partitions.without_topics(topics) != group.partitions]


def _owners(group_id: str, partitions: Mapping[Uuid, Iterable[int]]) -> Sequence[str]:
    return [SharePartitionKey(group_id, topic, each).owner for topic, some in partitions.items() for each in some]


def _size(request: ShareGroupHeartbeatRequest) -> int:
    """About how many bytes the group keeps of it."""
    return sum(
        len(name) for name in (request.member_id, request.rack_id or "", *(request.subscribed_topic_names or ()))
    )
