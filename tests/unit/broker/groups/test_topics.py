"""The topics that groups know."""

from __future__ import annotations

from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.broker.image.topics import TopicsImage
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import PartitionRecord, TopicRecord

RACKS = {1: "west", 2: "east"}


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
