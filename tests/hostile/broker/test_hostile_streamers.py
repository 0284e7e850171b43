"""Members of streams groups that want too much: memory and time stay bounded, and others are served."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace
from tests.embedded.connection import connected_to
from tests.embedded.groups import opened_groups
from tests.embedded.streams_members import (
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
    joining,
)
from tests.hostile.broker.attacked import AttackedBroker, attacked_broker, receive
from tests.hostile.broker.test_attacks import ask, frame, is_harmless

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.groups.assignors.tasks import Tasks
from kafkawire.broker.groups.classic.live_groups import ClassicGroups
from kafkawire.broker.groups.classic.settings import GroupSettings
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.endpoints import MOST_TOPICS, by_endpoint
from kafkawire.broker.groups.streams.live_groups import StreamsGroups
from kafkawire.broker.groups.streams.member import Endpoint, StreamsMember
from kafkawire.broker.groups.streams.owned_tasks import OwnedTasks
from kafkawire.broker.groups.streams.reconciliation import Aim, reconciled
from kafkawire.broker.groups.streams.settings import StreamsGroupSettings
from kafkawire.broker.groups.streams.topology import MOST_TASKS, ConfiguredSubtopology
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    PartitionRecord,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    TopicRecord,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.rpc import decode_response

PROPERTIES: Final = {
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.num.standby.replicas": "2",
}
MOST_AT_ONCE: Final = 9_999
KeyValue = StreamsGroupHeartbeatRequest.KeyValue
Copartitioned = StreamsGroupHeartbeatRequest.CopartitionGroup


async def test_heartbeats_without_joins_leave_nothing() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        for number in range(500):
            request = StreamsGroupHeartbeatRequest(f"g{number}", f"m{number}", 1)
            answer = await client.ask(request, 0, StreamsGroupHeartbeatResponse)
            assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
        listed = await client.ask(ListGroupsRequest(), 5, ListGroupsResponse)
        assert not listed.groups


def reading(*names: str) -> Topology:
    return Topology(0, (Subtopology("0", names),))


LARGE: Final = {
    "topologies": joining("m", reading(*(f"{number:0>100}" for number in range(300)))),
    "keys of tags": replace(joining("m"), client_tags=tuple(KeyValue(f"{each:0>100}", "") for each in range(300))),
    "values of tags": replace(joining("m"), client_tags=tuple(KeyValue(str(each), "v" * 100) for each in range(300))),
    "many small tags": replace(joining("m"), client_tags=tuple(KeyValue(str(each), "") for each in range(400))),
    "hosts": replace(joining("m"), user_endpoint=StreamsGroupHeartbeatRequest.Endpoint("h" * 30_000, 80)),
    "ids": replace(joining("m"), process_id="p" * 30_000),
}


@pytest.mark.parametrize("kind", LARGE)
async def test_bounded_members_share_memory(kind: str, tmp_path: Path) -> None:
    """Large members are refused when there are many; small ones join nevertheless."""
    async with opened_groups(tmp_path, clock=ManualClock()) as (coordinator, controller):
        settings = StreamsGroupSettings(BrokerConfiguration(PROPERTIES), lambda _: {}, most_bytes=100_000)
        topic_id = Uuid.random()
        controller.commit([TopicRecord("orders", topic_id), PartitionRecord(0, topic_id, (1,), (1,), leader=1)])
        topics = KnownTopics(controller.image.topics, lambda: controller.end_offset, lambda _: None)
        classic = ClassicGroups(coordinator, ManualClock(), GroupSettings())
        groups = StreamsGroups(coordinator, classic, ManualClock(), settings, topics)

        epochs = dict[str, int]()

        async def send(request: StreamsGroupHeartbeatRequest) -> ErrorCode:
            try:
                answer = await groups.heartbeat(request, ("c", "/h"))
            except GroupError as refused:
                return refused.code
            epochs[request.group_id] = answer.response.member_epoch
            return ErrorCode.NONE

        errors = [await send(replace(LARGE[kind], group_id=f"g{each}")) for each in range(10)]
        assert errors[0] is ErrorCode.NONE
        assert errors[-1] is ErrorCode.GROUP_MAX_SIZE_REACHED
        taken = errors.index(ErrorCode.GROUP_MAX_SIZE_REACHED)
        for _ in range(9):  # they need no more memory
            assert await send(StreamsGroupHeartbeatRequest("g0", "m", epochs["g0"])) is ErrorCode.NONE
        assert await send(joining("small")) is ErrorCode.NONE
        assert {await send(replace(LARGE[kind], group_id=f"g{each}")) for each in range(taken, taken + 3)} == {
            ErrorCode.GROUP_MAX_SIZE_REACHED
        }
        for number in range(50_000):
            groups.forget(f"other-{number}")  # groups that were never there free nothing
        assert await send(replace(LARGE[kind], group_id="another")) is ErrorCode.GROUP_MAX_SIZE_REACHED
        assert await send(StreamsGroupHeartbeatRequest("g0", "m", -1)) is ErrorCode.NONE
        await groups.close()
        await classic.close()


@pytest.fixture(scope="module")
def broker() -> Iterator[AttackedBroker]:
    """A broker with topics of as many partitions as a group may have tasks, and with one of more."""
    with attacked_broker(PROPERTIES) as broker:
        for name in ("a", "b", "many", "changes", "too-many"):
            create(broker, name)
        for count in (*range(MOST_AT_ONCE, MOST_TASKS, MOST_AT_ONCE), MOST_TASKS):
            grow(broker, ["many", "changes", "too-many"], count)
        grow(broker, ["too-many"], MOST_TASKS + 1)
        yield broker


def create(broker: AttackedBroker, name: str) -> None:
    topic = CreateTopicsRequest.CreatableTopic(name, 1, 1)
    (created,) = ask(broker, CreateTopicsRequest((topic,)), 7, CreateTopicsResponse).topics
    assert not created.error_code


def grow(broker: AttackedBroker, names: Sequence[str], partitions: int) -> None:
    for name in names:
        topics = (CreatePartitionsRequest.CreatePartitionsTopic(name, partitions, assignments=None),)
        (grown,) = ask(broker, CreatePartitionsRequest(topics, 60_000), 3, CreatePartitionsResponse).results
        assert not grown.error_code, grown


class Streamer:
    """A member that does as it is answered, and sends a few heartbeats more.

    Args:
        request: the request with which it joins.
        beats: how many heartbeats follow.

    Attributes:
        answers: that it got.
    """

    def __init__(self, request: StreamsGroupHeartbeatRequest, beats: int = 3) -> None:
        self._request = request
        self._beats = beats
        self.answers: list[StreamsGroupHeartbeatResponse] = []

    def __call__(self, broker: AttackedBroker) -> None:
        request, own = self._request, (self._request.group_id, self._request.member_id)
        with broker.connect() as connection:
            for _ in range(1 + self._beats):
                connection.sendall(frame(request, 0))
                answer = decode_response(receive(connection), StreamsGroupHeartbeatResponse, 0)[1]
                self.answers.append(answer)
                request = StreamsGroupHeartbeatRequest(*own, answer.member_epoch)
                if answer.active_tasks is not None:
                    active, standby = (
                        tuple(TaskIds(each.subtopology_id, each.partitions) for each in tasks or ())
                        for tasks in (answer.active_tasks, answer.standby_tasks)
                    )
                    request = replace(request, active_tasks=active, standby_tasks=standby, warmup_tasks=())

    @property
    def errors(self) -> list[ErrorCode]:
        return [ErrorCode(each.error_code) for each in self.answers]


def chain(count: int) -> Sequence[Subtopology]:
    """Subtopologies of which each reads what the one before writes."""
    first = Subtopology("0", ("a",), repartition_sink_topics=("again-1",))
    others = (
        Subtopology(
            str(number),
            repartition_source_topics=(TopicInfo(f"again-{number}"),),
            repartition_sink_topics=(f"again-{number + 1}",),
        )
        for number in range(1, count)
    )
    return (first, *others)


COPARTITIONED: Final = Subtopology("0", ("a",), repartition_source_topics=(TopicInfo("fixed", 1),))
TOPOLOGIES: Final = {
    "chains": (chain(10_000), ErrorCode.NONE),
    "chains from their ends": (chain(10_000)[::-1], ErrorCode.NONE),
    "loops": (chain(10_000)[1:], ErrorCode.STREAMS_INVALID_TOPOLOGY),
    "subtopologies with the same topic": (
        [Subtopology(str(each), ("many",)) for each in range(30_000)], ErrorCode.STREAMS_INVALID_TOPOLOGY,
    ),
    "topics that do not exist": ([Subtopology("0", tuple(f"t{each}" for each in range(90_000)))], ErrorCode.NONE),
    "configurations": (
        [Subtopology("0", ("a",), state_changelog_topics=(
            TopicInfo("b", topic_configs=tuple(KeyValue(str(each), "1") for each in range(90_000))),
        ))], ErrorCode.NONE,
    ),
    "changelogs": (
        [Subtopology("0", ("a",), state_changelog_topics=tuple(TopicInfo(f"c{each}") for each in range(40_000)))],
        ErrorCode.NONE,
    ),
    "copartition groups": (
        [replace(COPARTITIONED, copartition_groups=(Copartitioned((), (), (0,)),) * 45_000)], ErrorCode.NONE,
    ),
    "copartition groups of fixed topics": (
        [Subtopology(
            "0", ("a",),
            repartition_source_topics=tuple(TopicInfo(f"again-{each}", 1) for each in range(30_000)),
            repartition_sink_topics=tuple(f"again-{each}" for each in range(10_000)),
            copartition_groups=tuple(Copartitioned((), (), (each,)) for each in range(20_000)),
        )], ErrorCode.NONE,
    ),
    "more tasks than a group may have": ([Subtopology("0", ("too-many",))], ErrorCode.STREAMS_INVALID_TOPOLOGY),
}  # fmt: skip


@pytest.mark.parametrize("kind", TOPOLOGIES)
def test_huge_topologies(broker: AttackedBroker, kind: str) -> None:
    subtopologies, error = TOPOLOGIES[kind]
    streamer = Streamer(joining("m", Topology(0, tuple(subtopologies)), group=kind), beats=0)
    harm = broker.harm_of(streamer)
    assert streamer.errors == [error], streamer.answers
    assert is_harmless(harm), harm


def test_bounded_tasks_are_as_many_as_may_be(broker: AttackedBroker) -> None:
    """Three members of as many processes share them, with two copies of each."""
    topology = Topology(0, (Subtopology("0", ("many",), state_changelog_topics=(TopicInfo("changes"),)),))
    streamers = [Streamer(joining(member_id, topology, group="tasks"), beats=9) for member_id in ("m1", "m2", "m3")]
    harm = broker.harm_of(*streamers)
    assert {error for each in streamers for error in each.errors} == {ErrorCode.NONE}
    assert is_harmless(harm), harm


def test_many_members(broker: AttackedBroker) -> None:
    """Some hundreds, which learn of the partitions of each other; each change makes work for all."""
    endpoint = StreamsGroupHeartbeatRequest.Endpoint
    requests = [
        replace(joining(f"m{each}", reading("a"), group="members"), user_endpoint=endpoint(f"h{each}", 80))
        for each in range(400)
    ]
    attackers = [partial(send_all, requests[at::4]) for at in range(4)]
    harm = broker.harm_of(*attackers)
    assert is_harmless(harm), harm


def test_most_tasks_change_their_role_in_little_time() -> None:
    tasks = (*range(MOST_TASKS),)
    member = StreamsMember("a", process_id="p", epoch=2, assigned=OwnedTasks({}, {"0": tasks[::-1]}))
    aim = Aim(3, Tasks({"0": tasks}, {}, {}), None, lambda _: False, converts=True)
    began = time.process_time()
    assert len(reconciled(member, aim).assigned.active["0"]) == MOST_TASKS
    assert time.process_time() - began < 0.5, "with the square of tasks it takes seconds"


def test_bounded_tasks_of_instances_are_in_an_answer() -> None:
    """The topics of many instances are left out if they are too many."""
    names = [f"t{each}" for each in range(100)]
    subtopologies = {"0": ConfiguredSubtopology(1, frozenset(names))}

    def shown(count: int) -> int:
        owned = OwnedTasks({"0": {0: 1}})
        members = [StreamsMember(str(each), endpoint=Endpoint("h", 80), assigned=owned) for each in range(count)]
        return len(by_endpoint(members, subtopologies, lambda _: 1, is_later=False))

    assert (shown(MOST_TOPICS // 100), shown(MOST_TOPICS // 100 + 1)) == (MOST_TOPICS // 100, 0)


def test_many_tags(broker: AttackedBroker) -> None:
    tags = tuple(KeyValue(str(each), "") for each in range(90_000))
    streamer = Streamer(replace(joining("m", reading("a"), group="tags"), client_tags=tags))
    harm = broker.harm_of(streamer)
    assert set(streamer.errors) == {ErrorCode.NONE}
    assert is_harmless(harm), harm


def test_heartbeats_that_come_together_take_turns_with_those_of_others(broker: AttackedBroker) -> None:
    strangers = [StreamsGroupHeartbeatRequest("no group", f"m{each}", 1) for each in range(20_000)]
    harm = broker.harm_of(partial(send_all, strangers))
    assert is_harmless(harm), harm


def send_all(requests: Sequence[StreamsGroupHeartbeatRequest], broker: AttackedBroker) -> None:
    """Send requests at once, and wait for the answers."""
    with broker.connect() as connection:
        for at in range(0, len(requests), 1000):
            portion = requests[at : at + 1000]
            connection.sendall(b"".join(frame(each, 0) for each in portion))
            for _ in portion:
                assert receive(connection)
