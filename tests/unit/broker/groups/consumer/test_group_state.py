"""What the records of a consumer group say about it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.embedded.driven_consumer_group import DrivenConsumer, DrivenConsumerGroup

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
