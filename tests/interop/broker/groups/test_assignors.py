"""The assignors compute the assignments that Apache Kafka's classes compute, in several rounds of changes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
import pytest
from tests.apache_kafka.java_program import JavaProgram
from tests.interop.broker.groups.kafkas_coordinator import AskedMember, AskedTopic, Assign, kafkas_coordinator
from tests.unit.broker.groups.assignors.test_uniform_heterogeneous import chain

from kafkawire.broker.groups.assignors.assignment import (
    NOTHING,
    Assignment,
    GroupSpec,
    MemberSpec,
    normalized,
)
from kafkawire.broker.groups.assignors.range_assignor import assign_by_range
from kafkawire.broker.groups.assignors.simple_assignor import assign_simply
from kafkawire.broker.groups.assignors.uniform_assignor import assign_uniformly
from kafkawire.layout.uuid import Uuid
from kafkawire.model.java_order import hash_order, java_hash, set_order

pytestmark = pytest.mark.interop

GROUPS = 60
ROUNDS = 6
LARGE_GROUPS = 6
ASSIGNORS = {"range": assign_by_range, "uniform": assign_uniformly, "simple": assign_simply}


@pytest.fixture(scope="module")
def kafka() -> Iterator[JavaProgram]:
    """Kafka's classes."""
    with kafkas_coordinator() as program:
        yield program


@dataclass
class Group:
    """A group of which topics, members and subscriptions change.

    A share group has partitions that are not assignable yet.
    """

    chance: random.Random
    homogeneous: bool
    is_shared: bool = False
    topics: dict[str, tuple[Uuid, int]] = field(default_factory=dict)
    members: dict[str, tuple[str | None, tuple[str, ...]]] = field(default_factory=dict)
    targets: dict[str, Assignment] = field(default_factory=dict)
    assignable: dict[Uuid, frozenset[int]] = field(default_factory=dict)

    def change(self) -> None:
        """Let topics come and grow, and members come, go and subscribe otherwise."""
        chance = self.chance
        for _ in range(chance.randint(0, 3)):
            name = f"topic-{chance.randint(0, 8)}"
            uuid, partitions = self.topics.get(name, (Uuid(chance.randbytes(16)), 0))
            self.topics[name] = (uuid, partitions + chance.choice([1, 2, 5, 20]))
        if self.topics and chance.random() < 0.2:
            del self.topics[chance.choice([*self.topics])]
        for _ in range(chance.randint(0, 4)):
            instance = f"instance-{chance.randint(0, 99)}" if chance.random() < 0.3 else None
            if instance not in {static for static, _ in self.members.values() if static is not None}:
                self.members[str(Uuid(chance.randbytes(16)))] = (instance, ())
        for member_id in [each for each in self.members if chance.random() < 0.2]:
            del self.members[member_id]
            self.targets.pop(member_id, None)
        for uuid, count in self.topics.values():
            if self.chance.random() < 0.8:
                more = frozenset(each for each in range(count) if self.chance.random() < 0.9)
                self.assignable[uuid] = self.assignable.get(uuid, frozenset()) | more
        common = self.subscription()
        for member_id, (instance, names) in self.members.items():
            if self.homogeneous:
                self.members[member_id] = (instance, common)
            elif not names or chance.random() < 0.2:
                self.members[member_id] = (instance, self.subscription())

    def grow(self) -> None:
        """Give a topic several partitions for each member."""
        if self.topics:
            name = self.chance.choice([*self.topics])
            uuid, partitions = self.topics[name]
            self.topics[name] = (uuid, partitions + self.chance.randint(1, 3) * len(self.members))

    def subscription(self) -> tuple[str, ...]:
        names = [*self.topics, "missing"]
        return tuple(self.chance.sample(names, self.chance.randint(1, len(names))))

    def spec(self) -> GroupSpec:
        """The group as the coordinator gives it to an assignor."""
        members = {}
        for member_id in hash_order(self.members, java_hash):
            instance, names = self.members[member_id]
            ids = tuple(self.topics[name][0] for name in set_order(names, java_hash) if name in self.topics)
            members[member_id] = MemberSpec(instance, ids, len(names), self.targets.get(member_id, NOTHING))
        assigned: dict[Uuid, set[int]] = {}
        for target in self.targets.values():
            for topic, partitions in target.items():
                assigned.setdefault(topic, set()).update(partitions)
        frozen = {topic: frozenset(partitions) for topic, partitions in assigned.items()}
        assignable = self.assignable if self.is_shared else None
        return GroupSpec(members, dict(self.topics.values()), self.homogeneous, frozen, assignable)

    def question(self, assignor: str) -> Assign:
        """The same for Kafka."""
        topics = tuple(AskedTopic(name, str(uuid), partitions) for name, (uuid, partitions) in self.topics.items())
        members = tuple(
            AskedMember(
                member_id,
                instance,
                names,
                tuple((str(topic), each) for topic, each in self.targets.get(member_id, NOTHING).items()),
            )
            for member_id, (instance, names) in self.members.items()
        )
        assignable = tuple((str(topic), (*each,)) for topic, each in self.assignable.items())
        return Assign(assignor, self.homogeneous, topics, members, assignable if self.is_shared else None)


