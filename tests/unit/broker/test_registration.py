"""The records with which a node stops."""

from __future__ import annotations

from kafkawire.broker.image.metadata_image import MetadataImage, image_of
from kafkawire.broker.image.topics import NO_LEADER
from kafkawire.broker.registration import departure_records, leadership_records
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    BrokerRegistrationChangeRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    TopicRecord,
)

TOPIC = Uuid.random()


def image(*, eligible_level: int = 1, isr: tuple[int, ...] = (1,)) -> MetadataImage:
    """A partition that node 1 leads, and one that has no leader."""
    return image_of(
        [
            FeatureLevelRecord("eligible.leader.replicas.version", eligible_level),
            RegisterBrokerRecord(1, broker_epoch=7, fenced=False),
            TopicRecord("t", TOPIC),
            PartitionRecord(0, TOPIC, replicas=(1, 2), isr=isr, leader=1, leader_epoch=3),
            PartitionRecord(1, TOPIC, replicas=(2,), isr=(2,), leader=NO_LEADER, leader_epoch=5),
        ]
    )


def test_a_node_that_stops_leads_nothing_before_it_is_fenced() -> None:
    """As ``enterControlledShutdown`` of Kafka 4.3.1, whose log has: isr [1] to [], leader 1 to -1, elr [1].

    A fenced leader would lead for a moment when Kafka starts on the directory, and could lose markers of transactions.
    """
    assert [*departure_records(image(), 1)] == [
        PartitionChangeRecord(0, TOPIC, isr=(), leader=NO_LEADER, eligible_leader_replicas=(1,), last_known_elr=(1,)),
        BrokerRegistrationChangeRecord(1, 7, 1),
    ]


def test_without_eligible_replicas_the_last_replica_stays_in_sync() -> None:
    change, _ = departure_records(image(eligible_level=0), 1)
    assert change == PartitionChangeRecord(0, TOPIC, leader=NO_LEADER)


def test_other_replicas_stay_in_sync() -> None:
    change, _ = departure_records(image(isr=(1, 2)), 1)
    assert change == PartitionChangeRecord(0, TOPIC, isr=(2,), leader=NO_LEADER, eligible_leader_replicas=(1,))


def test_a_node_that_is_not_registered_leaves_no_records() -> None:
    assert [*departure_records(image(), 2)] == []


def test_a_node_that_comes_back_leads_again_in_a_new_epoch() -> None:
    state = image()
    for record in departure_records(state, 1):
        state.apply(record)
    for record in leadership_records(state, 1):
        state.apply(record)
    partition = state.topics.by_name["t"].partitions[0]
    assert (partition.leader, partition.leader_epoch, [*partition.isr]) == (1, 5, [1])
    assert not partition.eligible_leader_replicas
    assert not partition.last_known_elr
