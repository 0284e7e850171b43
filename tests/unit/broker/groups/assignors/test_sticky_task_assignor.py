"""Tasks are shared out evenly, and stay where they are."""

from __future__ import annotations

from collections.abc import Mapping

from kafkawire.broker.groups.assignors.sticky_task_assignor import assigned_tasks
from kafkawire.broker.groups.assignors.tasks import NO_TASKS, MemberSpec, Tasks
from kafkawire.broker.groups.streams.topology import ConfiguredSubtopology, InternalTopic

STATELESS = ConfiguredSubtopology(4)
STATEFUL = ConfiguredSubtopology(4, changelogs={"changelog": InternalTopic("changelog", 4)})


def members(processes: Mapping[str, str], **targets: Tasks) -> Mapping[str, MemberSpec]:
    """Members by id, with the processes in which they run and what they have had."""
    return {name: MemberSpec(process, targets.get(name, NO_TASKS)) for name, process in processes.items()}


def test_tasks_are_shared_out_by_range() -> None:
    found = assigned_tasks(members({"a": "p", "b": "q"}), {"0": STATELESS, "1": STATELESS}, 0, is_later=False)
    assert found == {
        "a": Tasks({"0": (0, 2), "1": (0, 2)}, {}, {}),
        "b": Tasks({"0": (1, 3), "1": (1, 3)}, {}, {}),
    }


def test_processes_with_more_members_get_more_tasks() -> None:
    found = assigned_tasks(
        members({"a": "p", "b": "p", "c": "p", "d": "q"}), {"0": STATELESS, "1": STATELESS}, 0, is_later=False
    )
    assert {name: sum(map(len, each.active.values())) for name, each in found.items()} == dict.fromkeys("abcd", 2)


def test_a_member_keeps_its_active_tasks() -> None:
    had = Tasks({"0": (1, 2)}, {}, {})
    found = assigned_tasks(members({"a": "p", "b": "q"}, b=had), {"0": STATELESS}, 0, is_later=False)
    assert found["b"].active == {"0": (1, 2)}


def test_a_member_with_too_many_tasks_keeps_the_first_ones() -> None:
    had = Tasks({"0": (0, 1, 2, 3)}, {}, {})
    found = assigned_tasks(members({"a": "p", "b": "q"}, b=had), {"0": STATELESS}, 0, is_later=False)
    assert [found[each].active for each in "ba"] == [{"0": (0, 1)}, {"0": (2, 3)}]


def test_the_tasks_of_a_member_that_has_left_go_to_their_standby() -> None:
    had = {"b": Tasks({"0": (0, 1)}, {"0": (3,)}, {}), "c": Tasks({}, {"0": (2,)}, {})}
    found = assigned_tasks(members({"b": "q", "c": "r"}, **had), {"0": STATEFUL}, 1, is_later=False)
    assert 2 in found["c"].active["0"]
    assert found["b"].active == {"0": (0, 1)}


def test_standby_tasks_are_where_the_active_ones_are_not() -> None:
    found = assigned_tasks(members({"a": "p", "b": "q"}), {"0": STATEFUL, "1": STATELESS}, 1, is_later=False)
    assert found["a"].standby == {"0": found["b"].active["0"]}
    assert found["b"].standby == {"0": found["a"].active["0"]}


def test_members_of_one_process_get_no_standby_tasks_of_each_other() -> None:
    found = assigned_tasks(members({"a": "p", "b": "p"}), {"0": STATEFUL}, 2, is_later=False)
    assert [each.standby for each in found.values()] == [{}, {}]


def test_what_a_member_has_had_of_another_topology_is_forgotten() -> None:
    found = assigned_tasks(
        members({"a": "p"}, a=Tasks({"9": (0,)}, {"0": (7,)}, {})), {"0": STATEFUL}, 1, is_later=False
    )
    assert found == {"a": Tasks({"0": (0, 1, 2, 3)}, {}, {})}


def test_a_group_without_members_has_no_assignment() -> None:
    assert assigned_tasks({}, {"0": STATEFUL}, 1, is_later=False) == {}