@pytest.mark.parametrize("homogeneous", [True, False], ids=["equal subscriptions", "different subscriptions"])
@pytest.mark.parametrize("assignor", ["range", "uniform", "simple"])
def test_assignments_are_those_of_kafka(kafka: JavaProgram, assignor: str, homogeneous: bool) -> None:
    groups = [Group(random.Random(seed), homogeneous, assignor == "simple") for seed in range(GROUPS)]
    for _ in range(ROUNDS):
        for group in groups:
            group.change()
        _compare(kafka, assignor, groups)


@pytest.mark.parametrize("assignor", ["range", "uniform", "simple"])
def test_assignments_of_hundreds_of_members_are_those_of_kafka(kafka: JavaProgram, assignor: str) -> None:
    groups = [Group(random.Random(seed), seed % 2 == 0, assignor == "simple") for seed in range(LARGE_GROUPS)]
    for group in groups:
        group.members = {
            str(Uuid(group.chance.randbytes(16))): (None, ()) for _ in range(group.chance.randint(260, 400))
        }
    for _ in range(ROUNDS):
        for group in groups:
            group.change()
            group.grow()
        _compare(kafka, assignor, groups)


def test_assignments_of_tables_with_more_than_sixteen_bits_are_those_of_kafka(kafka: JavaProgram) -> None:
    """The order of partitions depends on the upper half of their hashes there."""
    group = Group(random.Random(4), homogeneous=True, is_shared=True)
    for name in ("first", "second"):
        group.topics[name] = uuid, count = Uuid(group.chance.randbytes(16)), 30_000
        group.assignable[uuid] = frozenset(range(count))
    group.members = {f"member-{number}": (None, ("first", "second")) for number in range(3)}
    _compare(kafka, "simple", [group])


@pytest.mark.parametrize("links", [15, 16, 17, 20])
def test_partitions_move_for_as_many_rounds_as_those_of_kafka(kafka: JavaProgram, links: int) -> None:
    spec = chain(links)
    names = {topic: str(topic) for topic in spec.partitions}
    group = Group(random.Random(0), homogeneous=False)
    group.topics = {names[topic]: (topic, count) for topic, count in spec.partitions.items()}
    group.members = {
        member_id: (None, tuple(names[topic] for topic in member.topics)) for member_id, member in spec.members.items()
    }
    group.targets = {member_id: normalized(member.target.items()) for member_id, member in spec.members.items()}
    _compare(kafka, "uniform", [group])


def _compare(kafka: JavaProgram, assignor: str, groups: Sequence[Group]) -> None:
    """Compare an assignment of each group, which is the target of its members then."""
    answers = kafka.ask([group.question(assignor) for group in groups])
    for group, line in zip(groups, answers, strict=True):
        answer = msgspec.json.decode(line, type=dict[str, list[tuple[str, list[int]]]])
        expected = {
            member_id: normalized((Uuid.from_text(topic), partitions) for topic, partitions in given)
            for member_id, given in answer.items()
        }
        found = ASSIGNORS[assignor](group.spec())
        assert found == expected
        assert _ordered(found) == _ordered(expected)
        group.targets = {member_id: target for member_id, target in found.items() if member_id in group.members}


def _ordered(targets: object) -> object:
    """With the order of topics, which the next assignment depends on."""
    assert isinstance(targets, dict)
    return {member_id: [*target.items()] for member_id, target in targets.items()}
