"""All that readers get from partitions of a broker: every batch, and what committed readers see."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tests.embedded.driven_broker import DrivenClient

from kafkawire.protocol import FetchRequest, FetchResponse, ListOffsetsRequest, ListOffsetsResponse
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import RecordBatch, decode_records, read_batches

Place: TypeAlias = tuple[str, int]
"""Topic and partition."""

VERSION: Final = 12
_COMMITTED: Final = 1
_MOST_BYTES: Final = 1 << 20
_LIST_VERSION: Final = 5
_EARLIEST: Final = -2


@dataclass(frozen=True)
class FoundBatch:
    """A batch in a partition.

    Attributes:
        offset, last_offset: of its records.
        values: of its records; none of a control batch.
        is_control: whether it is a marker.
        keys: of its records, as ``values``.
    """

    offset: int
    last_offset: int
    values: tuple[bytes, ...]
    is_control: bool
    keys: tuple[bytes, ...] = ()


@dataclass
class Reading:
    """What a reader gets from a partition.

    Attributes:
        batches: in their order.
        start_offset, stable_offset, end_offset: as the last answer said.
    """

    batches: list[FoundBatch] = field(default_factory=list)
    start_offset: int = 0
    stable_offset: int = 0
    end_offset: int = 0

    @property
    def values(self) -> list[bytes]:
        """The values of all records."""
        return [value for batch in self.batches for value in batch.values]


async def read(client: DrivenClient, places: Collection[Place], *, committed: bool) -> Mapping[Place, Reading]:
    """Read partitions from their begin to their end; a committed reader gets no aborted records."""
    readings = {place: Reading() for place in places}
    offsets = await _starts(client, places)
    while offsets:
        answer = await client.send(_request(offsets, committed=committed), VERSION, FetchResponse)
        found = {(topic.topic, one.partition_index): one for topic in answer.responses for one in topic.partitions}
        passed = [place for place, one in found.items() if one.error_code == ErrorCode.OFFSET_OUT_OF_RANGE]
        for place, one in found.items():
            if place not in passed:
                following = _take(readings[place], one, offsets.pop(place), committed=committed)
                offsets |= {} if following is None else {place: following}
        if passed:  # records were deleted meanwhile
            offsets |= await _starts(client, passed)
            readings |= {place: Reading() for place in passed}
    return readings


async def _starts(client: DrivenClient, places: Collection[Place]) -> dict[Place, int]:
    topics = tuple(
        ListOffsetsRequest.ListOffsetsTopic(name, (ListOffsetsRequest.ListOffsetsPartition(number, -1, _EARLIEST),))
        for name, number in places
    )
    answer = await client.send(ListOffsetsRequest(topics=topics), _LIST_VERSION, ListOffsetsResponse)
    starts = {(topic.name, one.partition_index): one for topic in answer.topics for one in topic.partitions}
    assert not any(one.error_code for one in starts.values())
    return {place: one.offset for place, one in starts.items()}


def _request(offsets: Mapping[Place, int], *, committed: bool) -> FetchRequest:
    topics: dict[str, list[FetchRequest.FetchPartition]] = {}
    for (name, number), offset in offsets.items():
        topics.setdefault(name, []).append(FetchRequest.FetchPartition(number, -1, offset, -1, 0, _MOST_BYTES))
    asked = tuple(FetchRequest.FetchTopic(name, partitions=tuple(each)) for name, each in topics.items())
    return FetchRequest(isolation_level=_COMMITTED if committed else 0, topics=asked)


def _take(reading: Reading, found: FetchResponse.PartitionData, offset: int, *, committed: bool) -> int | None:
    """Take an answer; returns the next offset to read, None at the end."""
    assert not found.error_code, f"reading failed with error {found.error_code}"
    reading.start_offset, reading.end_offset = found.log_start_offset, found.high_watermark
    reading.stable_offset = found.last_stable_offset
    batches = [*read_batches(found.records or b"")]
    aborted = [(each.first_offset, each.producer_id) for each in found.aborted_transactions or ()]
    for batch, is_seen in zip(batches, _seen(batches, aborted, committed=committed), strict=True):
        if batch.last_offset >= offset:
            reading.batches.append(_found(batch, reading.start_offset, is_seen=is_seen))
    return batches[-1].last_offset + 1 if batches else None


def _found(batch: RecordBatch, start_offset: int, *, is_seen: bool) -> FoundBatch:
    records = () if batch.is_control or not is_seen else tuple(
        record for record in decode_records(batch) if record.offset >= start_offset
    )  # fmt: skip
    values = tuple(bytes(record.value or b"") for record in records)
    keys = tuple(bytes(record.key or b"") for record in records)
    return FoundBatch(batch.base_offset, batch.last_offset, values, batch.is_control, keys)


def _seen(batches: Sequence[RecordBatch], aborted: Sequence[tuple[int, int]], *, committed: bool) -> list[bool]:
    """Which batches a reader takes, as clients of Kafka do it."""
    if not committed:
        return [True] * len(batches)
    left, skipped, seen = sorted(aborted), set[int](), list[bool]()
    for batch in batches:
        while left and left[0][0] <= batch.last_offset:
            skipped.add(left.pop(0)[1])
        if batch.is_control:
            skipped.discard(batch.producer_id)
        seen.append(not (batch.is_transactional and batch.producer_id in skipped))
    return seen
