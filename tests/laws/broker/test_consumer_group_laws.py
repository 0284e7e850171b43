"""Laws of consumer groups, whatever their members do and when: slow and hostile ones, static ones, and restarts."""

from __future__ import annotations

import os
import random

import pytest
from msgspec.structs import replace
from tests.embedded.driven_consumer_group import DrivenConsumer, DrivenConsumerGroup

from kafkawire.broker.groups.consumer.group import ConsumerGroup
from kafkawire.broker.groups.consumer.member import LEFT, LEFT_FOR_A_WHILE
from kafkawire.broker.groups.consumer.states import GroupState, MemberState
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol.error_codes import ErrorCode

SEEDS = int(os.environ.get("KAFKAWIRE_GROUP_SEEDS", "150"))
FIRST_SEED = int(os.environ.get("KAFKAWIRE_GROUP_FIRST_SEED", "0"))
STEPS = 40
ROUNDS = 120
NAMES = ("a", "b", "c")
EXPECTED = {
    ErrorCode.NONE,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.GROUP_MAX_SIZE_REACHED,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.UNRELEASED_INSTANCE_ID,
}


class Life:
    """What happens to a group, from a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.driven = DrivenConsumerGroup(
            group_consumer_max_size="5", group_consumer_assignment_interval_ms=self.chance.choice(["0", "1000"])
        )
        self.consumers: list[DrivenConsumer] = []
        self.epoch = 0
        for name in NAMES[: self.chance.randint(1, 3)]:
            self.driven.create(name, self.chance.randint(1, 6))

    def happen(self) -> None:
        """One thing happens."""
        acts = {
            self.arrive: 3,
            self.beat: 12,
            self.all_beat: 2,
            self.leave: 1,
            self.vanish: 1,
            self.subscribe_otherwise: 1,
            self.misbehave: 2,
            self.lose_an_answer: 2,
            self.change_topics: 2,
            self.wait: 2,
            self.restart: 1,
        }
        self.chance.choices([*acts], [*acts.values()])[0]()

    def arrive(self) -> None:
        instance_id = self.chance.choice([None, None, "one", "two"])
        consumer = DrivenConsumer(
            self.driven,
            f"m{self.chance.randint(0, 10**9)}",
            *self.names(),
            instance_id=instance_id,
            assignor=self.chance.choice([None, "uniform", "range"]),
            rebalance_ms=self.chance.choice([1_000, 30_000]),
        )
        consumer.join()
        self.check_error(consumer)
        if not consumer.error:
            self.consumers.append(consumer)

    def beat(self) -> None:
        if self.consumers:
            consumer = self.chance.choice(self.consumers)
            consumer.beat()
            self.check_error(consumer)

    def all_beat(self) -> None:
        for consumer in [*self.consumers]:
            consumer.beat()
            self.check_error(consumer)

    def leave(self) -> None:
        if self.consumers:
            gone = self.consumers.pop(self.chance.randrange(len(self.consumers)))
            for_a_while = gone.instance_id is not None and self.chance.random() < 0.7
            gone.leave(LEFT_FOR_A_WHILE if for_a_while else LEFT)

    def vanish(self) -> None:
        """A client is gone without a word; the broker learns of it by its session."""
        if self.consumers:
            self.consumers.pop(self.chance.randrange(len(self.consumers)))
            self.driven.wait(46.0)

    def subscribe_otherwise(self) -> None:
        if self.consumers:
            consumer = self.chance.choice(self.consumers)
            consumer.topics = self.names()
            if consumer.epoch > 0:
                consumer.take(self.driven.send(consumer.full()))
                self.check_error(consumer)

    def misbehave(self) -> None:
        """A heartbeat of another epoch, of another member, or with partitions of others."""
        if self.consumers:
            consumer = self.chance.choice(self.consumers)
            request = consumer.full()
            match self.chance.randint(0, 3):
                case 0:
                    request = replace(request, member_epoch=max(consumer.epoch + self.chance.choice([-2, -1, 1, 2]), 1))
                case 1:
                    request = replace(request, member_id="stranger")
                case 2:
                    request = replace(request, instance_id="unknown", member_epoch=max(consumer.epoch, 1))
                case 3:
                    other = self.chance.choice(self.consumers)
                    reported = (*consumer.reported(), *other.reported())
                    request = replace(request, member_epoch=max(consumer.epoch, 1), topic_partitions=reported)
            answer = self.driven.send(
                replace(request, subscribed_topic_names=None, member_epoch=request.member_epoch or 1)
            )
            assert ErrorCode(answer.error_code) in EXPECTED

    def lose_an_answer(self) -> None:
        """The request arrives and the answer does not: the client sends the same again."""
        if self.consumers:
            consumer = self.chance.choice(self.consumers)
            if consumer.epoch > 0:
                self.driven.send(replace(consumer.short(), topic_partitions=consumer.reported()))
                consumer.take(self.driven.send(consumer.full()))
                self.check_error(consumer)

    def change_topics(self) -> None:
        name = self.chance.choice(NAMES)
        topic = self.driven.image.by_name.get(name)
        if topic is not None and self.chance.random() < 0.3:
            self.driven.delete(name)
        else:
            self.driven.create(name, (len(topic.partitions) if topic is not None else 0) + self.chance.randint(1, 3))

    def wait(self) -> None:
        self.driven.wait(self.chance.choice([0.5, 1.0, 2.0, 20.0]))

    def restart(self) -> None:
        """The broker comes back with its records, which say all."""
        before, made = self.driven.state, self.driven.made().state
        assert (made.epoch, made.assignment_epoch, made.metadata_hash) == (
            before.epoch,
            before.assignment_epoch,
            before.metadata_hash,
        )
        assert [*made.members.items()] == [*before.members.items()]
        assert made.targets == before.targets
        assert made.static_ids == before.static_ids
        assert (made.state, made.is_homogeneous) == (before.state, before.is_homogeneous)
        assert {*made.subscribed} == {*before.subscribed}
        self.driven.restart()

    def names(self) -> tuple[str, ...]:
        return tuple(self.chance.sample(NAMES, self.chance.randint(1, 3)))

    def check_error(self, consumer: DrivenConsumer) -> None:
        """A client gives up if the group is full, or if another has its instance id."""
        assert consumer.error in EXPECTED
        rivals = [each for each in self.consumers if each.instance_id == consumer.instance_id and each is not consumer]
        is_taken = consumer.error in {ErrorCode.UNRELEASED_INSTANCE_ID, ErrorCode.FENCED_INSTANCE_ID} and bool(rivals)
        if consumer in self.consumers and (is_taken or consumer.error is ErrorCode.GROUP_MAX_SIZE_REACHED):
            self.consumers.remove(consumer)

    def check(self) -> None:
        """What always holds."""
        state = self.driven.state
        assert state.epoch >= self.epoch
        self.epoch = state.epoch
        check_group(self.driven.group)
        self.check_what_clients_read()

    def check_what_clients_read(self) -> None:
        """No two clients that are members read a partition at once."""
        readers: dict[tuple[Uuid, int], str] = {}
        for consumer in self.consumers:
            member = self.driven.state.members.get(consumer.member_id)
            if member is None or consumer.epoch not in {member.epoch, member.previous_epoch}:
                continue
            for partition in consumer.owned:
                assert readers.setdefault(partition, consumer.member_id) == consumer.member_id

    def converge(self) -> None:
        """When all behave, each comes to its target, and all partitions of subscribed topics are read."""
        rounds = 0
        for consumer in self.consumers:  # as clients do after an answer was lost
            if consumer.epoch > 0:
                consumer.take(self.driven.send(consumer.full()))
        while not self.is_there() and rounds < ROUNDS:
            self.all_beat()
            self.driven.wait(0.9)
            self.check()
            rounds += 1
        assert self.is_there(), (
            f"{rounds} rounds: {[(each.member_id, each.epoch, each.error) for each in self.consumers]}"
        )
        state = self.driven.state
        if not state.members:
            return
        wanted = {
            (topic.topic_id, partition)
            for name, topic in self.driven.image.by_name.items()
            if name in state.subscribed
            for partition in topic.partitions
        }
        owned = {partition for consumer in self.consumers for partition in consumer.owned}
        assert owned == wanted

    def is_there(self) -> bool:
        state = self.driven.state
        known = {consumer.member_id for consumer in self.consumers if consumer.epoch > 0}
        are_all_known = state.members.keys() == known and len(known) == len(self.consumers)
        is_new = state.metadata_hash == self.driven.topics.hash_of(state.subscribed)
        return are_all_known and is_new and state.state in {GroupState.STABLE, GroupState.EMPTY}


def check_group(group: ConsumerGroup) -> None:
    """What always holds of a consumer group."""
    state = group.state
    assert state.assignment_epoch <= state.epoch
    owners: dict[tuple[Uuid, int], str] = {}
    for member in state.members.values():
        for owned in (member.assigned, member.revoking):
            for topic, partitions in owned.items():
                for partition in partitions:
                    assert owners.setdefault((topic, partition), member.member_id) == member.member_id
                    assert state.owner(topic, partition) == member.member_id
        assert member.epoch <= state.epoch
        assert bool(member.revoking) == (member.state is MemberState.UNREVOKED_PARTITIONS) or member.epoch < 0
        assert member.member_id in state.targets or state.assignment_epoch < state.epoch or not member.topics
    given = [(topic, each) for target in state.targets.values() for topic, all_ in target.items() for each in all_]
    assert len(given) == len(set(given)), "a partition is the target of one member"
    assert state.targets.keys() <= state.members.keys()
    assert group.size == sum(member.size for member in state.members.values())
    assert len(group.timers) <= 3 * len(state.members)


@pytest.mark.parametrize("part", range(10))
def test_members_never_share_and_always_converge(part: int) -> None:
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
