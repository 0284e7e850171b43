"""Records of partitions: delete them, find their offsets (admin-records)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import ClassVar

import msgspec

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, Request, failure
from kafkawire.admin.engine.route import LeaderOf, Route
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.first_versions import first_version
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.partitions import by_topic
from kafkawire.admin.results import Results
from kafkawire.model.partitions import IsolationLevel, ListedOffset, OffsetSpec, TopicPartition, WantedOffset
from kafkawire.model.topics import known_number
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import InvalidTimestampError
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

HIGH_WATERMARK = -1
"""As an offset to delete up to: all records that are committed."""

_SINCE: Mapping[int, int] = MappingProxyType(
    {
        OffsetSpec.MAX_TIMESTAMP: 7,
        OffsetSpec.EARLIEST_LOCAL: 8,
        OffsetSpec.LATEST_TIERED: 9,
        OffsetSpec.EARLIEST_PENDING_UPLOAD: 11,
    }
)
"""The first version of ListOffsets with a spec; all others exist since 1."""


class DeleteRecords(Operation[TopicPartition, int, "protocol.DeleteRecordsResponse"]):
    """KIP-107."""

    name = "delete_records"
    api = ApiKey.DELETE_RECORDS
    mutates = True
    # A new topic is not visible on every node at once.
    retried_codes: ClassVar[frozenset[int]] = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})

    def __init__(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._offsets = offsets

    def route_of(self, item: TopicPartition) -> Route:
        return LeaderOf(item)

    def build(self, request: Request[TopicPartition]) -> Message:
        message = protocol.DeleteRecordsRequest
        return message(
            topics=tuple(
                message.DeleteRecordsTopic(
                    name,
                    tuple(
                        message.DeleteRecordsPartition(number, self._offsets[TopicPartition(name, number)])
                        for number in numbers
                    ),
                )
                for name, numbers in by_topic(request.items)
            ),
            timeout_ms=request.timeout_ms,
        )

    def read(
        self, request: Request[TopicPartition], response: protocol.DeleteRecordsResponse
    ) -> Outcomes[TopicPartition, int]:
        return {
            TopicPartition(topic.name, result.partition_index): failure(result.error_code) or result.low_watermark
            for topic in response.topics
            for result in topic.partitions
        }


class OffsetAt(msgspec.Struct, frozen=True):
    """One offset that is wanted of a partition.

    Attributes:
        partition: the partition.
        wanted: an `OffsetSpec`, or a time in milliseconds since 1970.
    """

    partition: TopicPartition
    wanted: WantedOffset


class ListOffsets(Operation[OffsetAt, ListedOffset, "protocol.ListOffsetsResponse"]):
    """KIP-79.

    Args:
        items: all requested offsets; a partition may have several.
        isolation: whether records of open transactions count.
    """

    name = "list_offsets"
    api = ApiKey.LIST_OFFSETS
    minimum_version = 1  # version 0 lists segments
    # A new leader learns the positions of its followers only after a while.
    retried_codes: ClassVar[frozenset[int]] = frozenset({ErrorCode.OFFSET_NOT_AVAILABLE})

    def __init__(self, items: Iterable[OffsetAt], isolation: IsolationLevel) -> None:
        self._isolation = isolation
        self._rounds = _rounds(items)
        self.needs = ("isolation_level",) if isolation else ()

    def lowest_version(self, item: OffsetAt) -> int:
        return _SINCE.get(item.wanted, 0)

    def validate(self, item: OffsetAt) -> KafkaError | None:
        known = item.wanted >= 0 or item.wanted in OffsetSpec.__members__.values()
        return None if known else InvalidTimestampError(f"{item.wanted} is neither a time nor an OffsetSpec")

    def route_of(self, item: OffsetAt) -> Route:
        return LeaderOf(item.partition)

    def group_key(self, item: OffsetAt) -> int:
        return self._rounds[item]

    def build(self, request: Request[OffsetAt]) -> Message:
        message = protocol.ListOffsetsRequest
        wanted = {item.partition: item.wanted for item in request.items}
        return message(
            replica_id=-1,
            isolation_level=self._isolation,
            topics=tuple(
                message.ListOffsetsTopic(
                    name,
                    tuple(
                        message.ListOffsetsPartition(
                            partition_index=number, timestamp=wanted[TopicPartition(name, number)]
                        )
                        for number in numbers
                    ),
                )
                for name, numbers in by_topic(wanted)
            ),
            timeout_ms=request.timeout_ms if request.version >= first_version(message, "timeout_ms") else 0,
        )

    def read(
        self, request: Request[OffsetAt], response: protocol.ListOffsetsResponse
    ) -> Outcomes[OffsetAt, ListedOffset]:
        listed = {
            TopicPartition(topic.name, result.partition_index): failure(result.error_code)
            or ListedOffset(
                known_number(result.offset), known_number(result.timestamp), known_number(result.leader_epoch)
            )
            for topic in response.topics
            for result in topic.partitions
        }
        return {item: listed[item.partition] for item in request.items if item.partition in listed}


def _rounds(items: Iterable[OffsetAt]) -> dict[OffsetAt, int]:
    """Items numbered so that no partition has the same number twice: a request may name a partition once."""
    seen: Counter[TopicPartition] = Counter()
    rounds: dict[OffsetAt, int] = {}
    for item in items:
        if item not in rounds:
            rounds[item] = seen[item.partition]
            seen[item.partition] += 1
    return rounds


class ListOffsetsAtOnce(ListOffsets):
    """The same without waiting for leaders: all other partitions would wait for one that has lost its replicas."""

    final_codes: ClassVar[frozenset[int]] = frozenset({ErrorCode.LEADER_NOT_AVAILABLE})


class RecordOperations(OperationFamily):
    """The records of partitions."""

    @needs(DeleteRecords, rights="DELETE TOPIC")
    async def delete_records(
        self,
        offsets: Mapping[TopicPartition, int],
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[TopicPartition, int]:
        """Delete the records below an offset.

        Args:
            offsets: partition to the first offset that stays; ``HIGH_WATERMARK`` (-1) for none of those committed.
            timeout, progress: see `AdminClient`.

        Returns:
            Partition to its new first offset, or to what went wrong: `OffsetOutOfRangeError`,
            `PolicyViolationError` (the topic is compacted only) ...

        Example:
            ```python
            partition = TopicPartition("orders", 0)
            results = await admin.delete_records({partition: -1})  # all records up to now
            print("the first record is now at", results[partition])
            ```
        """
        return await self._each(DeleteRecords(offsets), offsets, timeout, progress)

    @needs(ListOffsets, rights="DESCRIBE TOPIC")
    async def list_offsets(
        self,
        offsets: Mapping[TopicPartition, WantedOffset],
        *,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[TopicPartition, ListedOffset]:
        """Offsets of partitions: the first, the last, those at a time.

        Args:
            offsets: partition to what is wanted: an `OffsetSpec`, or a time in milliseconds since 1970.
            isolation: whether records of open transactions count.
            timeout, progress: see `AdminClient`.

        Returns:
            Partition to its offset, or to what went wrong. A spec that the broker does not support fails with
            `UnsupportedVersionError` for its partitions only.

        Example:
            ```python
            import time

            partition = TopicPartition("orders", 0)
            end = (await admin.list_offsets({partition: OffsetSpec.LATEST}))[partition]
            an_hour_ago_ms = int((time.time() - 3600) * 1000)
            since = (await admin.list_offsets({partition: an_hour_ago_ms}))[partition]
            print("ends at", end.offset, "and the first record of the last hour is at", since.offset)
            ```
        """
        items = [OffsetAt(partition, wanted) for partition, wanted in offsets.items()]
        listed = await self._each(ListOffsets(items, isolation), items, timeout, progress)
        return Results({item.partition: outcome for item, outcome in listed.items()})
