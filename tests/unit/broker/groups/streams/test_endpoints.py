"""Which partitions of which instances an answer has."""

from __future__ import annotations

import pytest

from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.endpoints import MOST_TOPICS, by_endpoint
from kafkawire.broker.groups.streams.member import Endpoint, StreamsMember
from kafkawire.broker.groups.streams.owned_tasks import OwnedTasks
from kafkawire.broker.groups.streams.topology import ConfiguredSubtopology, InternalTopic
from kafkawire.protocol import StreamsGroupHeartbeatResponse
from kafkawire.protocol.error_codes import ErrorCode

HOST = Endpoint("host", 80)
Partitions = StreamsGroupHeartbeatResponse.TopicPartition
Shown = StreamsGroupHeartbeatResponse.EndpointToPartitions


def counts(name: str) -> int | None:
    """Two partitions of each topic, but none of one."""
    return None if name == "gone" else 2


@pytest.mark.parametrize("more", [0, 1])
def test_an_answer_has_as_many_topics_as_it_may_have_or_none(more: int) -> None:
    """Active and standby tasks count, of all instances together; members without an endpoint do not."""
    half = MOST_TOPICS // 4
    subtopologies = {
        "0": ConfiguredSubtopology(2, frozenset(map(str, range(half)))),
        "1": ConfiguredSubtopology(2, frozenset(["one"])),
    }
    owned = OwnedTasks({"0": {0: 1}}, {"0": (1,)})
    members = [StreamsMember(name, endpoint=HOST, assigned=owned) for name in "ab"]
    members.append(StreamsMember("c", assigned=owned))
    members += [StreamsMember("d", endpoint=HOST, assigned=OwnedTasks({"1": {0: 1}}))] * more
    shown = by_endpoint(members, subtopologies, counts, is_later=False)
    topics = sum(len(each.active_partitions) + len(each.standby_partitions) for each in shown)
    assert (MOST_TOPICS, topics) == (30_000, 0 if more else 30_000)


@pytest.mark.parametrize(("is_later", "active", "standby"), [(False, (1, 2), (2,)), (True, (1,), None)])
def test_a_topic_has_the_partitions_that_exist_in_4_4_and_as_many_of_the_first_ones_in_4_3(
    active: tuple[int, ...], standby: tuple[int, ...] | None, *, is_later: bool
) -> None:
    subtopologies = {"0": ConfiguredSubtopology(5, frozenset(["b"]), {"a": InternalTopic("a", 2)})}
    member = StreamsMember("a", endpoint=HOST, assigned=OwnedTasks({"0": {1: 1, 2: 1, 3: 1}}, {"0": (2,)}))
    shown = by_endpoint([member], subtopologies, counts, is_later=is_later)
    of_standby = () if standby is None else (Partitions("a", standby), Partitions("b", standby))
    assert shown == (
        Shown(
            StreamsGroupHeartbeatResponse.Endpoint("host", 80),
            (Partitions("a", active), Partitions("b", active)),
            of_standby,
        ),
    )


@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("subtopologies", [{}, {"0": ConfiguredSubtopology(1, frozenset(["gone"]))}])
def test_kafka_expects_no_endpoint_without_topics(
    subtopologies: dict[str, ConfiguredSubtopology], *, is_later: bool
) -> None:
    member = StreamsMember("a", endpoint=HOST, assigned=OwnedTasks({"0": {0: 1}}))
    with pytest.raises(GroupError) as raised:
        by_endpoint([member], subtopologies, counts, is_later=is_later)
    assert (raised.value.code, raised.value.message) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)
    without = StreamsMember("b", assigned=member.assigned)
    assert by_endpoint([without], subtopologies, counts, is_later=is_later) == ()
