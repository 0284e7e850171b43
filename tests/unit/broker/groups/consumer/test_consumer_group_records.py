"""The records and the answers of a consumer group, field by field, as Apache Kafka has them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.embedded.driven_topics import DrivenTopics
from tests.unit.broker.groups.consumer.test_consumer_group_settings import settings

from kafkawire.broker.groups.consumer.group import ConsumerGroup
from kafkawire.broker.groups.consumer.joining import Beat
from kafkawire.broker.groups.consumer.live_groups import check_regex
from kafkawire.broker.groups.consumer.states import MemberState
from kafkawire.broker.groups.timers import Now
from kafkawire.protocol import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)

NOW = Now(1000.0, 1_000_000)
Current = ConsumerGroupCurrentMemberAssignmentValue
Target = ConsumerGroupTargetAssignmentMemberValue
JOINS = ConsumerGroupHeartbeatRequest("g", "a", 0, "one", "rack", 5000, ("orders",), None, "range", ())


def beat(request: ConsumerGroupHeartbeatRequest) -> Beat:
    return Beat(request, "client", "/127.0.0.1", check_regex)


def test_a_static_member_joins_leaves_for_a_while_and_comes_back_with_another_id() -> None:
    """It gets its partitions again without an epoch; the record between has the epoch 0 (KIP-345)."""
    cluster = DrivenTopics()
    topic = cluster.create("orders", 2)
    group = ConsumerGroup("g", (), settings(), cluster.topics, NOW)
    metadata = ConsumerGroupMemberMetadataValue(
        instance_id="one",
        rack_id="rack",
        client_id="client",
        client_host="/127.0.0.1",
        subscribed_topic_names=("orders",),
        subscribed_topic_regex="",
        rebalance_timeout_ms=5000,
        server_assignor="range",
        classic_member_metadata=None,
    )
    target = Target((Target.TopicPartition(topic, (0, 1)),))
    assignment = ConsumerGroupHeartbeatResponse.Assignment(
        (ConsumerGroupHeartbeatResponse.TopicPartitions(topic, (0, 1)),)
    )

    def current(epoch: int, since: int) -> Current:
        return Current(epoch, 0, 0, (Current.TopicPartitions(topic, (0, 1), (since, since)),), ())

    assert group.heartbeat(beat(JOINS), NOW) == ConsumerGroupHeartbeatResponse(
        member_id="a", member_epoch=2, heartbeat_interval_ms=5000, assignment=assignment
    )
    assert group.changes() == [
        (ConsumerGroupMemberMetadataKey("g", "a"), metadata),
        (ConsumerGroupMetadataKey("g"), ConsumerGroupMetadataValue(2, cluster.topics.hash_of(["orders"]))),
        (ConsumerGroupTargetAssignmentMemberKey("g", "a"), target),
        (ConsumerGroupTargetAssignmentMetadataKey("g"), ConsumerGroupTargetAssignmentMetadataValue(2, NOW.ms)),
        (ConsumerGroupCurrentMemberAssignmentKey("g", "a"), current(2, 2)),
    ]
    leaves = ConsumerGroupHeartbeatRequest("g", "a", -2, "one")
    assert group.leave(beat(leaves), NOW) == ConsumerGroupHeartbeatResponse(member_id="a", member_epoch=-2)
    assert group.changes() == [(ConsumerGroupCurrentMemberAssignmentKey("g", "a"), current(-2, 0))]
    answer = group.heartbeat(beat(replace(JOINS, member_id="b")), NOW)
    assert (answer.member_id, answer.member_epoch, answer.assignment) == ("b", 2, assignment)
    assert group.changes() == [
        (ConsumerGroupCurrentMemberAssignmentKey("g", "a"), None),
        (ConsumerGroupTargetAssignmentMemberKey("g", "a"), None),
        (ConsumerGroupMemberMetadataKey("g", "a"), None),
        (ConsumerGroupMemberMetadataKey("g", "b"), metadata),
        (ConsumerGroupTargetAssignmentMemberKey("g", "b"), target),
        (ConsumerGroupCurrentMemberAssignmentKey("g", "b"), current(0, 0)),
        (ConsumerGroupCurrentMemberAssignmentKey("g", "b"), current(2, 0)),
    ]


def test_a_member_without_topics_begins_no_epoch() -> None:
    """Nothing has changed for the others, and the hash of no topics is 0, as in the records of Apache Kafka."""
    group = ConsumerGroup("g", (), settings(), DrivenTopics().topics, NOW)
    answer = group.heartbeat(beat(replace(JOINS, subscribed_topic_names=())), NOW)
    assert (answer.member_epoch, group.state.epoch, group.state.metadata_hash) == (1, 1, 0)
    assert [type(key) for key, _ in group.changes()] == [
        ConsumerGroupMemberMetadataKey,
        ConsumerGroupCurrentMemberAssignmentKey,
    ]


def test_the_first_assignment_waits_for_no_other() -> None:
    """Also where the clock begins with the year 1970."""
    cluster, now = DrivenTopics(), Now(0.001, 1)
    cluster.create("orders", 2)
    group = ConsumerGroup("g", (), settings(), cluster.topics, now)
    assert settings().assignment_ms("g") == 1000
    assert group.heartbeat(beat(JOINS), now).member_epoch == 2
    assert (group.state.assignment_epoch, group.state.assigned_at_ms) == (2, 1)


def test_the_states_of_members_have_the_numbers_of_apache_kafka() -> None:
    assert {state.name: state.value for state in MemberState} == {
        "STABLE": 0, "UNREVOKED_PARTITIONS": 1, "UNRELEASED_PARTITIONS": 2, "UNKNOWN": 127,
    }  # fmt: skip
    assert [MemberState.of(number) for number in (-1, 0, 1, 2, 3, 126, 127)] == [127, 0, 1, 2, 127, 127, 127]


def test_an_expression_has_a_record_from_when_it_is_resolved_until_its_last_member_leaves() -> None:
    cluster = DrivenTopics()
    cluster.create("orders", 1)
    group = ConsumerGroup("g", (), settings(), cluster.topics, NOW)
    joins = replace(JOINS, instance_id=None, subscribed_topic_names=None, subscribed_topic_regex="o.*")
    assert group.heartbeat(beat(joins), NOW).member_epoch == 1
    assert [type(key) for key, _ in group.changes()] == [
        ConsumerGroupMemberMetadataKey,
        ConsumerGroupCurrentMemberAssignmentKey,
    ]
    key = ConsumerGroupRegularExpressionKey("g", "o.*")
    group.resolve({"gone": ("orders",), "o.*": ("orders",)}, 7, NOW)
    assert group.changes() == [
        (key, ConsumerGroupRegularExpressionValue(("orders",), 7, NOW.ms)),
        (ConsumerGroupMetadataKey("g"), ConsumerGroupMetadataValue(2, cluster.topics.hash_of(["orders"]))),
    ]
    group.leave(beat(ConsumerGroupHeartbeatRequest("g", "a", -1)), NOW)
    assert group.changes() == [
        (ConsumerGroupCurrentMemberAssignmentKey("g", "a"), None),
        (ConsumerGroupTargetAssignmentMemberKey("g", "a"), None),
        (ConsumerGroupMemberMetadataKey("g", "a"), None),
        (key, None),
        (ConsumerGroupMetadataKey("g"), ConsumerGroupMetadataValue(3, 0)),
    ]


@pytest.mark.parametrize(("interval_ms", "is_assigned"), [(0, True), (1, False)])
def test_without_an_interval_a_clock_that_goes_back_delays_nothing(interval_ms: int, *, is_assigned: bool) -> None:
    cluster = DrivenTopics()
    cluster.create("orders", 2)
    properties = {"group_consumer_assignment_interval_ms": str(interval_ms)}
    group = ConsumerGroup("g", (), settings(**properties), cluster.topics, NOW)
    group.heartbeat(beat(JOINS), NOW)
    back = Now(NOW.seconds + 1, NOW.ms - 5)
    group.heartbeat(beat(replace(JOINS, member_id="b", instance_id=None)), back)
    assert (group.state.assignment_epoch == group.state.epoch) is is_assigned


def test_a_heartbeat_changes_what_it_has_and_nothing_else() -> None:
    group = ConsumerGroup("g", (), settings(), DrivenTopics().topics, NOW)
    group.heartbeat(beat(replace(JOINS, instance_id=None)), NOW)
    group.changes()
    expected = group.state.members["a"].metadata
    for sent, recorded in (
        ({}, {}),
        ({"rack_id": "other"}, {"rack_id": "other"}),
        ({"rebalance_timeout_ms": 0}, {"rebalance_timeout_ms": 0}),
        ({"server_assignor": "uniform"}, {"server_assignor": "uniform"}),
        ({"subscribed_topic_regex": "o.*"}, {"subscribed_topic_regex": "o.*"}),
        ({"subscribed_topic_names": ("b", "a")}, {"subscribed_topic_names": ("a", "b")}),
        ({"subscribed_topic_names": ()}, {"subscribed_topic_names": ()}),
        ({"subscribed_topic_regex": ""}, {"subscribed_topic_regex": ""}),
    ):
        short = ConsumerGroupHeartbeatRequest("g", "a", group.state.members["a"].epoch)
        group.heartbeat(beat(replace(short, **sent)), NOW)
        written = [value for key, value in group.changes() if isinstance(key, ConsumerGroupMemberMetadataKey)]
        expected = replace(expected, **recorded)
        assert written == ([expected] if sent else [])
        assert group.state.members["a"].metadata == expected
