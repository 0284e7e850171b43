"""What the records of a consumer group say about it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.embedded.driven_consumer_group import DrivenConsumer, DrivenConsumerGroup

from kafkawire.broker.groups.consumer.group_state import ResolvedRegex
from kafkawire.broker.groups.consumer.member import Member
from kafkawire.protocol import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)

MATCHES = {"a.*": ["a-1", "a-2"], ".*": ["a-1", "a-2", "b"], "none": []}
Subscription = tuple[Sequence[str], str | None]


@pytest.mark.parametrize(
    ("subscriptions", "is_homogeneous"),
    [
        ([(["a-1"], None)], True),
        ([(["a-1", "b"], None), (["b", "a-1"], None)], True),
        ([(["a-1"], None), (["a-1", "b"], None)], False),
        ([([], "a.*")], True),
        ([([], "a.*"), ([], "a.*"), ([], "a.*")], True),
        ([([], "none"), ([], "none")], True),
        ([([], "a.*"), ([], ".*")], False),
        ([([], "a.*"), ([], None)], False),
        ([([], "a.*"), (["a-1", "a-2"], None)], False),
        ([(["b"], "a.*"), (["b"], "a.*")], False),
    ],
)
def test_members_are_equal_with_the_same_names_or_with_nothing_but_one_regular_expression(
    subscriptions: Sequence[Subscription], *, is_homogeneous: bool
) -> None:
    """As Apache Kafka finds it out (``ConsumerGroup.subscriptionType``), for the assignor ``uniform``."""
    driven = DrivenConsumerGroup(group_consumer_assignment_interval_ms="0")
    for topic in ("a-1", "a-2", "b"):
        driven.create(topic, 1)
    for number, (names, regex) in enumerate(subscriptions):
        DrivenConsumer(driven, f"m-{number}", *names, regex=regex).join()
    driven.resolve(MATCHES)
    assert driven.state.is_homogeneous is is_homogeneous


@pytest.mark.parametrize(("matched", "is_homogeneous"), [("a-1", False), ("b", True)])
def test_matches_of_an_expression_without_members_count_as_in_apache_kafka(
    matched: str, *, is_homogeneous: bool
) -> None:
    """A log may have the record of an expression to which no member subscribes any more."""
    driven = DrivenConsumerGroup(group_consumer_assignment_interval_ms="0")
    driven.create("a-1", 1)
    DrivenConsumer(driven, "m", regex="a.*").join()
    driven.resolve({"a.*": ["a-1"]})
    driven.records[ConsumerGroupRegularExpressionKey("g", "old")] = ConsumerGroupRegularExpressionValue((matched,))
    driven.restart()
    assert driven.state.is_homogeneous is is_homogeneous


def test_partitions_of_a_member_without_metadata_are_free() -> None:
    """Even if there is no record that it has none."""
    driven = DrivenConsumerGroup(group_consumer_assignment_interval_ms="0")
    topic = driven.create("a-1", 2)
    for member_id in ("m", "n"):
        DrivenConsumer(driven, member_id, "a-1").join()
    driven.state.apply(ConsumerGroupMemberMetadataKey("g", "n"), None)
    assert [driven.state.owner(topic, partition) for partition in (0, 1)] == ["m", "m"]
    driven.state.apply(ConsumerGroupMemberMetadataKey("g", "m"), None)
    assert [driven.state.owner(topic, partition) for partition in (0, 1)] == [None, None]


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_a_static_member_keeps_its_instance_id_when_an_earlier_one_goes(order: tuple[str, str]) -> None:
    """Also where the record of the earlier one is deleted after that of the new one."""
    driven = DrivenConsumerGroup(group_consumer_assignment_interval_ms="0")
    for member_id in order:
        value = ConsumerGroupMemberMetadataValue(instance_id="one", classic_member_metadata=None)
        driven.state.apply(ConsumerGroupMemberMetadataKey("g", member_id), value)
    driven.state.apply(ConsumerGroupMemberMetadataKey("g", order[0]), None)
    assert driven.state.static_ids == {"one": order[1]}
    driven.state.apply(ConsumerGroupMemberMetadataKey("g", order[1]), None)
    assert driven.state.static_ids == {}


@pytest.mark.parametrize(
    ("names", "matched", "expected"),
    [
        (["c", "b"], ["a-1"], ("c", "b", "a-1")),
        (["b"], ["a-1", "a-2"], ("a-1", "a-2", "b")),
        (["b", "a-1"], ["a-1", "a-2"], ("a-1", "a-2", "b")),
        (["b", "a-1", "c"], ["a-1", "a-2"], ("b", "a-1", "c", "a-2")),
        (["b"], [], ("b",)),
        ([], ["b"], ("b",)),
    ],
)
def test_a_member_subscribes_to_names_and_to_matches_the_larger_set_first(
    names: Sequence[str], matched: Sequence[str], expected: Sequence[str]
) -> None:
    """As Apache Kafka's ``UnionSet`` has them."""
    state = DrivenConsumerGroup().state
    member = Member("m", topics=tuple(names), regex="x.*")
    state.regexes["x.*"] = ResolvedRegex(tuple(matched), 1, 1)
    assert state.names_of(member) == expected
    assert state.names_of(Member("m", topics=tuple(names), regex=None)) == tuple(names)


def test_many_members_are_equal_too() -> None:
    state = DrivenConsumerGroup().state
    for number in range(300):
        value = ConsumerGroupMemberMetadataValue(subscribed_topic_names=("b",), classic_member_metadata=None)
        state.apply(ConsumerGroupMemberMetadataKey("g", f"m-{number}"), value)
    assert state.is_homogeneous
