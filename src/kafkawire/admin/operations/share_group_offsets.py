"""The offsets of share groups (admin-group-offsets)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from kafkawire import protocol
from kafkawire.admin.engine.operation import Outcomes, Progress, Request, failure
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.coordinated import (
    InGroup,
    InGroups,
    OffsetsOfGroups,
    PartitionOfGroup,
    of_partitions,
)
from kafkawire.admin.operations.group_offsets import GroupSelection, wanted_of_each
from kafkawire.admin.operations.partitions import by_topic
from kafkawire.admin.results import Results
from kafkawire.model.groups.offsets import SharePartitionOffset
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import error_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

ShareGroupOffsets: TypeAlias = Results[TopicPartition, SharePartitionOffset | None]
"""Partition to the offset of a share group, None if it has none, or the error of the partition."""


class DescribeShareGroupOffsets(OffsetsOfGroups[ShareGroupOffsets, "protocol.DescribeShareGroupOffsetsResponse"]):
    """KIP-932, KIP-1226 (lag)."""

    name = "list_share_group_offsets"
    api = ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS

    def build(self, request: Request[str]) -> Message:
        message = protocol.DescribeShareGroupOffsetsRequest
        topic, group = message.DescribeShareGroupOffsetsRequestTopic, message.DescribeShareGroupOffsetsRequestGroup
        return message(tuple(group(group_id, self._topics(group_id, topic)) for group_id in request.items))

    def read(
        self, request: Request[str], response: protocol.DescribeShareGroupOffsetsResponse
    ) -> Outcomes[str, ShareGroupOffsets]:
        return {
            group.group_id: failure(group.error_code, group.error_message)
            or of_partitions(
                {
                    TopicPartition(topic.topic_name, each.partition_index): _begun(each)
                    for topic in group.topics
                    for each in topic.partitions
                },
                self._partitions.get(group.group_id),
                request.node_id,
            )
            for group in response.groups
        }


def _begun(
    partition: protocol.DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponsePartition,
) -> SharePartitionOffset | KafkaError | None:
    if partition.error_code:
        return error_of(partition.error_code, partition.error_message)
    if partition.start_offset < 0:
        return None
    return SharePartitionOffset(
        start_offset=partition.start_offset,
        leader_epoch=partition.leader_epoch if partition.leader_epoch >= 0 else None,
        lag=partition.lag if partition.lag >= 0 else None,
    )


class AlterShareGroupOffsets(InGroups[None, "protocol.AlterShareGroupOffsetsResponse"]):
    """KIP-932."""

    name = "alter_share_group_offsets"
    api = ApiKey.ALTER_SHARE_GROUP_OFFSETS
    mutates = True

    def __init__(self, offsets: Mapping[PartitionOfGroup, int]) -> None:
        self._offsets = offsets

    def build(self, request: Request[PartitionOfGroup]) -> Message:
        message = protocol.AlterShareGroupOffsetsRequest
        offsets = {item.partition: self._offsets[item] for item in request.items}
        return message(
            group_id=request.items[0].group_id,
            topics=tuple(
                message.AlterShareGroupOffsetsRequestTopic(
                    name,
                    tuple(
                        message.AlterShareGroupOffsetsRequestPartition(number, offsets[TopicPartition(name, number)])
                        for number in numbers
                    ),
                )
                for name, numbers in by_topic(offsets)
            ),
        )

    def read(
        self, request: Request[PartitionOfGroup], response: protocol.AlterShareGroupOffsetsResponse
    ) -> Outcomes[PartitionOfGroup, None]:
        group_id = request.items[0].group_id
        return {
            PartitionOfGroup(group_id, TopicPartition(topic.topic_name, result.partition_index)): failure(
                result.error_code, result.error_message
            )
            for topic in response.responses
            for result in topic.partitions
        }


class DeleteShareGroupOffsets(InGroup[str, None, "protocol.DeleteShareGroupOffsetsResponse"]):
    """KIP-932; the items are topics."""

    name = "delete_share_group_offsets"
    api = ApiKey.DELETE_SHARE_GROUP_OFFSETS
    mutates = True

    def build(self, request: Request[str]) -> Message:
        topic = protocol.DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic
        return protocol.DeleteShareGroupOffsetsRequest(group_id=self._group_id, topics=tuple(map(topic, request.items)))

    def read(self, request: Request[str], response: protocol.DeleteShareGroupOffsetsResponse) -> Outcomes[str, None]:
        return {topic.topic_name: failure(topic.error_code, topic.error_message) for topic in response.responses}


class ShareGroupOffsetOperations(OperationFamily):
    """The offsets of share groups."""

    @needs(DescribeShareGroupOffsets, rights="DESCRIBE GROUP, DESCRIBE TOPIC")
    async def list_share_group_offsets(
        self, groups: GroupSelection, *, timeout: float | None = None, progress: Progress | None = None
    ) -> Results[str, ShareGroupOffsets]:
        """The offsets of share groups in partitions.

        Args:
            groups: ids of the groups, or group id to the partitions that are wanted: None for all that the group has.
            timeout, progress: see `AdminClient`.

        Returns:
            Group id to its offsets, or to what went wrong with the group: `GroupIdNotFoundError` ... Its offsets are
            results as well: partition to its offset, to None if the group has not begun there, or to what went wrong.

        Example:
            ```python
            results = await admin.list_share_group_offsets(["workers"])
            for partition, begun in results["workers"].all().items():
                print(partition, begun.start_offset if begun else "not begun")
            ```
        """
        wanted = wanted_of_each(groups)
        return await self._each(DescribeShareGroupOffsets(wanted), groups, timeout, progress)

    @needs(AlterShareGroupOffsets, rights="READ GROUP, READ TOPIC")
    async def alter_share_group_offsets(
        self,
        group_id: str,
        offsets: Mapping[TopicPartition, int],
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[TopicPartition, None]:
        """Set the offsets of a share group. The group must have no members.

        Args:
            group_id: id of the group.
            offsets: partition to its new offset.
            timeout, progress: see `AdminClient`.

        Returns:
            Partition to None, or to what went wrong: `NonEmptyGroupError`, `GroupIdNotFoundError`,
            `UnknownTopicOrPartitionError` ...

        Example:
            ```python
            results = await admin.alter_share_group_offsets("workers", {TopicPartition("orders", 0): 120})
            for partition, error in results.errors().items():
                print(partition, error)
            ```
        """
        wanted = {PartitionOfGroup(group_id, partition): offset for partition, offset in offsets.items()}
        operation = AlterShareGroupOffsets(wanted)
        done = await self._each(operation, wanted, timeout, progress)
        return Results({item.partition: outcome for item, outcome in done.items()})

    @needs(DeleteShareGroupOffsets, rights="DELETE GROUP, READ TOPIC")
    async def delete_share_group_offsets(
        self,
        group_id: str,
        topics: Iterable[str],
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[str, None]:
        """Delete the offsets of a share group for topics. The group must have no members.

        Args:
            group_id: id of the group.
            topics: names of the topics.
            timeout, progress: see `AdminClient`.

        Returns:
            Topic name to None, or to what went wrong: `NonEmptyGroupError`, `GroupIdNotFoundError`,
            `UnknownTopicOrPartitionError` ...

        Example:
            ```python
            results = await admin.delete_share_group_offsets("workers", ["orders"])
            for topic, error in results.errors().items():
                print(topic, error)
            ```
        """
        return await self._each(DeleteShareGroupOffsets(group_id), topics, timeout, progress)
