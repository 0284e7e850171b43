"""The tasks of members in records, and which tasks a process cannot get yet."""

from __future__ import annotations

import pytest

from kafkawire.broker.groups.assignors.tasks import NO_TASKS, Tasks
from kafkawire.broker.groups.streams.owned_tasks import OwnedTasks, Task, TaskOwners, have_in_common, partitions_of
from kafkawire.protocol import StreamsGroupCurrentMemberAssignmentValue

Ids = StreamsGroupCurrentMemberAssignmentValue.TaskIds
EPOCH = 9


@pytest.mark.parametrize(
    ("epochs", "expected"),
    [
        ((5, 4), {1: 4, 2: 5}),
        (None, {1: EPOCH, 2: EPOCH}),
        ((), {1: EPOCH, 2: EPOCH}),
        ((5,), {1: EPOCH, 2: EPOCH}),
        ((5, 4, 3), {1: EPOCH, 2: EPOCH}),
    ],
)
def test_tasks_have_the_epoch_of_the_member_if_their_own_are_not_known(
    epochs: tuple[int, ...] | None, expected: dict[int, int]
) -> None:
    """As in Apache Kafka, which takes no epochs of a record that has more or less of them than partitions."""
    read = OwnedTasks.recorded((Ids("1", (2, 1), epochs), Ids("0", (3,), (2,))), (), (), EPOCH)
    assert read == OwnedTasks({"0": {3: 2}, "1": expected})
    assert [(name, *partitions) for name, partitions in read.active.items()] == [("0", 3), ("1", 1, 2)]


def test_records_have_the_tasks_of_each_role() -> None:
    owned = OwnedTasks({"0": {0: 2, 1: 3}}, {"1": (4, 5)}, {"2": (6,)})
    active, standby, warmup = owned.records()
    assert (active, standby, warmup) == ((Ids("0", (0, 1), (2, 3)),), (Ids("1", (4, 5)),), (Ids("2", (6,)),))
    assert OwnedTasks.recorded(active, standby, warmup, EPOCH) == owned
    assert owned.tasks == Tasks({"0": (0, 1)}, {"1": (4, 5)}, {"2": (6,)})


def test_no_tasks_are_none_in_any_role() -> None:
    assert not OwnedTasks()
    for some in (OwnedTasks({"0": {0: 1}}), OwnedTasks(standby={"0": (0,)}), OwnedTasks(warmup={"0": (0,)})):
        assert some


def test_the_partitions_of_a_subtopology_are_in_one_place() -> None:
    found = partitions_of((Ids("1", (3, 1)), Ids("0", (2,)), Ids("1", (2, 3))))
    assert [*found.items()] == [("0", (2,)), ("1", (1, 2, 3))]


def test_tasks_in_common_have_role_subtopology_and_partition_in_common() -> None:
    tasks = Tasks({"0": (1, 2)}, {"1": (3,)}, {"2": (4,)})
    for other in (
        Tasks({"0": (2, 5)}, {}, {}),
        Tasks({"9": (1,)}, {"0": (9,), "1": (3,)}, {}),
        Tasks({}, {}, {"2": (4,)}),
    ):
        assert have_in_common(tasks, other)
        assert have_in_common(other, tasks)
    for other in (
        NO_TASKS,
        Tasks({"1": (1,), "0": (3,)}, {"0": (1,), "1": (4,)}, {"2": (3,)}),
        Tasks({}, {}, {"1": (3,)}),
    ):
        assert not have_in_common(tasks, other)
        assert not have_in_common(other, tasks)


ROLES = range(3)


@pytest.mark.parametrize("asked", ROLES)
@pytest.mark.parametrize("held", ROLES)
def test_a_task_is_free_for_a_process_without_it_but_an_active_one_only_if_none_processes_it(
    held: int, asked: int
) -> None:
    by_role = (OwnedTasks({"0": {1: 2}}), OwnedTasks(standby={"0": (1,)}), OwnedTasks(warmup={"0": (1,)}))
    owners = TaskOwners()
    owners.add("other", by_role[held])
    task = Task(asked, "0", 1)
    assert owners.is_unreleased(task, "other")
    assert owners.is_unreleased(task, "own") == (held == asked == 0)
    for free in (Task(asked, "0", 2), Task(asked, "1", 1)):
        assert not owners.is_unreleased(free, "other")
    owners.add("own", by_role[held])
    owners.remove("other", by_role[held])
    assert owners.is_unreleased(task, "own")
    assert owners.is_unreleased(task, "other") == (held == asked == 0)
    owners.remove("own", by_role[held])
    owners.remove("own", by_role[held])
    assert not owners.is_unreleased(task, "own")
