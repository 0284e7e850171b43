"""The partitions for which a share group has states, from when they are wanted until they end."""

from __future__ import annotations

from tests.embedded.driven_topics import DrivenTopics

from kafkawire.broker.groups.share.shared_partitions import SharedPartitions, SharedTopic, united
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ShareGroupStatePartitionMetadataValue

A, B = Uuid(b"a" * 16), Uuid(b"b" * 16)


def some_of(name: str, *partitions: int) -> SharedTopic:
    return SharedTopic(name, frozenset(partitions))


def test_states_that_begin_twice_are_not_wanted_again() -> None:
    """Two heartbeats may want the same states, and one of them ends after others have become wanted."""
    wanted = {A: some_of("a", 0, 1), B: some_of("b", 0)}
    begun = SharedPartitions(initializing=wanted).begun(wanted)
    assert begun == SharedPartitions(initialized=wanted)
    more = begun.with_more({A: some_of("a", 2)})
    assert more.begun(wanted) == more == SharedPartitions({A: some_of("a", 2)}, wanted)
    assert more.begun({A: some_of("a", 2)}) == SharedPartitions(
        initialized={A: some_of("a", 0, 1, 2), B: some_of("b", 0)}
    )


def test_topics_that_are_wanted_or_gone_have_no_states_that_are_about_to_end() -> None:
    shared = SharedPartitions({A: some_of("a", 0)}, {B: some_of("b", 0)}, frozenset({A, B}))
    assert shared.with_more({B: some_of("b", 1)}) == SharedPartitions(
        {A: some_of("a", 0), B: some_of("b", 1)}, {B: some_of("b", 0)}, frozenset({A})
    )
    assert shared.without_topics({A}) == SharedPartitions({}, {B: some_of("b", 0)}, frozenset({B}))
    assert shared.without_topics({B}) == SharedPartitions({A: some_of("a", 0)}, {}, frozenset({A}))


def test_a_record_names_topics_as_they_are_now() -> None:
    """One that is gone has no name any more."""
    cluster = DrivenTopics()
    known = cluster.create("known", 1)
    shared = SharedPartitions({A: some_of("a", 1, 0)}, {B: some_of("b", 0)}, frozenset({known, A}))
    record = shared.record(cluster.topics)
    info = ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo
    assert record.initializing_topics == (info(A, "a", (0, 1)),)
    assert record.initialized_topics == (info(B, "b", (0,)),)
    assert {(each.topic_id, each.topic_name) for each in record.deleting_topics} == {
        (known, "known"), (A, "<UNKNOWN>"),
    }  # fmt: skip
    assert SharedPartitions.recorded(record) == shared


def test_united_partitions_have_the_later_name() -> None:
    one, other = {A: some_of("a", 0), B: some_of("b", 0)}, {A: some_of("renamed", 1)}
    assert united(one, other) == {A: some_of("renamed", 0, 1), B: some_of("b", 0)}
    assert united(other, one) == {A: some_of("a", 0, 1), B: some_of("b", 0)}
