"""The topics that groups know."""

from __future__ import annotations

from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.broker.image.topics import TopicsImage
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ConfigRecord, PartitionRecord, RemoveTopicRecord, TopicRecord

RACKS = {1: "west", 2: "east"}


def image_of(*names: str) -> TopicsImage:
    """Topics with a partition each, whose replicas are at the brokers 1 and 2."""
    image = TopicsImage()
    for name in names:
        image.apply_topic(TopicRecord(name, topic_id(name)))
        add_partition(image, name, 0)
    return image


def topic_id(name: str) -> Uuid:
    return Uuid(name.encode().ljust(16))


def add_partition(image: TopicsImage, name: str, number: int) -> None:
    image.apply_partition(PartitionRecord(number, topic_id(name), (1, 2), (1, 2), leader=1))


def test_topics_have_kafkas_hash() -> None:
    """What ``Utils.computeGroupHash`` of Apache Kafka 4.3.1 gives, with the racks of replicas and without."""
    image = TopicsImage()
    payments = Uuid((-2).to_bytes(8, "big", signed=True) + (5).to_bytes(8, "big"))
    for name, topic_id, replicas in (
        ("orders", Uuid(bytes(range(1, 17))), [(1, 2), (2,)]),
        ("payments", payments, [(3,)]),
    ):
        image.apply_topic(TopicRecord(name, topic_id))
        for number, nodes in enumerate(replicas):
            image.apply_partition(PartitionRecord(number, topic_id, nodes, nodes, leader=nodes[0]))
    topics = KnownTopics(image, lambda: 1, RACKS.get)
    assert topics.hash_of(["orders"]) == 7453647360097991217
    assert topics.hash_of(["payments", "orders", "missing"]) == 4072489946072620707
    assert topics.hash_of(["missing"]) == 0


def test_a_topic_is_hashed_again_only_when_it_has_more_partitions() -> None:
    looked_up: list[int] = []

    def rack_of(node: int) -> None:
        looked_up.append(node)

    image = image_of("orders", "payments")
    topics = KnownTopics(image, lambda: 1, rack_of)
    first = topics.hash_of(["orders"])
    assert topics.hash_of(["orders"]) == first
    assert looked_up == [1, 2]
    topics.hash_of(["payments", "orders"])
    assert looked_up == [1, 2] * 2
    add_partition(image, "orders", 1)
    assert topics.hash_of(["orders"]) not in {0, first}
    topics.hash_of(["orders", "payments"])
    assert looked_up == [1, 2] * 4, "both partitions of one"
    assert KnownTopics(image, lambda: 1, lambda _: None).hash_of(["orders"]) == topics.hash_of(["orders"])


def test_changes_of_topics_are_counted_and_others_are_not() -> None:
    ends = iter((5, 6, 7))
    topics = KnownTopics(image_of("orders"), lambda: next(ends), lambda _: None)
    assert (topics.changes, topics.created_at) == (0, 5)
    topics.committed([TopicRecord("more", topic_id("more")), PartitionRecord(0, topic_id("more"))])
    assert (topics.changes, topics.created_at) == (1, 6)
    for record in (PartitionRecord(1, topic_id("more")), RemoveTopicRecord(topic_id("more"))):
        topics.committed([record])
    assert (topics.changes, topics.created_at) == (3, 6)
    topics.committed([ConfigRecord(2, "more", "retention.ms", "1")])
    assert (topics.changes, topics.created_at) == (3, 6)
