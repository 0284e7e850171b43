"""Laws of streams groups, whatever their members do and when: slow and hostile ones, of one process and of several."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest
from msgspec.structs import replace
from tests.embedded.driven_streams_group import DrivenStreamer, DrivenStreamsGroup, OwnedTask, with_tasks
from tests.embedded.streams_members import Subtopology, Topology
from tests.embedded.streams_topologies import TOPOLOGIES

from kafkawire.broker.groups import timers
from kafkawire.broker.groups.commits import CommitRules
from kafkawire.broker.groups.streams.group import StreamsGroup
from kafkawire.broker.groups.streams.group_state import StreamsChange, StreamsGroupState
from kafkawire.broker.groups.streams.member import StreamsMember
from kafkawire.broker.groups.streams.owned_tasks import Task
from kafkawire.broker.groups.streams.states import StreamsGroupStatus, StreamsMemberState
from kafkawire.broker.groups.streams.topology import ConfiguredTopology, configured_topology
from kafkawire.protocol import (
    OffsetCommitRequest,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    TxnOffsetCommitRequest,
)
from kafkawire.protocol.error_codes import ErrorCode

SEEDS = int(os.environ.get("KAFKAWIRE_GROUP_SEEDS", "150"))
FIRST_SEED = int(os.environ.get("KAFKAWIRE_GROUP_FIRST_SEED", "0"))
STEPS = 40
ROUNDS = 120
SOURCES = ("a", "b", "c")
PROCESSES = ("p1", "p2", "p3")
ACTIVE = 0
EXPECTED = {
    ErrorCode.NONE,
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.GROUP_MAX_SIZE_REACHED,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.STREAMS_INVALID_TOPOLOGY,
    ErrorCode.UNKNOWN_MEMBER_ID,
}
GOOD = EXPECTED - {ErrorCode.INVALID_REQUEST, ErrorCode.STREAMS_INVALID_TOPOLOGY}
"""What members are answered that behave."""


class Zombie(NamedTuple):
    """A client that goes on with what it had, though it may be no member any more.

    Attributes:
        member_id, epoch: with which it commits.
        owned: the tasks that it had.
        at: the step after which it had them.
    """

    member_id: str
    epoch: int
    owned: frozenset[OwnedTask]
    at: int


class Life:
    """What happens to a group, from a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        self.driven = DrivenStreamsGroup(
            group_streams_max_size="6",
            group_streams_assignment_interval_ms=chance.choice(["0", "0", "1000"]),
            group_streams_initial_rebalance_delay_ms=chance.choice(["0", "0", "3000"]),
            group_streams_num_standby_replicas=chance.choice(["0", "1", "1", "2"]),
        )
        self.topology = Topology(chance.choice([0, 0, 3]), tuple(chance.choice(TOPOLOGIES)))
        self.clients: list[DrivenStreamer] = []
        self.unheard: set[DrivenStreamer] = set()
        """Those that did not hear an answer. As with Apache Kafka, tasks are in one answer only."""
        self.zombies: list[Zombie] = []
        self.got: dict[tuple[OwnedTask, str], int] = {}
        self.step = 0
        self.epoch = self.assignment_epoch = 0
        self.member_epochs: Mapping[str, int] = {}
        for name in SOURCES:
            self.driven.create(name, chance.randint(1, 6))
        if chance.random() < 0.7:
            self.repair_topics()

    def happen(self) -> None:
        """One thing happens."""
        acts = {
            self.arrive: 3,
            self.beat: 12,
            self.all_beat: 3,
            self.join_again: 1,
            self.leave: 1,
            self.vanish: 1,
            self.misbehave: 2,
            self.lose_an_answer: 2,
            self.change_topics: 1,
            self.change_replicas: 1,
            self.wait: 2,
            self.restart: 1,
        }
        self.step += 1
        self.chance.choices([*acts], [*acts.values()])[0]()

    def arrive(self) -> None:
        client = DrivenStreamer(
            self.driven,
            f"m{self.chance.randint(0, 10**9)}",
            self.topology,
            process_id=self.chance.choice(PROCESSES),
            rebalance_ms=self.chance.choice([1_000, 30_000]),
        )
        if self.topology.epoch and self.driven.state.topology is not None and self.chance.random() < 0.1:
            client.topology = Topology(0, ())  # of an application of an earlier release
        client.join()
        self.clients.append(client)
        self.after(client)

    def beat(self) -> None:
        if self.clients:
            client = self.chance.choice(self.clients)
            self.send(client, is_silent=self.chance.random() < 0.2, is_slow=self.chance.random() < 0.3)

    def all_beat(self) -> None:
        for client in [*self.clients]:
            self.send(client)

    def send(self, client: DrivenStreamer, *, is_silent: bool = False, is_slow: bool = False) -> None:
        """Let a client send a heartbeat; sometimes a broker that starts now has the same answer."""
        if client.epoch > 0 and not is_silent and not is_slow and self.chance.random() < 0.1:
            client.owned = client.assigned
            client.take(self.answer_before_and_after_restart(client.full()))
        else:
            client.beat(is_silent=is_silent, is_slow=is_slow)
        self.after(client)

    def join_again(self) -> None:
        if self.clients:
            client = self.chance.choice(self.clients)
            self.remember(client)
            client.join()
            self.after(client)

    def leave(self) -> None:
        if self.clients:
            gone = self.clients.pop(self.chance.randrange(len(self.clients)))
            self.remember(gone)
            gone.leave()

    def vanish(self) -> None:
        """A client is not heard of for long; some come back, and learn that they are no members any more."""
        if self.clients:
            client = self.chance.choice(self.clients)
            self.remember(client)
            if self.chance.random() < 0.5:
                self.clients.remove(client)
            self.driven.wait(46.0)

    def misbehave(self) -> None:
        """A heartbeat of another epoch, of another member, or with tasks of others."""
        if not self.clients:
            return
        client = self.chance.choice(self.clients)
        request = replace(client.full(), member_epoch=max(client.epoch, 1))
        match self.chance.randint(0, 5):
            case 0:
                request = replace(request, member_epoch=max(client.epoch + self.chance.choice([-2, -1, 1, 2]), 1))
            case 1:
                request = replace(request, member_id="stranger")
            case 2:
                request = with_tasks(request, client.owned | self.chance.choice(self.clients).owned)
            case 3:
                others = frozenset(each._replace(role=1 - each.role) for each in client.owned)
                request = with_tasks(request, client.owned | others)
            case 4:
                request = with_tasks(request, {*client.owned, OwnedTask(0, "0", 999)})
            case 5:
                other = Topology(self.topology.epoch + self.chance.choice([0, 1]), (Subtopology("7", ("a",)),))
                request = replace(client.joining(), member_id="stranger", topology=other)
                if self.driven.state.topology is None or len(self.driven.state.members) >= 6:
                    return
        self.unheard.add(client)
        answer = self.driven.send(request)
        assert ErrorCode(answer.error_code) in EXPECTED
        if request.member_id == "stranger":
            assert answer.error_code

    def lose_an_answer(self) -> None:
        """The request arrives and the answer does not."""
        if self.clients:
            client = self.chance.choice(self.clients)
            if client.epoch > 0:
                client.owned = client.assigned
                self.driven.send(client.full())
                self.unheard.add(client)
                if self.chance.random() < 0.7:
                    self.send(client)

    def change_topics(self) -> None:
        name = self.chance.choice([*self.driven.image.by_name, *SOURCES])
        topic = self.driven.image.by_name.get(name)
        count = 0 if topic is None else len(topic.partitions)
        match self.chance.randint(0, 3):
            case 0 if topic is not None:
                self.driven.delete(name)
            case 1:
                self.driven.create(name, count + self.chance.randint(1, 3))
            case _:
                self.repair_topics()

    def repair_topics(self) -> None:
        """All source topics get the same number of partitions, and internal topics that do not fit are deleted."""
        topics = self.driven.image.by_name
        count = max((len(topic.partitions) for name, topic in topics.items() if name in SOURCES), default=2)
        for name in SOURCES:
            self.driven.create(name, count)
        for name, topic in [*topics.items()]:
            if name not in SOURCES and len(topic.partitions) != (3 if self.has_fixed_count else count):
                self.driven.delete(name)

    @property
    def has_fixed_count(self) -> bool:
        return any(topic.partitions for each in self.topology.subtopologies for topic in each.repartition_source_topics)

    def change_replicas(self) -> None:
        self.driven.configs = {"streams.num.standby.replicas": str(self.chance.randint(0, 2))}

    def wait(self) -> None:
        self.driven.wait(self.chance.choice([0.5, 1.0, 2.0, 4.0, 20.0]))

    def restart(self) -> None:
        """The broker comes back with its records, which say all."""
        live = self.driven.state
        check_same(live, self.driven.made().state)
        check_same(live, StreamsGroupState("g", self.driven.log))
        check_same(live, StreamsGroupState("g", compacted(self.driven.log)), is_ordered=False)
        made, group = self.driven.made(), self.driven.group
        assert made.size == group.size - group.size_of_tasks
        self.driven.restart()

    def answer_before_and_after_restart(self, request: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse:
        """A broker that starts now would answer the same; a group only forgets that it waits for its first members."""
        is_delayed, made, at = timers.ASSIGNMENT in self.driven.group.timers, self.driven.made(), len(self.driven.log)
        expected = self.driven.answer_of(made, request).response
        answer = self.driven.send(request)
        assert is_delayed or essence(answer) == essence(expected), request
        assert is_delayed or self.driven.log[at:] == [*made.changes()]
        return answer

    def remember(self, client: DrivenStreamer) -> None:
        if client.owned:
            self.zombies.append(Zombie(client.member_id, client.epoch, client.owned, self.step))

    def after(self, client: DrivenStreamer) -> None:
        """A client that cannot go on stops; the broker creates internal topics, mostly at once."""
        assert client.error in GOOD or self.is_lost(client), (client.error, client.member_id)
        if client.error in {ErrorCode.GROUP_MAX_SIZE_REACHED, ErrorCode.INVALID_REQUEST}:
            self.clients.remove(client)
        if self.chance.random() < 0.8:
            for topic in self.driven.wanted_topics:
                self.driven.create(topic.name, topic.partitions)

    def is_lost(self, client: DrivenStreamer) -> bool:
        """Whether a client has tasks that are none any more, since a topic was made again with fewer partitions."""
        return client.error is ErrorCode.INVALID_REQUEST and any(
            task.partition >= self.configured().subtopologies[task.subtopology].tasks for task in client.owned
        )

    def configured(self) -> ConfiguredTopology:
        """The topology with the topics as they are now."""
        assert self.driven.state.topology is not None
        topics = self.driven.image.by_name
        return configured_topology(
            self.driven.state.topology, lambda name: len(topics[name].partitions) if name in topics else None
        )

    # Laws.

    def check(self) -> None:
        """What always holds."""
        state = self.driven.state
        assert state.epoch >= self.epoch
        assert state.assignment_epoch >= self.assignment_epoch
        self.epoch, self.assignment_epoch = state.epoch, state.assignment_epoch
        epochs = {member_id: member.epoch for member_id, member in state.members.items()}
        for member_id, epoch in epochs.items():
            assert epoch >= self.member_epochs.get(member_id, 0), "the epoch of a member goes back"
        self.member_epochs = epochs
        check_group(self.driven.group)
        self.check_what_clients_have()
        self.check_commits()

    def check_what_clients_have(self) -> None:
        """No two clients that are members process a task at once, and no process has a task twice."""
        active: dict[OwnedTask, str] = {}
        of_processes: dict[tuple[str, str, int], tuple[int, str]] = {}
        for client in self.members():
            for task in client.owned:
                self.got[task, client.member_id] = self.step
                if task.role == ACTIVE:
                    assert active.setdefault(task, client.member_id) == client.member_id, task
                place, holder = (client.process_id, *task[1:]), (task.role, client.member_id)
                assert of_processes.setdefault(place, holder) == holder, task

    def members(self) -> Iterator[DrivenStreamer]:
        """The clients that are members."""
        for client in self.clients:
            if client.member_id in self.driven.state.members and client.epoch > 0:
                yield client

    @property
    def commit_rules(self) -> CommitRules[StreamsMember]:
        return self.driven.state.commit_rules(lambda _: None)

    def check_commits(self) -> None:
        """A client commits for the tasks that it processes; one that was fenced does not once another has them."""
        for client in self.members():
            for task in client.owned:
                if task.role == ACTIVE:
                    for error in self.commit_errors(client.member_id, client.epoch, task):
                        assert not error, (client.member_id, client.epoch, task)
        for zombie in self.zombies:
            for task in zombie.owned:
                if task.role == ACTIVE:
                    self.check_zombie(zombie, task)

    def check_zombie(self, zombie: Zombie, task: OwnedTask) -> None:
        """A client that has joined again may have its old epoch, as with Apache Kafka: it has given up all before."""
        member = self.driven.state.members.get(zombie.member_id)
        for error in self.commit_errors(zombie.member_id, zombie.epoch, task):
            if member is None:
                assert error is ErrorCode.UNKNOWN_MEMBER_ID
            elif zombie.epoch != member.epoch:
                rivals = {
                    member_id
                    for (got, member_id), at in self.got.items()
                    if got == task and at > zombie.at and member_id != zombie.member_id
                }
                assert error or not rivals, (zombie, task, rivals)
        if member is None:
            assert self.commit_rules.fetch_error(zombie.member_id, zombie.epoch) is ErrorCode.UNKNOWN_MEMBER_ID

    def commit_errors(self, member_id: str, epoch: int, task: OwnedTask) -> Iterator[ErrorCode]:
        """The errors of commits for the topics of a task."""
        (subtopology,) = (each for each in self.topology.subtopologies if each.subtopology_id == task.subtopology)
        rules, one, in_transaction = self.commit_rules, OffsetCommitRequest, TxnOffsetCommitRequest
        for name in (*subtopology.source_topics, *(topic.name for topic in subtopology.repartition_source_topics)):
            topic = one.OffsetCommitRequestTopic(name, partitions=(one.OffsetCommitRequestPartition(task.partition),))
            yield rules.commit_error(one("g", epoch, member_id, topics=(topic,)), 9)
            partition = in_transaction.TxnOffsetCommitRequestPartition(task.partition)
            other = in_transaction.TxnOffsetCommitRequestTopic(name, partitions=(partition,))
            request = in_transaction("t", "g", 1, 0, epoch, member_id, topics=(other,))
            yield rules.transactional_commit_error(request)

    # Convergence.

    def converge(self) -> None:
        """When all behave, each comes to its target, and all tasks are processed."""
        self.repair_topics()
        for client in self.clients:
            if client in self.unheard and client.epoch > 0:
                client.join()
        rounds = 0
        while not self.is_there() and rounds < ROUNDS:
            self.step += 1
            self.all_beat()
            self.driven.wait(0.9)
            self.check()
            rounds += 1
        state = self.driven.state
        assert self.is_there(), (
            f"{rounds} rounds: {state.state} {state.epoch} {state.assignment_epoch}"
            f" {[(each.member_id, each.epoch, each.error, each.status) for each in self.clients]}"
        )
        if state.members:
            self.check_tasks()

    def is_there(self) -> bool:
        state = self.driven.state
        if not self.clients:
            return state.state is StreamsGroupStatus.EMPTY or not state.members
        known = {client.member_id for client in self.clients if client.epoch > 0}
        are_all_known = state.members.keys() == known and len(known) == len(self.clients)
        is_new = self.driven.group._topology._changes_seen == self.driven.topics.changes
        have_all = all(client.owned == client.assigned for client in self.clients)
        return are_all_known and is_new and have_all and state.state is StreamsGroupStatus.STABLE

    def check_tasks(self) -> None:
        """Each task is processed by one member, and has as many copies as it may have."""
        configured = self.configured()
        active = [task for client in self.clients for task in client.owned if task.role == ACTIVE]
        wanted = [
            OwnedTask(ACTIVE, name, partition)
            for name, each in configured.subtopologies.items()
            for partition in range(each.tasks)
        ]
        assert sorted(active) == sorted(wanted)
        replicas = self.driven.settings.standby_replicas("g")
        copies = min(replicas, len({client.process_id for client in self.clients}) - 1)
        standby = [task for client in self.clients for task in client.owned if task.role == 1]
        stateful = [task._replace(role=1) for task in wanted if configured.subtopologies[task.subtopology].is_stateful]
        assert sorted(standby) == sorted(stateful * copies)


def check_group(group: StreamsGroup) -> None:
    """What always holds of a streams group."""
    state = group.state
    assert state.assignment_epoch <= state.epoch
    of_processes: dict[tuple[str, str, int], tuple[int, str]] = {}
    active: dict[tuple[str, int], str] = {}
    for member in state.members.values():
        assert member.previous_epoch <= member.epoch <= state.epoch
        is_revoking = member.state is StreamsMemberState.UNREVOKED_TASKS
        assert is_revoking == bool(member.revoking) == (timers.revocation(member.member_id) in group.timers)
        assert timers.session(member.member_id) in group.timers
        for owned in (member.assigned, member.revoking):
            for role, tasks in enumerate(owned.tasks):
                for name, partitions in tasks.items():
                    for partition in partitions:
                        holder = (role, member.member_id)
                        place = (member.process_id, name, partition)
                        assert of_processes.setdefault(place, holder) == holder, place
                        if role == ACTIVE:
                            assert active.setdefault((name, partition), member.member_id) == member.member_id
    given = [(name, each) for target in state.targets.values() for name, all_ in target.active.items() for each in all_]
    assert len(given) == len({*given}), "a task is to be processed by one member"
    assert state.targets.keys() <= state.members.keys()
    assert len(group.timers) <= 2 * len(state.members) + 1


def check_same(one: StreamsGroupState, other: StreamsGroupState, *, is_ordered: bool = True) -> None:
    """Two states are the same."""
    for name in (
        "epoch",
        "metadata_hash",
        "validated_topology_epoch",
        "assignment_configs",
        "topology",
        "assignment_epoch",
        "assigned_at_ms",
        "members",
        "targets",
        "state",
    ):
        assert getattr(one, name) == getattr(other, name), name
    assert not is_ordered or [*one.members] == [*other.members]
    assert {*one.subscribed} == {*other.subscribed}
    assert unreleased(one) == unreleased(other)


def unreleased(state: StreamsGroupState) -> frozenset[tuple[Task, str]]:
    """The tasks that processes cannot get now."""
    subtopologies = () if state.topology is None else state.topology.subtopologies
    tasks = [
        Task(role, each.subtopology_id, number) for role in (0, 1) for each in subtopologies for number in range(20)
    ]
    return frozenset((task, each) for task in tasks for each in PROCESSES if state.owners.is_unreleased(task, each))


def compacted(log: list[StreamsChange]) -> list[StreamsChange]:
    """The last record of each key, where it is in the log; some that delete a key are gone too."""
    last = {key: at for at, (key, _) in enumerate(log)}
    return [(key, value) for at, (key, value) in enumerate(log) if last[key] == at and (value is not None or at % 2)]


def essence(answer: StreamsGroupHeartbeatResponse) -> StreamsGroupHeartbeatResponse:
    """What an answer says that does not depend on when the broker started."""
    return replace(answer, endpoint_information_epoch=0, partitions_by_user_endpoint=None)


@pytest.mark.parametrize("part", range(10))
def test_members_never_share_tasks_and_always_converge(part: int) -> None:
    """``KAFKAWIRE_GROUP_SEEDS`` says how many groups live, ``KAFKAWIRE_GROUP_FIRST_SEED`` with which they begin."""
    for seed in range(FIRST_SEED + part, FIRST_SEED + SEEDS, 10):
        life = Life(seed)
        try:
            for _ in range(STEPS):
                life.happen()
                life.check()
            life.restart()
            life.converge()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
