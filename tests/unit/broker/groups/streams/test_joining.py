"""Which heartbeats of streams groups are refused, and what others change; Apache Kafka answers so too."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace
from tests.embedded.streams_members import COUNTS_ORDERS, READS_ORDERS, Subtopology, TaskIds, TopicInfo, joining

from kafkawire.broker.groups.assignors.tasks import Tasks
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.joining import (
    check,
    check_epoch,
    check_tasks,
    checked_topology,
    reported,
    updated,
)
from kafkawire.broker.groups.streams.member import Endpoint, StreamsMember, size_of_tags
from kafkawire.broker.groups.streams.owned_tasks import OwnedTasks
from kafkawire.broker.groups.streams.topology import ConfiguredSubtopology
from kafkawire.protocol import StreamsGroupHeartbeatRequest
from kafkawire.protocol.error_codes import ErrorCode

HOST = Endpoint("host", 80)
GOOD: Final = joining("a")
SHORT: Final = StreamsGroupHeartbeatRequest("g", "a", 1)
TASKS: Final = (TaskIds("0", (0,)),)
KeyValue = StreamsGroupHeartbeatRequest.KeyValue
OFFSETS: Final = (StreamsGroupHeartbeatRequest.TaskOffset("0", 0, 1),)
REGEX: Final = replace(READS_ORDERS, subtopologies=(READS_ORDERS.subtopologies[0], Subtopology("1", (), ("a.*",))))
ALL_OR_NONE: Final = "If one task-type is non-null, all must be non-null."


def counted(partitions: int) -> StreamsGroupHeartbeatRequest.Topology:
    """A topology that says how many partitions its second changelog topic has."""
    changelogs = (TopicInfo("any"), TopicInfo("log", partitions))
    return replace(READS_ORDERS, subtopologies=(Subtopology("0", ("orders",), state_changelog_topics=changelogs),))


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (replace(GOOD, member_id=""), "MemberId can't be empty."),
        (replace(GOOD, member_id=" "), "MemberId can't be empty."),
        (replace(GOOD, group_id="\t"), "GroupId can't be empty."),
        (replace(GOOD, rack_id=""), "RackId can't be empty."),
        (replace(GOOD, instance_id="i"), "Static membership is not yet supported."),
        (replace(GOOD, instance_id=""), "Static membership is not yet supported."),
        (replace(GOOD, task_offsets=()), "TaskOffsets are not supported yet."),
        (replace(GOOD, task_offsets=OFFSETS), "TaskOffsets are not supported yet."),
        (replace(GOOD, task_end_offsets=()), "TaskEndOffsets are not supported yet."),
        (replace(GOOD, warmup_tasks=TASKS), "WarmupTasks are not supported yet."),
        (replace(GOOD, topology=REGEX), "Regular expressions for source topics are not supported yet."),
        (replace(GOOD, rebalance_timeout_ms=-1), "RebalanceTimeoutMs must be provided in first request."),
        (replace(GOOD, active_tasks=TASKS), "ActiveTasks must be empty when (re-)joining."),
        (replace(GOOD, active_tasks=None), "ActiveTasks must be empty when (re-)joining."),
        (replace(GOOD, standby_tasks=TASKS), "StandbyTasks must be empty when (re-)joining."),
        (replace(GOOD, standby_tasks=None), "StandbyTasks must be empty when (re-)joining."),
        (replace(GOOD, warmup_tasks=None), "WarmupTasks must be empty when (re-)joining."),
        (replace(GOOD, topology=None), "Topology must be non-null when (re-)joining."),
        (replace(GOOD, member_epoch=1), "Topology can only be provided when (re-)joining."),
        (replace(GOOD, member_epoch=-1), "Topology can only be provided when (re-)joining."),
        (replace(SHORT, member_epoch=-2), "InstanceId can't be null."),
        (replace(SHORT, member_epoch=-3), "MemberEpoch is -3, but must be greater than or equal to -2."),
        (replace(SHORT, active_tasks=TASKS), ALL_OR_NONE),
        (replace(SHORT, active_tasks=(), standby_tasks=()), ALL_OR_NONE),
        (replace(SHORT, standby_tasks=(), warmup_tasks=()), ALL_OR_NONE),
        (replace(SHORT, active_tasks=(), warmup_tasks=()), ALL_OR_NONE),
    ],
)
def test_requests_that_are_not_valid_are_refused(request_: StreamsGroupHeartbeatRequest, message: str) -> None:
    with pytest.raises(GroupError) as error:
        check(request_, is_later=False)
    assert (error.value.code, error.value.message) == (ErrorCode.INVALID_REQUEST, message)


@pytest.mark.parametrize("partitions", [1, 3, -1])
def test_changelog_topics_have_no_partition_counts(partitions: int) -> None:
    with pytest.raises(GroupError) as error:
        check(replace(GOOD, topology=counted(partitions)), is_later=False)
    assert error.value.code is ErrorCode.STREAMS_INVALID_TOPOLOGY
    assert error.value.message == (
        f"Changelog topic log must have an undefined partition count, but it is set to {partitions}."
    )


@pytest.mark.parametrize(
    "request_",
    [
        GOOD,
        replace(GOOD, topology=counted(0)),
        replace(GOOD, rebalance_timeout_ms=0),
        replace(GOOD, rebalance_timeout_ms=-2),
        replace(GOOD, rack_id="r"),
        SHORT,
        replace(SHORT, member_epoch=-1),
        replace(SHORT, active_tasks=TASKS, standby_tasks=(), warmup_tasks=()),
    ],
)
def test_other_requests_are_not_refused(request_: StreamsGroupHeartbeatRequest) -> None:
    check(request_, is_later=False)


MEMBER: Final = StreamsMember(
    "a", epoch=5, previous_epoch=3, assigned=OwnedTasks({"0": {0: 2, 1: 3}}, {"1": (4, 5)}, {"2": (6,)})
)


def beat(
    epoch: int, active: tuple[int, ...] | None = None, standby: tuple[int, ...] = (), warmup: tuple[int, ...] = ()
) -> StreamsGroupHeartbeatRequest:
    """A heartbeat of the member with an epoch; of one with tasks, the subtopologies are those that it has."""
    request = StreamsGroupHeartbeatRequest("g", "a", epoch)
    if active is None:
        return request
    tasks = (
        (TaskIds(name, each),) if each else () for name, each in zip("012", (active, standby, warmup), strict=True)
    )
    return replace(request, **dict(zip(("active_tasks", "standby_tasks", "warmup_tasks"), tasks, strict=True)))


@pytest.mark.parametrize(
    ("request_", "than"),
    [
        (beat(0), None),
        (beat(5), None),
        (beat(5, (9,)), None),
        (beat(3, ()), None),
        (beat(3, (0, 1), (4, 5), (6,)), None),
        (beat(3, (1,), (), (6,)), None),
        (beat(3, (0, 2)), "smaller"),
        (beat(3, (0,), (6,)), "smaller"),
        (beat(3, (0,), (), (5,)), "smaller"),
        (beat(3), "smaller"),
        (beat(4, ()), "smaller"),
        (beat(2, ()), "smaller"),
        (beat(6, ()), "greater"),
    ],
)
def test_a_member_has_its_epoch_or_the_one_before_with_no_more_tasks(
    request_: StreamsGroupHeartbeatRequest, than: str | None
) -> None:
    """The answer with the new epoch may have been lost."""
    if than is None:
        check_epoch(MEMBER, request_)
        return
    with pytest.raises(GroupError) as error:
        check_epoch(MEMBER, request_)
    assert error.value.code is ErrorCode.FENCED_MEMBER_EPOCH
    assert error.value.message == (
        f"The streams group member has a {than} member epoch ({request_.member_epoch}) than the one known by the group"
        " coordinator (5). The member must abandon all its partitions and rejoin."
    )


@pytest.mark.parametrize("epoch", [5, 6])
def test_an_epoch_before_that_is_not_less_is_fenced(epoch: int) -> None:
    """As of a record of a member that has left."""
    member = StreamsMember("a", epoch=4, previous_epoch=epoch)
    with pytest.raises(GroupError):
        check_epoch(member, beat(epoch, ()))


@pytest.mark.parametrize(
    ("partitions", "wrong"), [((0, 1), None), ((), None), ((0, 2), 2), ((-1,), -1), ((7, 1, 2), 7)]
)
@pytest.mark.parametrize("role", ["active_tasks", "standby_tasks", "warmup_tasks"])
def test_tasks_are_those_of_the_topology(role: str, partitions: tuple[int, ...], wrong: int | None) -> None:
    request = replace(SHORT, **{role: (TaskIds("0", partitions),)})
    subtopologies = {"0": ConfiguredSubtopology(2)}
    if wrong is None:
        check_tasks(subtopologies, request)
    else:
        with pytest.raises(GroupError) as error:
            check_tasks(subtopologies, request)
        assert error.value.message == (
            f"Task {wrong} for subtopology 0 is invalid. Number of tasks for this subtopology: 2"
        )
    with pytest.raises(GroupError) as error:
        check_tasks({}, request)
    assert error.value.message == "Subtopology 0 does not exist in the topology."


def test_a_heartbeat_changes_what_it_has() -> None:
    full = replace(
        GOOD,
        rack_id="r",
        user_endpoint=StreamsGroupHeartbeatRequest.Endpoint("host", 80),
        client_tags=(KeyValue("zone", "1"),),
        topology=replace(READS_ORDERS, epoch=4),
    )
    first = updated(StreamsMember("a"), full, ("client", "/host"), is_later=False)
    expected = StreamsMember(
        "a", rack_id="r", client_id="client", client_host="/host", rebalance_timeout_ms=10_000, topology_epoch=4,
        process_id="process of a", endpoint=Endpoint("host", 80), tags={"zone": "1"},
        size_of_tags=size_of_tags({"zone": "1"}),
    )  # fmt: skip
    assert first == expected
    assert updated(first, SHORT, ("client", "/host"), is_later=False) == expected
    elsewhere = updated(first, SHORT, ("other", "/there"), is_later=False)
    assert elsewhere == replace(expected, client_id="other", client_host="/there")
    hurried = updated(first, replace(SHORT, rebalance_timeout_ms=0), ("client", "/host"), is_later=False)
    assert hurried.rebalance_timeout_ms == 0
    assert updated(first, replace(SHORT, client_tags=()), ("client", "/host"), is_later=False).tags == {}
    again = updated(first, joining("a", rebalance_ms=7), ("client", "/host"), is_later=False)
    assert again == replace(expected, rebalance_timeout_ms=7, topology_epoch=0)


def test_a_tag_that_occurs_twice_is_unexpected() -> None:
    request = replace(SHORT, client_tags=(KeyValue("a", "1"), KeyValue("b", "1"), KeyValue("a", "2")))
    with pytest.raises(GroupError) as error:
        updated(StreamsMember("a"), request, ("c", "/h"), is_later=False)
    assert (error.value.code, error.value.message) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)


def test_the_tasks_of_a_client_are_reported_if_all_are_there() -> None:
    every = replace(SHORT, active_tasks=(TaskIds("1", (2, 1)), TaskIds("0", (3,))), standby_tasks=(), warmup_tasks=())
    assert reported(every) == Tasks({"0": (3,), "1": (1, 2)}, {}, {})
    for name in ("active_tasks", "standby_tasks", "warmup_tasks"):
        assert reported(replace(every, **{name: None})) is None


def test_a_topology_stays_as_it_is() -> None:
    known = checked_topology(None, replace(COUNTS_ORDERS, epoch=3))
    assert (known.epoch, [each.subtopology_id for each in known.subtopologies]) == (3, ["0"])
    for asked in (None, replace(COUNTS_ORDERS, epoch=3), replace(READS_ORDERS, epoch=2)):
        assert checked_topology(known, asked) is known
    for other in (replace(COUNTS_ORDERS, epoch=4), replace(READS_ORDERS, epoch=3)):
        with pytest.raises(GroupError) as error:
            checked_topology(known, other)
        assert (error.value.code, error.value.message) == (
            ErrorCode.INVALID_REQUEST,
            "Topology updates are not supported yet.",
        )
    twice = replace(READS_ORDERS, subtopologies=(*READS_ORDERS.subtopologies, *READS_ORDERS.subtopologies))
    for before in (None, known):
        with pytest.raises(GroupError) as error:
            checked_topology(before, twice)
        assert error.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
    with pytest.raises(GroupError) as error:
        checked_topology(None, None)
    assert error.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize(("tags", "size"), [({}, 0), ({"zone": "1"}, 105), ({"zone": "1", "": "more"}, 209)])
def test_each_tag_takes_room_besides_its_key_and_value(tags: dict[str, str], size: int) -> None:
    assert size_of_tags(tags) == size
    given = tuple(KeyValue(*each) for each in tags.items())
    before = StreamsMember("m")
    after = updated(before, replace(joining("m"), client_tags=given), ("", ""), is_later=False)
    assert after.size - len(after.process_id) - len(after.member_id) == size
    assert before.with_metadata(after.metadata).size == after.size
    without = updated(before, replace(joining("m"), client_tags=None), ("", ""), is_later=False)
    assert without.size == after.size - size


@pytest.mark.parametrize(
    ("is_later", "epoch", "endpoint"),
    [(False, 0, HOST), (True, 0, None), (False, 1, HOST), (True, 1, HOST)],
)
def test_a_member_that_joins_again_without_an_endpoint_has_none_in_4_4(
    endpoint: Endpoint | None, epoch: int, *, is_later: bool
) -> None:
    known = StreamsMember("a", endpoint=HOST)
    request = replace(GOOD, member_epoch=epoch, user_endpoint=None)
    assert updated(known, request, ("c", "/h"), is_later=is_later).endpoint == endpoint
    other = replace(request, user_endpoint=StreamsGroupHeartbeatRequest.Endpoint("other", 1))
    assert updated(known, other, ("c", "/h"), is_later=is_later).endpoint == Endpoint("other", 1)


@pytest.mark.parametrize("epoch", [3, 1000])
def test_the_epoch_of_a_topology_is_compared_by_its_value(epoch: int) -> None:
    known = checked_topology(None, replace(COUNTS_ORDERS, epoch=epoch))
    assert checked_topology(known, replace(COUNTS_ORDERS, epoch=int(str(epoch)))) is known
