"""Where share groups read from: requests that alter or delete that, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from kafkawire.broker.groups.share.shared_partitions import Shared, SharedPartitions, SharedTopic, in_set_order, united
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.layout.uuid import Uuid
from kafkawire.model.java_order import hash_order, uuid_hash
from kafkawire.protocol import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

NOT_EMPTY: Final = "The group is not empty."
NO_SUCH_PARTITION: Final = "This server does not host this topic-partition."

StartOffsets: TypeAlias = Mapping[Uuid, Mapping[int, int]]
"""Topic id and partition to the offset from which a group shall read."""

Ended: TypeAlias = Mapping[Uuid, Iterable[int]]
"""Topic id to the partitions whose states end."""

AlteredTopic = AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponseTopic
AlteredPartition = AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponsePartition
DeletedTopic = DeleteShareGroupOffsetsResponse.DeleteShareGroupOffsetsResponseTopic


class Altered(NamedTuple):
    """What a request to alter offsets does.

    Attributes:
        shared: the partitions whose states begin.
        start_offsets: from where.
        answer: for the client.
    """

    shared: Shared
    start_offsets: StartOffsets
    answer: AlterShareGroupOffsetsResponse


def altered(request: AlterShareGroupOffsetsRequest, topics: KnownTopics) -> Altered:
    """What a request to alter offsets does."""
    shared: dict[Uuid, SharedTopic] = {}
    start_offsets: dict[Uuid, dict[int, int]] = {}
    answers = []
    for asked in request.topics:
        topic = topics.id_of(asked.topic_name)
        there = {
            each.partition_index: each.start_offset
            for each in asked.partitions
            if topic is not None and each.partition_index < topics.partitions_of(topic)
        }
        if topic is not None:
            shared[topic] = SharedTopic(asked.topic_name, frozenset(there))
            if there:
                start_offsets[topic] = there
        results = (
            AlteredPartition(each.partition_index)
            if each.partition_index in there
            else AlteredPartition(each.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NO_SUCH_PARTITION)
            for each in asked.partitions
        )
        answers.append(AlteredTopic(asked.topic_name, topic or Uuid(), tuple(results)))
    return Altered(shared, start_offsets, AlterShareGroupOffsetsResponse(responses=tuple(answers)))


class Deleted(NamedTuple):
    """What a request to delete offsets does.

    Attributes:
        before: the partitions of the group while states end.
        ended: those whose states end.
        after: the partitions of the group then.
        answer: for the client.
    """

    before: SharedPartitions
    ended: Ended
    after: SharedPartitions
    answer: DeleteShareGroupOffsetsResponse


def deleted(request: DeleteShareGroupOffsetsRequest, known: SharedPartitions, topics: KnownTopics) -> Deleted:
    """What a request to delete offsets does to the partitions of a group."""
    initialized, deleting = dict(known.initialized), set(known.deleting)
    ended: dict[Uuid, Iterable[int]] = {}
    refused = []
    for asked in request.topics:
        topic = topics.id_of(asked.topic_name)
        if topic is not None and topic in initialized:
            ended[topic] = in_set_order(initialized.pop(topic).partitions)
            deleting.add(topic)
        elif topic is not None and topic in deleting:
            ended[topic] = range(topics.partitions_of(topic))
        else:
            reason = NO_SUCH_PARTITION if topic is None else "There is no offset information to delete."
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            refused.append(DeletedTopic(asked.topic_name, error_code=error, error_message=reason))
    before = replace(known, initialized=initialized, deleting=frozenset(deleting))
    after = replace(before, deleting=before.deleting.difference(ended))
    done = (DeletedTopic(topics.name_of(topic) or "", topic) for topic in hash_order(ended, uuid_hash))
    return Deleted(before, ended, after, DeleteShareGroupOffsetsResponse(responses=(*done, *refused)))


def all_partitions(known: SharedPartitions, topics: KnownTopics) -> Ended:
    """The partitions of a group that is deleted, and those of topics whose states were to end before."""
    ended = {topic: each.partitions for topic, each in united(known.initialized, known.initializing).items()}
    for topic in known.deleting:
        if topics.name_of(topic) is not None:
            ended[topic] = ended.get(topic, frozenset()) | frozenset(range(topics.partitions_of(topic)))
    return ended
