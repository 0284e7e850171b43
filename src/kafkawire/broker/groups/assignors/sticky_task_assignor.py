"""The assignor ``sticky`` of streams groups: the rules of the ``StickyTaskAssignor`` of Apache Kafka 4.3, and of 4.4.

Members keep their active tasks as far as their quota allows, then get those of which they have had a copy; the other
tasks go to the process with the least load. So it is with standby tasks, of which a process gets each only once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kafkawire.broker.groups.assignors.priority_queue import PriorityQueue
from kafkawire.broker.groups.assignors.task_loads import Holder, Process, Quota, Task
from kafkawire.broker.groups.assignors.tasks import MemberSpec, Partitions, SubtopologySpec, Tasks
from kafkawire.model.java_order import bucket_order, grown, hash_order, java_hash, java_rank


def assigned_tasks(
    members: Mapping[str, MemberSpec],
    subtopologies: Mapping[str, SubtopologySpec],
    num_standby_replicas: int,
    *,
    is_later: bool,
) -> Mapping[str, Tasks]:
    """What each member shall have.

    Args:
        members: by id, in Kafka's order: that of a ``HashMap``.
        subtopologies: by id.
        num_standby_replicas: how many standby tasks each task with state shall have.
        is_later: whether the rules are those of Apache Kafka 4.4, else of 4.3.
    """
    if not members:
        return {}
    names = sorted(subtopologies, key=java_rank)
    active, stateful = list[Task](), list[Task]()
    for index, name in enumerate(names):
        tasks = [(index, partition) for partition in range(subtopologies[name].tasks)]
        active += tasks
        stateful += tasks if subtopologies[name].is_stateful else []
    sharing = _Sharing(
        members, names, len(active), len(active) + len(stateful) * num_standby_replicas, is_later=is_later
    )
    sharing.share_active(active)
    sharing.share_standby(stateful, num_standby_replicas)
    return {
        member_id: Tasks(
            _partitions(names, sharing.active[member_id]), _partitions(names, sharing.standby[member_id]), {}
        )
        for member_id in members
    }


def _order_of_processes(members: Mapping[str, MemberSpec]) -> Sequence[str]:
    """The order of Java's table of processes in Apache Kafka 4.4.

    ``computeIfAbsent`` lets the table grow before it adds a key, and puts that before the others in its bucket.
    """
    *before, last = (member.process_id for member in members.values())
    buckets = grown(len({*before}), len(members))
    return bucket_order([*dict.fromkeys([*before, last])][::-1], java_hash, buckets)


def _partitions(names: Sequence[str], tasks: Iterable[Task]) -> Partitions:
    found: dict[str, list[int]] = {}
    for index, partition in sorted(tasks):
        found.setdefault(names[index], []).append(partition)
    return {name: tuple(partitions) for name, partitions in found.items()}


class _Sharing:
    """Members and the tasks that they get.

    Args:
        members: by id.
        names: the ids of subtopologies in their order.
        active: how many active tasks there are.
        total: how many tasks there are to be, with standby tasks.
        is_later: whether the rules are those of Apache Kafka 4.4, else of 4.3.

    Attributes:
        active: the active tasks of each member.
        standby: its standby tasks.
    """

    def __init__(
        self, members: Mapping[str, MemberSpec], names: Sequence[str], active: int, total: int, *, is_later: bool
    ) -> None:
        self.active: dict[str, list[Task]] = {member_id: [] for member_id in members}
        self.standby: dict[str, list[Task]] = {member_id: [] for member_id in members}
        self._active_quota = Quota(active, len(members))
        self._quota = Quota(total, len(members))
        ids: dict[str, list[str]] = {}
        for member_id, member in members.items():
            ids.setdefault(member.process_id, []).append(member_id)
        in_order = _order_of_processes(members) if is_later else hash_order(ids, java_hash, len(members))
        self._processes = {each: Process(ids[each]) for each in in_order}
        self._active_holders: dict[Task, Holder] = {}
        self._standby_holders: dict[Task, list[Holder]] = {}
        self._is_later = is_later
        positions = {name: index for index, name in enumerate(names)}
        ranked = dict[Task, list[tuple[bool, int, Holder]]]()
        for member_id, member in members.items():
            holder = Holder(self._processes[member.process_id], member_id)
            for task in _tasks(positions, member.previous.active):
                self._active_holders[task] = holder
            offsets = {(positions[name], at): each for (name, at), each in member.offsets.items() if name in positions}
            standby = {*_tasks(positions, member.previous.standby)}
            for task in standby | offsets.keys():
                ranked.setdefault(task, []).append((task not in standby, -offsets.get(task, 0), holder))
        for task, holders in ranked.items():
            if is_later:
                holders.sort(key=lambda each: each[:2])
            self._standby_holders[task] = [holder for _, _, holder in holders]

    def share_active(self, tasks: Iterable[Task]) -> None:
        """Share out active tasks: to members that have them, to those with copies of them, to those with least load."""
        by_partition = sorted(tasks, key=_partition_first)
        rest = [task for task in by_partition if not self._keep_active(task, self._active_holders.get(task))]
        rest = [task for task in rest if not self._keep_active(task, self._least_loaded_holder(task))]
        queue = self._by_load()
        for task in sorted(rest):
            process = queue.poll()
            member_id, count = process.give_to_least_loaded(task)
            self._note_active(task, member_id, count)
            queue.add(process)

    def _keep_active(self, task: Task, holder: Holder | None) -> bool:
        if holder is None or holder.held >= self._active_quota.per_member:
            return False
        self._note_active(task, holder.member_id, holder.process.give(holder.member_id, task))
        return True

    def _note_active(self, task: Task, member_id: str, count: int) -> None:
        self.active[member_id].append(task)
        self._active_quota.note(count)
        self._quota.note(count)

    def share_standby(self, tasks: Iterable[Task], replicas: int) -> None:
        """Share out standby tasks: to members that have had the task, then to processes with least load."""
        rest = list[tuple[Task, int]]()
        for task in sorted(tasks, key=_partition_first, reverse=True):
            for given in range(replicas):
                if not self._keep_standby(task):
                    rest.append((task, replicas - given))
                    break
        queue = self._by_load()
        for task, missing in sorted(rest, reverse=True):
            for _ in range(missing):
                if not self._give_standby(task, queue):
                    break

    def _keep_standby(self, task: Task) -> bool:
        for holder in (self._active_holders.get(task), self._least_loaded_holder(task)):
            if holder and task not in holder.process.tasks and holder.held < self._quota.per_member:
                self._note_standby(task, holder.member_id, holder.process.give(holder.member_id, task))
                return True
        return False

    def _give_standby(self, task: Task, queue: PriorityQueue[Process]) -> bool:
        """Give a standby task to the process with the least load that does not have it; False if all have it."""
        polled = list[Process]()
        is_given = False
        while queue and not is_given:
            process = queue.poll()
            polled.append(process)
            if task not in process.tasks:
                self._note_standby(task, *process.give_to_least_loaded(task))
                is_given = True
        for process in reversed(polled):
            queue.add(process)
        return is_given

    def _note_standby(self, task: Task, member_id: str, count: int) -> None:
        self.standby[member_id].append(task)
        self._quota.note(count)

    def _least_loaded_holder(self, task: Task) -> Holder | None:
        """Of the members with a standby task, the one with least load whose process does not have the task.

        With the rules of Apache Kafka 4.3 there is none if the first one's process has it.
        """
        holders = self._standby_holders.get(task, [])
        if self._is_later:
            holders = [holder for holder in holders if task not in holder.process.tasks]
        if not holders or task in holders[0].process.tasks:
            return None
        best, *others = holders
        for holder in others:
            has_less = holder.process.load < best.process.load and holder.held < best.held
            if has_less and task not in holder.process.tasks:
                best = holder
        return best

    def _by_load(self) -> PriorityQueue[Process]:
        return PriorityQueue(self._processes.values(), lambda process: process.load)


def _tasks(positions: Mapping[str, int], partitions: Partitions) -> Iterable[Task]:
    for name, each in partitions.items():
        if name in positions:
            for partition in each:
                yield positions[name], partition


def _partition_first(task: Task) -> Task:
    return task[1], task[0]
