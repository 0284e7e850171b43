"""The results of a commit of offsets, with or without a transaction, in the order of Kafka's brokers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from msgspec.structs import replace

from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import OffsetCommitRequest, TxnOffsetCommitRequest
from kafkawire.protocol.error_codes import ErrorCode

P = TypeVar("P")
T = TypeVar("T", OffsetCommitRequest.OffsetCommitRequestTopic, TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic)

_LONGEST_METADATA: Final = 4096
"""Characters; the default of ``offset.metadata.max.bytes``."""


class TopicResults(NamedTuple, Generic[P]):
    """The results of the partitions of a topic of the request, as the response has them.

    Attributes:
        name, topic_id: the topic, as in the request.
        refused: those that the coordinator does not get: there is no such partition, or the client may not read it.
        others: the others.
    """

    name: str
    topic_id: Uuid
    refused: list[P]
    others: list[P]


def by_topic(of_request: Sequence[TopicResults[P]]) -> Sequence[tuple[str, Uuid, tuple[P, ...]]]:
    """The results of each topic of the response: name, id, partitions.

    Where something is refused, Kafka's response begins with that, and has a topic once that the request has twice.
    """
    if not any(topic.refused for topic in of_request):
        return [(topic.name, topic.topic_id, tuple(topic.others)) for topic in of_request if topic.others]
    merged: dict[tuple[str, Uuid], list[P]] = {}
    refused_first = (*((each, each.refused) for each in of_request), *((each, each.others) for each in of_request))
    for topic, results in refused_first:
        if results:
            merged.setdefault((topic.name, topic.topic_id), []).extend(results)
    return [(*topic, tuple(results)) for topic, results in merged.items()]


def usable_topics(topics: Iterable[tuple[T, Sequence[ErrorCode]]]) -> tuple[T, ...]:
    """The topics of a commit with the partitions that have no error: Kafka leaves out the rest before the group.

    Args:
        topics: of the request, each with an error for each partition.
    """
    usable = list[T]()
    for topic, errors in topics:
        partitions = tuple(each for each, error in zip(topic.partitions, errors, strict=True) if not error)
        if partitions:
            usable.append(topic if len(partitions) == len(errors) else replace(topic, partitions=partitions))
    return tuple(usable)


def metadata_error(metadata: str | None) -> ErrorCode:
    """The error for the metadata of an offset."""
    is_long = len(metadata or "") > _LONGEST_METADATA
    return ErrorCode.OFFSET_METADATA_TOO_LARGE if is_long else ErrorCode.NONE
