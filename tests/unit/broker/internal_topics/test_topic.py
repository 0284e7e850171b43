"""Internal topics: the partition of each owner is Kafka's, and topics are made as a broker makes them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.embedded.groups import DIRECTORY_ID, opened_groups

from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.controller import Controller
from kafkawire.broker.internal_topics.topic import InternalTopic, partition_of
from kafkawire.broker.nodes import Nodes
from kafkawire.broker.topics.placement import Placement


@pytest.fixture
async def controller(tmp_path: Path) -> AsyncIterator[Controller]:
    async with opened_groups(tmp_path) as (_, opened):
        yield opened


def internal_topic(controller: Controller, name: str, properties: dict[str, str] | None = None) -> InternalTopic:
    placement = Placement(Nodes(Cluster("", 1, "", 0), DIRECTORY_ID))
    return InternalTopic(name, controller, BrokerConfiguration(properties or {}), placement)


@pytest.mark.parametrize(
    ("owner", "java_hash", "partition"),
    [
        ("aoffckzd", 0, 0),
        ("ajkenmba", 1, 1),
        ("aqsfmkgd", 2**31 - 2, 46),
        ("alxexlna", 2**31 - 1, 47),
        ("alxexlnb", -(2**31), 0),  # the least integer has no absolute value
        ("polygenelubricants", -(2**31), 0),
        ("alxexlnc", 1 - 2**31, 47),
        ("alxexlnd", 2 - 2**31, 46),
        ("aepdynhz", -1, 1),
    ],
)
def test_the_partition_of_an_owner_is_that_of_its_java_hash(owner: str, java_hash: int, partition: int) -> None:
    """``Utils.abs(owner.hashCode()) % partitions``, as in Apache Kafka's ``partitionFor``."""
    assert partition_of(owner, 50) == partition
    absolute = 0 if java_hash == -(2**31) else abs(java_hash)
    assert [partition_of(owner, count) for count in range(1, 200)] == [absolute % count for count in range(1, 200)]


@pytest.mark.parametrize(
    ("name", "configs"),
    [
        (
            "__consumer_offsets",
            {"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": "104857600"},
        ),
        (
            "__transaction_state",
            {"cleanup.policy": "compact", "compression.type": "uncompressed", "segment.bytes": "104857600"},
        ),
        (
            "__share_group_state",
            {
                "cleanup.policy": "delete",
                "compression.type": "producer",
                "min.insync.replicas": "2",
                "retention.ms": "-1",
                "segment.bytes": "104857600",
            },
        ),
    ],
)
async def test_topics_are_made_with_kafkas_defaults(controller: Controller, name: str, configs: dict[str, str]) -> None:
    topic = internal_topic(controller, name)
    assert (topic.name, topic.current) == (name, None)
    made = topic.made()
    assert topic.made() is made
    assert topic.current == made
    assert sorted(made.partitions) == list(range(50))
    assert {(each.leader, each.replicas, each.isr) for each in made.partitions.values()} == {(1, (1,), (1,))}
    assert controller.image.configs.of(2, name) == configs


@pytest.mark.parametrize(("given", "count"), [(None, 3), (1, 1), (4, 4)])
async def test_a_new_topic_has_the_configured_partitions_unless_others_are_given(
    controller: Controller, given: int | None, count: int
) -> None:
    topic = internal_topic(controller, "__transaction_state", {"transaction.state.log.num.partitions": "3"})
    assert len(topic.made(given).partitions) == count
    assert len(topic.made(7).partitions) == count


async def test_a_topic_may_have_more_partitions_than_one_request_may_have_records(controller: Controller) -> None:
    topic = internal_topic(controller, "__consumer_offsets", {"offsets.topic.num.partitions": "10001"})
    made = topic.made()
    await topic.durable()
    assert sorted(made.partitions) == list(range(10_001))


async def test_other_topics_are_not_internal(controller: Controller) -> None:
    with pytest.raises(AssertionError, match=r"^orders is no internal topic$"):
        internal_topic(controller, "orders").made()
