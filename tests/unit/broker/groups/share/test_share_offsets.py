"""The states of share partitions that end with their group, and those that requests end."""

from __future__ import annotations

from tests.embedded.driven_topics import DrivenTopics

from kafkawire.broker.groups.share.offsets import all_partitions, deleted
from kafkawire.broker.groups.share.shared_partitions import SharedPartitions, SharedTopic
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import DeleteShareGroupOffsetsRequest

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
