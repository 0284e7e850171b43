"""The offsets that groups have committed (admin-group-offsets)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, Request, failure
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.coordinated import (
    InGroup,
    InGroups,
    OffsetsOfGroups,
    PartitionOfGroup,
    PartitionsOfGroups,
    of_partitions,
)
from kafkawire.admin.operations.partitions import by_topic
from kafkawire.admin.results import Results
from kafkawire.model.groups.offsets import CommittedOffset
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import error_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

GroupOffsets: TypeAlias = Results[TopicPartition, CommittedOffset | None]
"""Partition to what a group has committed for it, or None if nothing; or what went wrong with the partition."""

GroupSelection: TypeAlias = Iterable[str] | Mapping[str, Collection[TopicPartition] | None]
"""Group ids, or group id to the requested partitions: None for all with a committed offset."""

_NAMES_UNTIL = 9
"""Newer versions have ids of topics only, which those that are deleted no longer have; Kafka's own admin uses names."""

_BYTES_OF_A_REQUEST = 500_000
"""A request is written to the log as one batch. One above a mebibyte (``max.message.bytes``) is refused whole."""

_BYTES_OF_AN_OFFSET = 100
"""An upper bound for the bytes of an offset without its texts."""


class _OffsetsByFetch(OffsetsOfGroups[GroupOffsets, "protocol.OffsetFetchResponse"]):
    """Base of the operations that fetch offsets."""

    name = "list_consumer_group_offsets"
    api = ApiKey.OFFSET_FETCH

    def __init__(self, partitions: PartitionsOfGroups, *, require_stable: bool = False) -> None:
        super().__init__(partitions)
        self._require_stable = require_stable


class ListOffsetsOfGroups(_OffsetsByFetch):
    """KIP-709 (many groups), KIP-447 (stable offsets)."""

    needs = ("groups",)
    maximum_version = _NAMES_UNTIL

    def build(self, request: Request[str]) -> Message:
        message = protocol.OffsetFetchRequest
        return message(
            groups=tuple(
                message.OffsetFetchRequestGroup(group_id=group_id, topics=self._topics(group_id, _topic))
                for group_id in request.items
            ),
            require_stable=self._require_stable,
        )

    def read(self, request: Request[str], response: protocol.OffsetFetchResponse) -> Outcomes[str, GroupOffsets]:
        return {
            group.group_id: failure(group.error_code)
            or of_partitions(
                {
                    TopicPartition(topic.name, each.partition_index): _committed(each)
                    for topic in group.topics
                    for each in topic.partitions
                },
                self._partitions.get(group.group_id),
                request.node_id,
            )
            for group in response.groups
        }

    def fallback(self) -> Operation[str, GroupOffsets, protocol.OffsetFetchResponse]:
        return ListOffsetsOfGroup(self._partitions, require_stable=self._require_stable).named(self.name)


class ListOffsetsOfGroup(_OffsetsByFetch):
    """The same for brokers that take one group in a request."""

    batch = 1
    minimum_version = 1  # version 0 reads the offsets in ZooKeeper
    lacks = "groups"

    def __init__(self, partitions: PartitionsOfGroups, *, require_stable: bool = False) -> None:
        super().__init__(partitions, require_stable=require_stable)
        self.needs = ("require_stable",) if require_stable else ()

    def lowest_version(self, item: str) -> int:
        return 2 if self._partitions[item] is None else 0  # null topics: all

    def build(self, request: Request[str]) -> Message:
        (group_id,) = request.items
        message = protocol.OffsetFetchRequest
        topics = self._topics(group_id, message.OffsetFetchRequestTopic)
        return message(group_id=group_id, topics=topics, require_stable=self._require_stable)

    def read(self, request: Request[str], response: protocol.OffsetFetchResponse) -> Outcomes[str, GroupOffsets]:
        (group_id,) = request.items
        found = {
            TopicPartition(topic.name, each.partition_index): _committed(each)
            for topic in response.topics
            for each in topic.partitions
        }
        return {group_id: of_partitions(found, self._partitions[group_id], request.node_id)}


def _topic(name: str, numbers: tuple[int, ...]) -> protocol.OffsetFetchRequest.OffsetFetchRequestTopics:
    return protocol.OffsetFetchRequest.OffsetFetchRequestTopics(name=name, partition_indexes=numbers)


def _committed(
    partition: protocol.OffsetFetchResponse.OffsetFetchResponsePartition
    | protocol.OffsetFetchResponse.OffsetFetchResponsePartitions,
) -> CommittedOffset | KafkaError | None:
    if partition.error_code:
        return error_of(partition.error_code)
    if partition.committed_offset < 0:
        return None
    epoch = partition.committed_leader_epoch
    return CommittedOffset(partition.committed_offset, epoch if epoch >= 0 else None, partition.metadata or "")


