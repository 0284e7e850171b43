"""The topology of a streams group: which work on its topics is done beside the requests of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

import pytest
from tests.embedded.driven_topics import DrivenTopics
from tests.embedded.streams_members import Subtopology, Topology, joining

from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.group_state import StreamsGroupState
from kafkawire.broker.groups.streams.group_topology import GroupTopology
from kafkawire.broker.groups.streams.long_work import Work
from kafkawire.broker.groups.streams.topology import MOST_TASKS
from kafkawire.protocol.error_codes import ErrorCode

R = TypeVar("R")
Ts = TypeVarTuple("Ts")


class NotedWork(Work):
    """Does all work at once, and notes the names of what is long."""

    def __init__(self) -> None:
        self.long: list[str] = []

    def result(self, function: Callable[[*Ts], R], *arguments: *Ts, is_long: bool) -> R:
        """The result of a function."""
        self.long += [function.__name__] if is_long else []
        return super().result(function, *arguments, is_long=is_long)


def long_work(*sizes: int) -> list[str]:
    """The long work of a heartbeat of a group that reads topics with numbers of partitions."""
    driven = DrivenTopics()
    names = [f"t-{number}" for number in range(len(sizes))]
    for name, partitions in zip(names, sizes, strict=True):
        driven.create(name, partitions)
    topology = GroupTopology(StreamsGroupState("g"), driven.topics)
    request, work = joining("a", Topology(0, (Subtopology("0", tuple(names)),))), NotedWork()
    topology.configure(topology.checked(request, work), request, work)
    return work.long


@pytest.mark.parametrize(("partitions", "is_long"), [((990,), False), ((991,), True), ((490, 490), False)])
def test_topics_are_hashed_at_once_if_they_have_few_partitions(partitions: tuple[int, ...], *, is_long: bool) -> None:
    assert long_work(*partitions) == (["hashes_of"] if is_long else [])


def test_each_topic_takes_some_time_besides_its_partitions() -> None:
    assert long_work(490, 491) == ["hashes_of"]
    assert long_work(*[1] * 90) == []
    assert long_work(*[1] * 91) == ["hashes_of"]


def test_a_topology_with_many_topics_is_read_beside_the_requests_of_others() -> None:
    assert {*long_work(*[1] * 999)} == {"hashes_of"}
    assert {*long_work(*[1] * 1000)} == {"hashes_of", "configured_by_counts", "checked_topology"}


def test_a_topology_has_as_many_tasks_as_a_group_may_have() -> None:
    """The deviation ``bounded-members``."""
    assert MOST_TASKS == 10_000
    assert long_work(MOST_TASKS)
    with pytest.raises(GroupError) as raised:
        long_work(MOST_TASKS + 1)
    assert raised.value.code is ErrorCode.STREAMS_INVALID_TOPOLOGY
