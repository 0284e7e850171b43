"""The states of share partitions that end with their group, and those that requests end."""

from __future__ import annotations

from tests.embedded.driven_topics import DrivenTopics

from kafkawire.broker.groups.share.offsets import (
    AlteredPartition,
    AlteredTopic,
    DeletedTopic,
    all_partitions,
    altered,
    deleted,
)
from kafkawire.broker.groups.share.shared_partitions import SharedPartitions, SharedTopic
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

GONE = Uuid(b"g" * 16)


def some_of(name: str, *partitions: int) -> SharedTopic:
    return SharedTopic(name, frozenset(partitions))


def test_all_states_of_a_group_are_those_that_it_has_and_those_of_topics_whose_end_was_not_recorded() -> None:
    """As after a crash between the record that states are about to end, and the one that they have."""
    cluster = DrivenTopics()
    a, b, c = (cluster.create(name, 3) for name in "abc")
    shared = SharedPartitions(
        initializing={a: some_of("a", 1), b: some_of("b", 0)},
        initialized={a: some_of("a", 0), GONE: some_of("gone", 7)},
        deleting=frozenset({b, c, GONE}),
    )
    ended = {topic: {*partitions} for topic, partitions in all_partitions(shared, cluster.topics).items()}
    assert ended == {a: {0, 1}, b: {0, 1, 2}, c: {0, 1, 2}, GONE: {7}}


def test_the_partitions_of_a_request_to_alter_offsets_are_those_that_exist() -> None:
    """Field by field; no partition of a topic that does not exist is there, whatever its number, as in Apache Kafka."""
    cluster = DrivenTopics()
    a, b = cluster.create("a", 2), cluster.create("b", 1)
    asked = AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestTopic
    partition = AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestPartition
    topics = (
        asked("a", (partition(0, 5), partition(1, 0), partition(2, 7), partition(3, 7))),
        asked("b", (partition(1, 9),)),
        asked("none", (partition(-1, 1), partition(0, 1))),
    )
    result = altered(AlterShareGroupOffsetsRequest("g", topics), cluster.topics)
    assert result.shared == {a: some_of("a", 0, 1), b: some_of("b")}
    assert result.start_offsets == {a: {0: 5, 1: 0}}

    def missing(number: int) -> AlteredPartition:
        reason = "This server does not host this topic-partition."
        return AlteredPartition(number, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)

    assert result.answer == AlterShareGroupOffsetsResponse(
        responses=(
            AlteredTopic("a", a, (AlteredPartition(0), AlteredPartition(1), missing(2), missing(3))),
            AlteredTopic("b", b, (missing(1),)),
            AlteredTopic("none", Uuid(), (missing(-1), missing(0))),
        )
    )


def test_a_request_to_delete_offsets_is_answered_for_each_topic() -> None:
    """First for those whose states end, in the order of Kafka's map; then for others."""
    cluster = DrivenTopics()
    a, b = cluster.create("a", 2), cluster.create("b", 1)
    shared = SharedPartitions(initialized={a: some_of("a", 1, 0), b: some_of("b", 0)})
    asked = DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic
    cluster.create("c", 1)
    result = deleted(DeleteShareGroupOffsetsRequest("g", tuple(map(asked, ("none", "c", "a")))), shared, cluster.topics)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert result.answer == DeleteShareGroupOffsetsResponse(
        responses=(
            DeletedTopic("a", a),
            DeletedTopic("none", error_code=unknown, error_message="This server does not host this topic-partition."),
            DeletedTopic("c", error_code=unknown, error_message="There is no offset information to delete."),
        )
    )
    assert {topic: [*partitions] for topic, partitions in result.ended.items()} == {a: [0, 1]}
    assert (result.before.initialized, result.before.deleting) == ({b: some_of("b", 0)}, frozenset({a}))
    assert (result.after.initialized, result.after.deleting) == ({b: some_of("b", 0)}, frozenset())


def test_states_whose_end_was_not_recorded_end_when_a_request_wants_it_again() -> None:
    cluster = DrivenTopics()
    a, b, c = (cluster.create(name, 2) for name in "abc")
    shared = SharedPartitions(initialized={a: some_of("a", 1)}, deleting=frozenset({b, c, GONE}))
    asked = DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic
    result = deleted(DeleteShareGroupOffsetsRequest("g", (asked("a"), asked("b"))), shared, cluster.topics)
    assert {topic: [*partitions] for topic, partitions in result.ended.items()} == {a: [1], b: [0, 1]}
    assert result.before == SharedPartitions(deleting=frozenset({a, b, c, GONE}))
    assert result.after == SharedPartitions(deleting=frozenset({c, GONE}))
    assert sorted((each.topic_name, each.error_code) for each in result.answer.responses) == [("a", 0), ("b", 0)]