class CommitOffsets(InGroups[None, "protocol.OffsetCommitResponse"]):
    """KIP-396; commits without a member id, which groups accept that have no members."""

    name = "alter_consumer_group_offsets"
    api = ApiKey.OFFSET_COMMIT
    mutates = True
    batch = _BYTES_OF_A_REQUEST
    minimum_version = 2  # the broker decides how long offsets are kept
    maximum_version = _NAMES_UNTIL

    def __init__(self, offsets: Mapping[PartitionOfGroup, CommittedOffset]) -> None:
        self._offsets = offsets

    def weight(self, item: PartitionOfGroup) -> int:
        texts = (item.group_id, item.partition.topic, self._offsets[item].metadata)
        return _BYTES_OF_AN_OFFSET + sum(len(text.encode(errors="replace")) for text in texts)

    def build(self, request: Request[PartitionOfGroup]) -> Message:
        topic = protocol.OffsetCommitRequest.OffsetCommitRequestTopic
        offsets = {item.partition: self._offsets[item] for item in request.items}
        return protocol.OffsetCommitRequest(
            group_id=request.items[0].group_id,
            topics=tuple(
                topic(
                    name=name,
                    partitions=tuple(_commit(number, offsets[TopicPartition(name, number)]) for number in numbers),
                )
                for name, numbers in by_topic(offsets)
            ),
        )

    def read(
        self, request: Request[PartitionOfGroup], response: protocol.OffsetCommitResponse
    ) -> Outcomes[PartitionOfGroup, None]:
        group_id = request.items[0].group_id
        return {
            PartitionOfGroup(group_id, TopicPartition(topic.name, result.partition_index)): failure(result.error_code)
            for topic in response.topics
            for result in topic.partitions
        }


def _commit(number: int, wanted: CommittedOffset) -> protocol.OffsetCommitRequest.OffsetCommitRequestPartition:
    return protocol.OffsetCommitRequest.OffsetCommitRequestPartition(
        partition_index=number,
        committed_offset=wanted.offset,
        committed_leader_epoch=-1 if wanted.leader_epoch is None else wanted.leader_epoch,
        committed_metadata=wanted.metadata,
    )


class DeleteOffsets(InGroup[TopicPartition, None, "protocol.OffsetDeleteResponse"]):
    """KIP-496."""

    name = "delete_consumer_group_offsets"
    api = ApiKey.OFFSET_DELETE
    mutates = True

    def build(self, request: Request[TopicPartition]) -> Message:
        message = protocol.OffsetDeleteRequest
        return message(
            group_id=self._group_id,
            topics=tuple(
                message.OffsetDeleteRequestTopic(name, tuple(map(message.OffsetDeleteRequestPartition, numbers)))
                for name, numbers in by_topic(request.items)
            ),
        )

    def read(
        self, request: Request[TopicPartition], response: protocol.OffsetDeleteResponse
    ) -> Outcomes[TopicPartition, None]:
        return {
            TopicPartition(topic.name, result.partition_index): failure(result.error_code)
            for topic in response.topics
            for result in topic.partitions
        }


def wanted_of_each(groups: GroupSelection) -> dict[str, Collection[TopicPartition] | None]:
    """Group to its requested partitions."""
    return dict(groups) if isinstance(groups, Mapping) else dict.fromkeys(groups)


