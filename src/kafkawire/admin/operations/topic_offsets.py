"""The first and last offsets of the partitions of whole topics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

from kafkawire.admin.engine.lookups import FindLeaders
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.records import ListOffsets, ListOffsetsAtOnce, OffsetAt
from kafkawire.admin.results import Results
from kafkawire.model.partitions import IsolationLevel, ListedOffset, OffsetRange, OffsetSpec, TopicPartition
from kafkawire.protocol.errors import UnknownServerError
from kafkawire.wire.kafka_errors import KafkaError

TopicOffsets: TypeAlias = Results[TopicPartition, OffsetRange]
"""Partition of a topic to its offsets, or to what went wrong with the partition."""


class PartitionsOfTopicsFamily(OperationFamily):
    """Base of families that take whole topics."""

    async def _partitions_of(
        self, name: str, deadline: float, topics: Iterable[str]
    ) -> Results[str, tuple[TopicPartition, ...]]:
        """Each topic to its partitions, in order."""
        found = await self._until(deadline, FindLeaders().named(name), topics)
        return Results(
            {
                topic: leaders
                if isinstance(leaders, KafkaError)
                else tuple(TopicPartition(topic, number) for number in sorted(leaders))
                for topic, leaders in found.items()
            },
            found,
        )

    async def _ranges_of(
        self, name: str, deadline: float, partitions: Collection[TopicPartition], isolation: IsolationLevel
    ) -> dict[TopicPartition, OffsetRange | KafkaError]:
        """The first and the last offset of each partition, two requests to each leader."""
        items = [OffsetAt(at, spec) for spec in (OffsetSpec.EARLIEST, OffsetSpec.LATEST) for at in partitions]
        listed = dict((await self._until(deadline, ListOffsetsAtOnce(items, isolation).named(name), items)).items())
        return {at: _range(at, listed) for at in partitions}


def _range(partition: TopicPartition, listed: Mapping[OffsetAt, ListedOffset | KafkaError]) -> OffsetRange | KafkaError:
    start, end = (listed[OffsetAt(partition, spec)] for spec in (OffsetSpec.EARLIEST, OffsetSpec.LATEST))
    if isinstance(start, KafkaError):
        return start
    if isinstance(end, KafkaError):
        return end
    if start.offset is None or end.offset is None:
        return UnknownServerError(f"the leader of {partition} does not return its first and last offset")
    return OffsetRange(start.offset, end.offset)


class TopicOffsetOperations(PartitionsOfTopicsFamily):
    """The offsets of whole topics."""

    @needs(ListOffsets, rights="DESCRIBE TOPIC")
    async def list_topic_offsets(
        self,
        topics: Iterable[str],
        *,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        timeout: float | None = None,
    ) -> Results[str, TopicOffsets]:
        """The first and the last offset of every partition of topics.

        Args:
            topics: names of the topics.
            isolation: whether a partition ends at its last record, or where its first open transaction begins.
            timeout: see `AdminClient`.

        Returns:
            Topic name to its offsets, or to what went wrong with the topic: `UnknownTopicOrPartitionError`,
            `TopicAuthorizationFailedError` ... Its offsets are results as well: partition to its `OffsetRange`, or to
            what went wrong with the partition: `LeaderNotAvailableError` (no replica is alive; it is not waited
            for) ...

        Example:
            ```python
            for name, offsets in (await admin.list_topic_offsets(["orders", "invoices"])).all().items():
                print(name, "has at most", sum(found.count for found in offsets.values().values()), "records")
                for partition, error in offsets.errors().items():
                    print(partition, error)
            ```
        """
        deadline = self._deadline(timeout)
        found = await self._partitions_of("list_topic_offsets", deadline, topics)
        every = [partition for partitions in found.values().values() for partition in partitions]
        ranges = await self._ranges_of("list_topic_offsets", deadline, every, isolation)
        return Results(
            {
                topic: partitions
                if isinstance(partitions, KafkaError)
                else Results({partition: ranges[partition] for partition in partitions})
                for topic, partitions in found.items()
            },
            found,
        )
