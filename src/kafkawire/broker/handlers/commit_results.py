"""The results of a commit of offsets, with or without a transaction, in the order of Kafka's brokers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from kafkawire.layout.uuid import Uuid
from kafkawire.protocol.error_codes import ErrorCode

_LONGEST_METADATA: Final = 4096
"""Characters; the default of ``offset.metadata.max.bytes``."""


class CommitResult(NamedTuple):
    """The result of a partition.

    Attributes:
        name, topic_id: the topic, as in the request.
        partition: its number.
        error: why it is not committed.
        is_refused: whether the coordinator does not get it: there is no such partition, or the client may not read it.
    """

    name: str
    topic_id: Uuid
    partition: int
    error: ErrorCode
    is_refused: bool


def by_topic(of_request: Sequence[Sequence[CommitResult]]) -> list[Sequence[CommitResult]]:
    """The results of each topic of the response, given those of the topics of the request.

    Where something is refused, Kafka's response begins with that, and has a topic once that the request has twice.
    """
    results = [result for of_topic in of_request for result in of_topic]
    if not any(result.is_refused for result in results):
        return [of_topic for of_topic in of_request if of_topic]
    merged: dict[tuple[str, Uuid], list[CommitResult]] = {}
    for result in sorted(results, key=lambda result: not result.is_refused):
        merged.setdefault((result.name, result.topic_id), []).append(result)
    return list(merged.values())


def metadata_error(metadata: str | None) -> ErrorCode:
    """The error for the metadata of an offset."""
    is_long = len(metadata or "") > _LONGEST_METADATA
    return ErrorCode.OFFSET_METADATA_TOO_LARGE if is_long else ErrorCode.NONE
