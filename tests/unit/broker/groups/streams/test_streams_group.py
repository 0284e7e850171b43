"""A streams group by itself: what it refuses, and how members come to their tasks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from msgspec.structs import replace
from tests.embedded.configurations import configuration_of
from tests.embedded.driven_streams_group import DrivenStreamer, DrivenStreamsGroup
from tests.embedded.streams_members import COUNTS_ORDERS, READS_ORDERS, TaskIds, joining

from kafkawire.broker.groups.assignors.tasks import NO_TASKS, Tasks
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.group import StreamsGroup
from kafkawire.broker.groups.streams.group_state import StreamsChange, StreamsGroupState
from kafkawire.broker.groups.streams.member import StreamsMember
from kafkawire.broker.groups.streams.owned_tasks import OwnedTasks, Task, TaskOwners
from kafkawire.broker.groups.streams.reconciliation import Aim, check_state, reconciled
from kafkawire.broker.groups.streams.settings import StreamsGroupSettings
from kafkawire.broker.groups.streams.states import StreamsGroupStatus, StreamsMemberState
from kafkawire.broker.groups.streams.statuses import StreamsStatus
from kafkawire.broker.groups.timers import Now
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.broker.image.topics import TopicsImage
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    PartitionRecord,
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupHeartbeatRequest,
    StreamsGroupMemberMetadataKey,
    TopicRecord,
)
from kafkawire.protocol.error_codes import ErrorCode

TOPIC = Uuid(b"t" * 16)
CLIENT = ("c", "/h")
NOW = Now(1000.0, 1_000_000)
AT_ONCE = {"group.streams.assignment.interval.ms": "0", "group.streams.initial.rebalance.delay.ms": "0"}


def group_with_topic(
    *, records: list[StreamsChange] | None = None, is_later: bool = False, **properties: str
) -> StreamsGroup:
    image = TopicsImage()
    image.apply_topic(TopicRecord("orders", TOPIC))
    for partition in (0, 1):
        image.apply_partition(PartitionRecord(partition, TOPIC, (1,), (1,), leader=1))
    own = {name.replace("_", "."): value for name, value in properties.items()}
    settings = StreamsGroupSettings(configuration_of(**{**AT_ONCE, **own}), lambda _: {}, is_later=is_later)
    topics = KnownTopics(image, lambda: 1, lambda _: None)
    return StreamsGroup("g", records or [], settings, topics, NOW)


def refused(group: StreamsGroup, request: StreamsGroupHeartbeatRequest) -> GroupError:
    """The error for a request, after which the group is as before."""
    before = {name: getattr(group.state, name) for name in ("epoch", "members", "targets", "topology")}
    with pytest.raises(GroupError) as raised:
        group.heartbeat(request, CLIENT, NOW)
    assert {name: getattr(group.state, name) for name in before} == before
    assert not group.changes()
    return raised.value


def test_a_request_that_is_refused_changes_nothing() -> None:
    group = group_with_topic()
    endpoint = StreamsGroupHeartbeatRequest.Endpoint("one", 80)
    nowhere = replace(READS_ORDERS, subtopologies=(StreamsGroupHeartbeatRequest.Subtopology("0", ("none",)),))
    found = refused(group, replace(joining("a", nowhere), user_endpoint=endpoint))
    assert (found.code, found.message) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)
    size = group.size
    group.heartbeat(joining("a"), CLIENT, NOW)
    assert group.size > size
    assert group.changes()
    assert refused(group, joining("b", COUNTS_ORDERS)).message == "Topology updates are not supported yet."
    wrong = replace(joining("a"), member_epoch=2, topology=None, active_tasks=(TaskIds("0", (2,)),))
    assert "Number of tasks for this subtopology: 2" in (refused(group, wrong).message or "")


def test_the_records_of_a_group_are_its_state() -> None:
    group = group_with_topic()
    group.heartbeat(joining("a"), CLIENT, NOW)
    group.heartbeat(joining("b"), CLIENT, NOW)
    records = [*group.changes()]
    again = StreamsGroupState("g", records)
    for name in ("epoch", "metadata_hash", "members", "targets", "topology", "assignment_epoch", "assigned_at_ms"):
        assert getattr(again, name) == getattr(group.state, name), name
    assert again.state is group.state.state is StreamsGroupStatus.RECONCILING
    read = group_with_topic(records=records)
    assert (read.size, len(read.timers)) == (group.size - group.size_of_tasks, 2)
    for member_id in ("a", "b"):
        read.leave(StreamsGroupHeartbeatRequest("g", member_id, -1))
    assert (read.state.state, len(read.timers)) == (StreamsGroupStatus.EMPTY, 0)
    assert 0 < read.size < group.size, "the topology stays"


def test_a_member_with_a_state_of_a_newer_release_joins_again() -> None:
    group = group_with_topic()
    group.heartbeat(joining("a"), CLIENT, NOW)
    key = StreamsGroupCurrentMemberAssignmentKey("g", "a")
    value = StreamsGroupCurrentMemberAssignmentValue(2, 1, 99)
    known = group_with_topic(records=[*group.changes(), (key, value)])
    short = StreamsGroupHeartbeatRequest("g", "a", 2)
    assert refused(known, short).code is ErrorCode.FENCED_MEMBER_EPOCH
    answer = known.heartbeat(replace(joining("a"), topology=READS_ORDERS), CLIENT, NOW).response
    assert [each.partitions for each in answer.active_tasks or ()] == [(0, 1)]
    check_state(StreamsMember("a"), None)


def owners(**owned: OwnedTasks) -> TaskOwners:
    found = TaskOwners()
    for process, tasks in owned.items():
        found.add(process, tasks)
    return found


def test_a_task_is_free_after_all_have_given_it_up_that_stand_in_the_way() -> None:
    task, standby = Task(0, "0", 1), Task(1, "0", 1)
    active_elsewhere = owners(other=OwnedTasks({"0": {1: 2}}))
    assert active_elsewhere.is_unreleased(task, "own")
    assert not active_elsewhere.is_unreleased(standby, "own")
    assert active_elsewhere.is_unreleased(standby, "other")
    standby_here = owners(own=OwnedTasks(standby={"0": (1,)}))
    assert standby_here.is_unreleased(task, "own")
    assert not standby_here.is_unreleased(task, "other")
    standby_here.remove("own", OwnedTasks(standby={"0": (1,)}))
    assert not standby_here.is_unreleased(task, "own")


def aim(epoch: int, target: Tasks, reported: Tasks | None, found: TaskOwners) -> Aim:
    return Aim(epoch, target, reported, lambda task: found.is_unreleased(task, "own"), converts=False)


def test_a_member_gives_up_tasks_then_waits_for_others_then_is_stable() -> None:
    had = OwnedTasks({"0": {0: 2, 1: 2}})
    member = StreamsMember("a", process_id="own", epoch=2, previous_epoch=1, assigned=had)
    target, busy = Tasks({"0": (0, 3)}, {}, {}), owners(own=had, other=OwnedTasks({"0": {3: 2}}))
    steps = [member]
    for reported, found in ((None, busy), (had.tasks, busy), (Tasks({"0": (0,)}, {}, {}), busy), (None, owners())):
        steps.append(reconciled(steps[-1], aim(4, target, reported, found)))
    assert [step.state for step in steps[1:]] == [
        StreamsMemberState.UNREVOKED_TASKS,
        StreamsMemberState.UNREVOKED_TASKS,
        StreamsMemberState.UNRELEASED_TASKS,
        StreamsMemberState.STABLE,
    ]
    assert [step.epoch for step in steps] == [2, 2, 2, 4, 4]
    assert steps[1] is steps[2]
    assert steps[1].revoking == OwnedTasks({"0": {1: 2}})
    assert steps[-1].assigned == OwnedTasks({"0": {0: 2, 3: 4}})
    assert all(after.previous_epoch == before.epoch for before, after in pairwise(steps) if after is not before)


def test_a_member_that_has_given_up_tasks_takes_the_next_epoch_if_it_must_give_up_more() -> None:
    member = StreamsMember(
        "a", process_id="own", epoch=5, state=StreamsMemberState.UNREVOKED_TASKS,
        assigned=OwnedTasks({"0": {0: 2}}), revoking=OwnedTasks({"0": {1: 2}}),
    )  # fmt: skip
    after = reconciled(member, aim(9, NO_TASKS, Tasks({"0": (0,)}, {}, {}), owners()))
    assert (after.state, after.epoch, after.previous_epoch) == (StreamsMemberState.UNREVOKED_TASKS, 6, 5)
    assert reconciled(after, aim(9, NO_TASKS, NO_TASKS, owners())).epoch == 9


def converted(member: StreamsMember, target: Tasks, reported: Tasks | None, found: TaskOwners) -> StreamsMember:
    """The member after a heartbeat, with the rules of 4.4."""
    own = member.assigned.tasks
    return reconciled(
        member, Aim(3, target, reported, lambda task: found.is_unreleased(task, "own", own), converts=True)
    )


def test_a_task_changes_its_role_at_a_member_in_4_4_without_being_given_up() -> None:
    had = OwnedTasks({"0": {0: 2}}, {"0": (1, 2)}, {"0": (3,)})
    member = StreamsMember("a", process_id="own", epoch=2, previous_epoch=1, assigned=had)
    target = Tasks({"0": (1,)}, {"0": (0, 3)}, {"0": (2,)})
    waiting = converted(member, target, None, owners(own=had, other=OwnedTasks({"0": {1: 2}})))
    assert (waiting.state, waiting.epoch) == (StreamsMemberState.UNREVOKED_TASKS, 2)
    assert waiting.assigned == OwnedTasks({}, {"0": (0, 1, 3)}, {"0": (2,)}), "a copy stays until it is active"
    assert waiting.revoking == OwnedTasks({"0": {0: 2}})
    released = waiting.assigned.tasks
    still = converted(waiting, target, released, owners(own=waiting.assigned, other=OwnedTasks({"0": {1: 2}})))
    assert (still.state, still.assigned) == (StreamsMemberState.UNRELEASED_TASKS, waiting.assigned)
    there = converted(still, target, released, owners(own=still.assigned))
    assert (there.state, there.epoch) == (StreamsMemberState.STABLE, 3)
    assert there.assigned == OwnedTasks({"0": {1: 3}}, {"0": (0, 3)}, {"0": (2,)})


def test_no_task_of_a_process_warms_up_there_in_4_4() -> None:
    had = OwnedTasks({"0": {0: 2}})
    own = had.tasks
    found = owners(own=had)
    assert found.is_unreleased(Task(2, "0", 0), "own", own)
    assert not found.is_unreleased(Task(1, "0", 0), "own", own)
    assert found.is_unreleased(Task(1, "0", 0), "own", NO_TASKS), "another member of the process has it"


def test_members_report_offsets_of_tasks_in_4_4() -> None:
    group, offset = group_with_topic(is_later=True), StreamsGroupHeartbeatRequest.TaskOffset
    answer = group.heartbeat(replace(joining("a"), task_offsets=(offset("0", 1, 5),)), CLIENT, NOW).response
    assert (answer.task_offset_interval_ms, answer.acceptable_recovery_lag) == (60_000, 10_000)
    assert not group.task_offsets, "the group is made again from its records"
    short = StreamsGroupHeartbeatRequest("g", "a", answer.member_epoch, task_offsets=(offset("0", 1, 5),))
    size = group.size
    group.heartbeat(short, CLIENT, NOW)
    assert group.size > size, "clients determine what is kept"
    group.heartbeat(replace(short, task_offsets=None, task_end_offsets=(offset("0", 1, 9),)), CLIENT, NOW)
    assert (group.task_offsets["a"].restored, group.task_offsets["a"].ends) == ({("0", 1): 5}, {("0", 1): 9})
    group.changes()
    twice = refused(group, replace(short, task_offsets=(offset("0", 1, 5), offset("0", 1, 6))))
    assert twice.message == "Task offsets contain a duplicate entry for subtopology 0 and partition 1."
    group.heartbeat(replace(short, task_offsets=(), task_end_offsets=()), CLIENT, NOW)
    assert (group.size, group.task_offsets) == (size, {})
    group.heartbeat(short, CLIENT, NOW)
    group.leave(StreamsGroupHeartbeatRequest("g", "a", -1))
    assert not group.task_offsets
    assert group.size < size


def test_the_target_assignment_of_4_4_ends_with_the_last_member() -> None:
    for is_later, epochs in ((False, (2, 3)), (True, (3, 3))):
        group = group_with_topic(is_later=is_later)
        group.heartbeat(joining("a"), CLIENT, NOW)
        group.leave(StreamsGroupHeartbeatRequest("g", "a", -1))
        assert (group.state.assignment_epoch, group.state.epoch) == epochs
        assert bool(group.state.assigned_at_ms) is not is_later


def test_a_member_of_a_full_group_joins_again_in_4_4() -> None:
    for is_later in (False, True):
        group = group_with_topic(is_later=is_later, group_streams_max_size="1")
        group.heartbeat(joining("a"), CLIENT, NOW)
        group.changes()
        assert refused(group, joining("b")).code is ErrorCode.GROUP_MAX_SIZE_REACHED
        if is_later:
            assert group.heartbeat(joining("a"), CLIENT, NOW).response.member_epoch == 2
        else:
            assert refused(group, joining("a")).code is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_instances_learn_which_partitions_each_has() -> None:
    group = group_with_topic()
    endpoints = [StreamsGroupHeartbeatRequest.Endpoint(host, 80 + at) for at, host in enumerate(("one", "two"))]
    first, second = (
        replace(joining(name), user_endpoint=endpoint) for name, endpoint in zip("ab", endpoints, strict=True)
    )
    answer = group.heartbeat(first, CLIENT, NOW).response
    assert answer.endpoint_information_epoch == 0, "the group is made again from its records"
    short = StreamsGroupHeartbeatRequest("g", "a", answer.member_epoch, 0)
    assert group.heartbeat(short, CLIENT, NOW).response.partitions_by_user_endpoint is None
    answer = group.heartbeat(second, CLIENT, NOW).response
    assert answer.endpoint_information_epoch == 1
    found = {
        (each.user_endpoint.host, each.user_endpoint.port): [
            (topic.topic, topic.partitions) for topic in each.active_partitions
        ]
        for each in answer.partitions_by_user_endpoint or ()
    }
    assert found == {("one", 80): [("orders", (0, 1))], ("two", 81): []}
    known = replace(short, endpoint_information_epoch=1)
    news = group.heartbeat(known, CLIENT, NOW).response
    assert news.active_tasks is not None, "it has to give up a task"
    assert news.endpoint_information_epoch == 2


def test_a_silent_group_has_no_timers_of_members_that_left_and_waits_again() -> None:
    group = group_with_topic(group_streams_initial_rebalance_delay_ms="3000")
    group.heartbeat(joining("a"), CLIENT, NOW)
    group.leave(StreamsGroupHeartbeatRequest("g", "a", -1))
    assert len(group.timers) == 1, "the wait for members goes on"
    group.expire(Now(NOW.seconds + 3, NOW.ms + 3000))
    assert len(group.timers) == 0
    answer = group.heartbeat(joining("b"), CLIENT, Now(NOW.seconds + 4, NOW.ms + 4000)).response
    assert [each.status_code for each in answer.status or ()] == [5]
    group.heartbeat(StreamsGroupHeartbeatRequest("g", "b", 1), CLIENT, Now(NOW.seconds + 5, NOW.ms + 5000))
    group.changes()
    group.expire(Now(NOW.seconds + 7, NOW.ms + 7000))
    assert [type(key).NAME for key, _ in group.changes()] == [
        "StreamsGroupTargetAssignmentMemberKey",
        "StreamsGroupTargetAssignmentMetadataKey",
    ]


def test_a_heartbeat_that_is_refused_hides_no_change_of_topics() -> None:
    driven = DrivenStreamsGroup(**{name.replace(".", "_"): value for name, value in AT_ONCE.items()})
    driven.create("orders", 1)
    client = DrivenStreamer(driven, "a", READS_ORDERS)
    client.join()
    epoch = driven.state.epoch
    driven.delete("orders")
    endpoint = StreamsGroupHeartbeatRequest.Endpoint("one", 80)
    answer = driven.send(replace(joining("b"), user_endpoint=endpoint))
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    client.beat()
    assert (client.status, driven.state.epoch) == ([StreamsStatus.MISSING_SOURCE_TOPICS], epoch + 1)
    assert driven.state.metadata_hash == driven.topics.hash_of(["orders"]) == 0


def test_a_first_heartbeat_that_is_refused_hides_no_change_of_topics_since_the_records() -> None:
    """A broker that has just begun has seen no change."""
    driven = DrivenStreamsGroup(**{name.replace(".", "_"): value for name, value in AT_ONCE.items()})
    driven.create("orders", 1)
    client = DrivenStreamer(driven, "a", READS_ORDERS)
    client.join()
    epoch = driven.state.epoch
    driven.create("orders", 2)
    driven.forget_changes()
    driven.restart()
    with pytest.raises(GroupError):
        driven.group.heartbeat(client.full(), CLIENT, driven.now, has_room=lambda _: False)
    client.beat()
    assert driven.state.epoch == epoch + 1
    assert driven.state.metadata_hash == driven.topics.hash_of(["orders"])


def test_tasks_of_a_member_without_metadata_are_free() -> None:
    """Even if there is no record that it has none."""
    group = group_with_topic()
    group.heartbeat(joining("a"), CLIENT, NOW)
    task = Task(0, "0", 1)
    assert group.state.owners.is_unreleased(task, "another process")
    group.state.apply(StreamsGroupMemberMetadataKey("g", "a"), None)
    assert not group.state.owners.is_unreleased(task, "another process")


def test_tasks_take_room_with_their_standby_tasks() -> None:
    """A heartbeat that makes tasks for which there is no room changes nothing."""
    asked: list[int] = []

    def room(*, is_there: bool) -> Callable[[int], bool]:
        def has_room(size: int) -> bool:
            asked.append(size)
            return is_there

        return has_room

    sizes: list[int] = []
    for replicas in (0, 1, 2):
        group = group_with_topic(group_streams_num_standby_replicas=str(replicas))
        with pytest.raises(GroupError) as raised:
            group.heartbeat(joining("a"), CLIENT, NOW, has_room=room(is_there=False))
        assert raised.value.code is ErrorCode.GROUP_MAX_SIZE_REACHED
        assert (group.is_empty, group.size, group.size_of_tasks, [*group.changes()]) == (True, 0, 0, [])
        epoch = group.heartbeat(joining("a"), CLIENT, NOW, has_room=room(is_there=True)).response.member_epoch
        beat = StreamsGroupHeartbeatRequest("g", "a", epoch)
        group.heartbeat(beat, CLIENT, NOW, has_room=room(is_there=True))
        assert asked[-3:] == [group.size_of_tasks, group.size_of_tasks, 0]
        assert group.size > group.size_of_tasks > 0
        sizes.append(group.size_of_tasks)
        group.leave(StreamsGroupHeartbeatRequest("g", "a", -1))
        topology = group.state.topology
        assert topology is not None
        assert (group.size_of_tasks, group.size) == (0, len(topology.encode(0)))
    assert sizes == [600, 1200, 1800]


def test_a_group_with_more_members_than_it_may_have_takes_no_other() -> None:
    """The limit may be lower than before."""
    group = group_with_topic()
    for member_id in "abc":
        group.heartbeat(joining(member_id), CLIENT, NOW)
    lower = group_with_topic(records=[*group.changes()], group_streams_max_size="2")
    assert refused(lower, joining("d")).code is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_a_member_that_waits_for_others_writes_no_record_again() -> None:
    group = group_with_topic()
    first = group.heartbeat(joining("a"), CLIENT, NOW).response.member_epoch
    group.heartbeat(joining("b"), CLIENT, NOW)
    epoch = group.state.members["b"].epoch
    assert group.state.members["b"].state is StreamsMemberState.UNRELEASED_TASKS
    assert group.state.members["a"].epoch == first < epoch
    beat = StreamsGroupHeartbeatRequest("g", "b", epoch)
    group.heartbeat(beat, CLIENT, NOW)
    assert group.state.members["b"].previous_epoch == epoch
    group.changes()
    for _ in range(3):
        group.heartbeat(beat, CLIENT, NOW)
        assert not [key for key, _ in group.changes() if isinstance(key, StreamsGroupCurrentMemberAssignmentKey)]


@pytest.mark.parametrize("is_later", [False, True], ids=["4.3", "4.4"])
def test_members_come_to_the_newest_assignment_of_several(*, is_later: bool) -> None:
    group = group_with_topic(is_later=is_later)

    def beat(member_id: str, *partitions: int) -> list[int]:
        """A heartbeat with active tasks; returns those of the member after it."""
        tasks = (TaskIds("0", partitions),) if partitions else ()
        epoch = group.state.members[member_id].epoch
        request = StreamsGroupHeartbeatRequest(
            "g", member_id, epoch, active_tasks=tasks, standby_tasks=(), warmup_tasks=()
        )
        group.heartbeat(request, CLIENT, NOW)
        return [*group.state.members[member_id].assigned.active.get("0", ())]

    group.heartbeat(joining("a"), CLIENT, NOW)
    for member_id, gone in (("b", "a"), ("c", "b"), ("d", "c")):
        group.heartbeat(joining(member_id), CLIENT, NOW)
        kept = beat(gone, 0, 1)
        assert len(kept) == 1
        assert beat(gone, *kept) == kept
        got = beat(member_id)
        assert sorted(kept + got) == [0, 1]
        group.leave(StreamsGroupHeartbeatRequest("g", gone, -1))
        assert sorted(beat(member_id, *got)) == [0, 1]
        assert group.state.state is StreamsGroupStatus.STABLE


@pytest.mark.parametrize(("is_later", "tasks"), [(False, ()), (True, (1,))], ids=["4.3", "4.4"])
def test_a_member_that_leaves_and_joins_before_the_next_assignment_has_its_tasks_again_in_4_4(
    tasks: tuple[int, ...], *, is_later: bool
) -> None:
    """Which keeps the assignment of an epoch as a heartbeat has found it first."""
    group = group_with_topic(is_later=is_later, group_streams_assignment_interval_ms="60000")
    group.heartbeat(joining("a"), CLIENT, NOW)
    at = Now(NOW.seconds + 60, NOW.ms + 60_000)
    group.heartbeat(joining("b"), CLIENT, at)
    for owned in ((0, 1), (0,)):
        active = (TaskIds("0", owned),)
        epoch = group.state.members["a"].epoch
        beat = StreamsGroupHeartbeatRequest("g", "a", epoch, active_tasks=active, standby_tasks=(), warmup_tasks=())
        group.heartbeat(beat, CLIENT, at)
    group.heartbeat(StreamsGroupHeartbeatRequest("g", "b", group.state.members["b"].epoch), CLIENT, at)
    assert group.state.state is StreamsGroupStatus.STABLE
    assert group.state.members["b"].assigned.tasks.active == {"0": (1,)}
    group.leave(StreamsGroupHeartbeatRequest("g", "b", -1))
    answer = group.heartbeat(joining("b"), CLIENT, at).response
    assert [each.status_code for each in answer.status or ()] == [StreamsStatus.ASSIGNMENT_DELAYED]
    assert tuple(one for each in answer.active_tasks or () for one in each.partitions) == tasks


@pytest.mark.parametrize(
    ("wanted", "reported"),
    [((0, 1), None), ((0,), Tasks({}, {"0": (0,)}, {}))],
    ids=["nothing is given up", "all was given up"],
)
def test_a_copy_that_becomes_an_active_task_is_no_copy_any_more(
    wanted: tuple[int, ...], reported: Tasks | None
) -> None:
    had = OwnedTasks({"0": {1: 2}}, {"0": (0,)})
    member = StreamsMember("a", process_id="own", epoch=2, previous_epoch=1, assigned=had)
    target = replace(aim(4, Tasks({"0": wanted}, {}, {}), reported, owners()), converts=True)
    assigned = reconciled(member, target).assigned.tasks
    assert ({each: sorted(assigned.active[each]) for each in assigned.active}, assigned.standby) == (
        {"0": [*wanted]},
        {},
    )