class GroupOffsetOperations(OperationFamily):
    """The offsets that groups have committed."""

    @needs(ListOffsetsOfGroups, ListOffsetsOfGroup, rights="DESCRIBE GROUP, DESCRIBE TOPIC")
    async def list_consumer_group_offsets(
        self,
        groups: GroupSelection,
        *,
        require_stable: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[str, GroupOffsets]:
        """The offsets that groups have committed.

        Args:
            groups: ids of the groups, or group id to the partitions that are wanted: None for all that the group has
                committed something for.
            require_stable: whether offsets that are being committed by an open transaction are an
                `UnstableOffsetCommitError` of their partitions; fails at brokers before 2.5.
            timeout, progress: see `AdminClient`.

        Returns:
            Group id to its offsets, or to what went wrong with the group: `GroupAuthorizationFailedError` ... Its
            offsets are results as well: partition to the offset, to None if the group has committed none, or to what
            went wrong with the partition: `UnstableOffsetCommitError` ... A group that does not exist has no offsets.

        Example:
            ```python
            results = await admin.list_consumer_group_offsets(["billing"])
            for partition, committed in results["billing"].all().items():
                print(partition, committed.offset if committed else "nothing committed")
            ```
        """
        return await self._list_offsets("list_consumer_group_offsets", groups, require_stable, timeout, progress)

    @needs(ListOffsetsOfGroups, ListOffsetsOfGroup, rights="DESCRIBE GROUP, DESCRIBE TOPIC")
    async def list_streams_group_offsets(
        self,
        groups: GroupSelection,
        *,
        require_stable: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[str, GroupOffsets]:
        """The offsets that streams groups have committed; as `list_consumer_group_offsets`.

        Example:
            ```python
            results = await admin.list_streams_group_offsets(["enrichment"])
            for partition, committed in results["enrichment"].all().items():
                print(partition, committed.offset if committed else "nothing committed")
            ```
        """
        return await self._list_offsets("list_streams_group_offsets", groups, require_stable, timeout, progress)

    @needs(CommitOffsets, rights="READ GROUP, READ TOPIC")
    async def alter_consumer_group_offsets(
        self,
        group_id: str,
        offsets: Mapping[TopicPartition, CommittedOffset | int],
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[TopicPartition, None]:
        """Set the offsets of a group. It must have no members, and is created if it does not exist.

        Args:
            group_id: id of the group.
            offsets: partition to its new offset.
            timeout, progress: see `AdminClient`.

        Returns:
            Partition to None, or to what went wrong: `UnknownMemberIdError` (the group has members),
            `UnknownTopicOrPartitionError` ...

        Example:
            ```python
            offsets = {TopicPartition("orders", 0): 120, TopicPartition("orders", 1): 95}
            results = await admin.alter_consumer_group_offsets("billing", offsets)  # its consumers are stopped
            for partition, error in results.errors().items():
                print(partition, error)
            ```
        """
        return await self._alter_offsets("alter_consumer_group_offsets", group_id, offsets, timeout, progress)

    @needs(CommitOffsets, rights="READ GROUP, READ TOPIC")
    async def alter_streams_group_offsets(
        self,
        group_id: str,
        offsets: Mapping[TopicPartition, CommittedOffset | int],
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[TopicPartition, None]:
        """Set the offsets of a streams group; as `alter_consumer_group_offsets`.

        Example:
            ```python
            offsets = {TopicPartition("orders", 0): 120, TopicPartition("orders", 1): 95}
            results = await admin.alter_streams_group_offsets("enrichment", offsets)  # the application is stopped
            for partition, error in results.errors().items():
                print(partition, error)
            ```
        """
        return await self._alter_offsets("alter_streams_group_offsets", group_id, offsets, timeout, progress)

    @needs(DeleteOffsets, rights="DELETE GROUP, READ TOPIC")
    async def delete_consumer_group_offsets(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition],
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[TopicPartition, None]:
        """Delete the committed offsets of a group for partitions of topics that it no longer reads.

        Args:
            group_id: id of the group.
            partitions: which.
            timeout, progress: see `AdminClient`.

        Returns:
            Partition to None, also if nothing was committed for it; or to what went wrong:
            `GroupSubscribedToTopicError` (members of the group read the topic), `GroupIdNotFoundError` ...

        Example:
            ```python
            results = await admin.delete_consumer_group_offsets("billing", [TopicPartition("invoices", 0)])
            for partition, error in results.errors().items():
                print(partition, error)
            ```
        """
        return await self._each(DeleteOffsets(group_id), partitions, timeout, progress)

    @needs(DeleteOffsets, rights="DELETE GROUP, READ TOPIC")
    async def delete_streams_group_offsets(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition],
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[TopicPartition, None]:
        """Delete offsets of a streams group; as `delete_consumer_group_offsets`.

        Example:
            ```python
            results = await admin.delete_streams_group_offsets("enrichment", [TopicPartition("invoices", 0)])
            for partition, error in results.errors().items():
                print(partition, error)
            ```
        """
        operation = DeleteOffsets(group_id).named("delete_streams_group_offsets")
        return await self._each(operation, partitions, timeout, progress)

    async def _list_offsets(
        self, name: str, groups: GroupSelection, require_stable: bool, timeout: float | None, progress: Progress | None
    ) -> Results[str, GroupOffsets]:
        wanted = wanted_of_each(groups)
        operation = ListOffsetsOfGroups(wanted, require_stable=require_stable).named(name)
        return await self._each(operation, groups, timeout, progress)

    async def _alter_offsets(
        self,
        name: str,
        group_id: str,
        offsets: Mapping[TopicPartition, CommittedOffset | int],
        timeout: float | None,
        progress: Progress | None,
    ) -> Results[TopicPartition, None]:
        wanted = {
            PartitionOfGroup(group_id, partition): CommittedOffset(offset) if isinstance(offset, int) else offset
            for partition, offset in offsets.items()
        }
        done = await self._each(CommitOffsets(wanted).named(name), wanted, timeout, progress)
        return Results({item.partition: outcome for item, outcome in done.items()})
