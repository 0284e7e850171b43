"""Tasks of streams groups: Kafka's own assignors give members the same, in several rounds of changes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import msgspec
import pytest
from tests.apache_kafka.java_program import JavaProgram
from tests.apache_kafka.releases import is_at_least, releases
from tests.conformance.broker.streams.kafkas_streams import (
    AskedMember,
    AskedSubtopology,
    Assign,
    kafkas_later_streams,
    kafkas_streams,
)

from kafkawire.broker.groups.assignors.sticky_task_assignor import assigned_tasks
from kafkawire.broker.groups.assignors.tasks import NO_TASKS, MemberSpec, Tasks
from kafkawire.layout.uuid import Uuid
from kafkawire.model.java_order import hash_order, java_hash

pytestmark = pytest.mark.conformance

GROUPS = 400
ROUNDS = 8
LARGE_GROUPS = 5
LATER = next(release for release in releases() if is_at_least(release, "4.4"))
SAME_HASH = ("AaAa", "AaBB", "BBAa", "BBBB")


@pytest.fixture(scope="module")
def kafka() -> Iterator[JavaProgram]:
    """Kafka's classes."""
    with kafkas_streams() as program:
        yield program


@pytest.fixture(scope="module")
def later_kafka() -> Iterator[JavaProgram]:
    """Those of 4.4."""
    with kafkas_later_streams(LATER) as program:
        yield program


class Group:
    """A group of which the topology, the members, their offsets and the number of standby tasks change."""

    def __init__(self, seed: int, most_members: int = 4, most_tasks: int = 12, *, is_later: bool = False) -> None:
        self._chance = random.Random(seed)
        self._most_members = most_members
        self._most_tasks = most_tasks
        self._is_later = is_later
        self._processes = [str(Uuid(self._chance.randbytes(16))) for _ in range(self._chance.randint(1, 6))]
        self.members: dict[str, MemberSpec] = {}
        self.subtopologies: dict[str, AskedSubtopology] = {}
        self.replicas = self._chance.choice((0, 1, 1, 2, 3))

    def change(self) -> None:
        """Let members come and go, and subtopologies come, go and grow."""
        chance = self._chance
        for member_id in [each for each in self.members if chance.random() < 0.2]:
            del self.members[member_id]
        for _ in range(chance.randint(0, self._most_members) or not self.members):
            self.members[self._new_id()] = MemberSpec(chance.choice(self._processes))
        if chance.random() < 0.2:
            self._processes.append(str(Uuid(chance.randbytes(16))))
        for _ in range(chance.randint(0, 2) or not self.subtopologies):
            subtopology = AskedSubtopology(chance.randint(1, self._most_tasks), chance.random() < 0.6)
            self.subtopologies[str(chance.randint(0, 11))] = subtopology
        if len(self.subtopologies) > 1 and chance.random() < 0.1:
            del self.subtopologies[chance.choice([*self.subtopologies])]
        if chance.random() < 0.1:
            self.replicas = chance.randint(0, 3)
        if chance.random() < 0.2:
            self._confuse()
        if self._is_later:
            self._report()

    def _report(self) -> None:
        """Let members have copies of tasks, some as far as others."""
        chance = self._chance
        for member_id in [each for each in self.members if chance.random() < 0.5]:
            tasks = [(chance.choice([*self.subtopologies]), chance.randint(0, 12)) for _ in range(chance.randint(0, 6))]
            offsets = {task: chance.choice((0, 0, 5, 7, 1 << 40)) for task in tasks}
            self.members[member_id] = self.members[member_id]._replace(offsets=offsets)

    def _new_id(self) -> str:
        """An id; some have the hash of others, so that their order is that in which they came."""
        return self._chance.choice(SAME_HASH) if self._chance.random() < 0.2 else str(Uuid(self._chance.randbytes(16)))

    def _confuse(self) -> None:
        """Let a member have had what another one has, as after a change that did not come to its end."""
        one, other = self._chance.choice([*self.members]), self._chance.choice([*self.members])
        had = self.members[other].previous
        self.members[one] = self.members[one]._replace(previous=Tasks(had.standby, had.active, {}))

    def question(self) -> Assign:
        """The group for Kafka."""
        members = {
            member_id: AskedMember(
                each.process_id, each.previous, [(*task, offset) for task, offset in each.offsets.items()]
            )
            for member_id, each in self.members.items()
        }
        return Assign(members, self.subtopologies, self.replicas)

    def assign(self) -> dict[str, Tasks]:
        """What members shall have now, which they have had in the next round."""
        in_order = {member_id: self.members[member_id] for member_id in hash_order(self.members, java_hash)}
        found = dict(assigned_tasks(in_order, self.subtopologies, self.replicas, is_later=self._is_later))
        self.members = {
            member_id: each._replace(previous=found.get(member_id, NO_TASKS))
            for member_id, each in self.members.items()
        }
        return found


def test_tasks_are_those_that_kafka_gives(kafka: JavaProgram) -> None:
    groups = [Group(seed) for seed in range(GROUPS)]
    _compare(kafka, groups)
    assert sum(any(each.previous.standby for each in group.members.values()) for group in groups) > GROUPS / 3


def test_tasks_of_hundreds_of_members_are_those_that_kafka_gives(kafka: JavaProgram) -> None:
    _compare(kafka, [Group(seed, 150, 400) for seed in range(LARGE_GROUPS)])


def test_tasks_are_those_that_kafka_4_4_gives(later_kafka: JavaProgram) -> None:
    _compare(later_kafka, [Group(seed, is_later=True) for seed in range(GROUPS)])


def test_tasks_of_hundreds_of_members_are_those_that_kafka_4_4_gives(later_kafka: JavaProgram) -> None:
    _compare(later_kafka, [Group(seed, 150, 400, is_later=True) for seed in range(LARGE_GROUPS)])


def _compare(kafka: JavaProgram, groups: Sequence[Group]) -> None:
    for _ in range(ROUNDS):
        for group in groups:
            group.change()
        answers = kafka.ask([group.question() for group in groups])
        for group, line in zip(groups, answers, strict=True):
            question = group.question()
            assert group.assign() == msgspec.json.decode(line, type=dict[str, Tasks]), question
