"""What a dry run of ``elect-leaders`` says about each state of a partition."""

from __future__ import annotations

import pytest

from kafkawire.admin import ElectionType, PartitionDescription, TopicDescription
from kafkawire.cli.reassign.leaders import simulated_elections

REPLICAS = (1, 2, 3)


def partition(leader: int | None, isr: tuple[int, ...], offline: tuple[int, ...] = ()) -> PartitionDescription:
    return PartitionDescription(0, leader, 5, REPLICAS, isr, offline)


def outcome(state: PartitionDescription, election: ElectionType) -> tuple[str, str | None, str | None]:
    topic = TopicDescription("orders", None, False, (state,))
    [row] = simulated_elections({"orders": topic}, election)
    assert row.item == "orders-0"
    return row.status, row.error, row.reason


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (partition(1, REPLICAS), ("unchanged", None, "no election was needed")),
        (partition(2, REPLICAS), ("would be done", None, "simulated: broker 1 would lead in place of 2")),
        (partition(None, (1,)), ("would be done", None, "simulated: broker 1 would lead")),
        (partition(2, (2, 3)), ("failed", "PREFERRED_LEADER_NOT_AVAILABLE", "broker 1 is not in sync")),
        (partition(2, (2, 3), (1,)), ("failed", "PREFERRED_LEADER_NOT_AVAILABLE", "broker 1 is offline")),
    ],
)
def test_the_preferred_replica_leads_if_it_is_in_sync(state: PartitionDescription, expected: object) -> None:
    assert outcome(state, ElectionType.PREFERRED) == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (partition(2, (2,)), ("unchanged", None, "no election was needed")),
        (
            partition(None, (1,), (1,)),
            ("would be done", None, "simulated: broker 2 or 3 would lead, and records that it lacks are lost"),
        ),
        (
            partition(None, (1,), REPLICAS),
            (
                "failed",
                "ELIGIBLE_LEADERS_NOT_AVAILABLE",
                "all its replicas are offline; start one of the brokers 1, 2, 3",
            ),
        ),
    ],
)
def test_any_live_replica_leads_in_an_unclean_election(state: PartitionDescription, expected: object) -> None:
    assert outcome(state, ElectionType.UNCLEAN) == expected
