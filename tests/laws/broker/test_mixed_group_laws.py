"""Laws of groups whose members use both protocols, whatever they do and when; the group changes its kind meanwhile."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from tests.embedded.driven_mixed_groups import ClassicClient, DrivenMixedGroups, Partition
from tests.embedded.streams_members import joining
from tests.laws.broker.test_consumer_group_laws import check_group

from kafkawire.broker.groups.classic.states import State
from kafkawire.broker.groups.consumer.group_state import ConsumerGroupState
from kafkawire.broker.groups.consumer.states import GroupState
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    StreamsGroupHeartbeatRequest,
)
from kafkawire.protocol.error_codes import ErrorCode

SEEDS = int(os.environ.get("KAFKAWIRE_GROUP_SEEDS", "40"))
FIRST_SEED = int(os.environ.get("KAFKAWIRE_GROUP_FIRST_SEED", "0"))
STEPS = 60
ROUNDS = 120
NAMES = ("a", "b", "c")
OWNED = ConsumerGroupHeartbeatRequest.TopicPartitions
CLASSIC_ERRORS = {
    ErrorCode.NONE,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.UNKNOWN_MEMBER_ID,
}
CONSUMER_ERRORS = {
    ErrorCode.NONE,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.UNRELEASED_INSTANCE_ID,
}
FATAL = {
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.GROUP_ID_NOT_FOUND,  # the group has become a classic one without it
    ErrorCode.UNKNOWN_SERVER_ERROR,  # a classic group without a generation is not converted
    ErrorCode.UNRELEASED_INSTANCE_ID,
}
GONE = {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID}


class NewClient:
    """A client with the consumer protocol."""

    def __init__(self, groups: DrivenMixedGroups, member_id: str, *topics: str, instance_id: str | None = None) -> None:
        self._groups = groups
        self.member_id, self.instance_id, self.topics = member_id, instance_id, topics
        self.epoch = 0
        self.owned: set[Partition] = set()
        self.error = ErrorCode.NONE

    async def step(self) -> None:
        own: dict[str, list[int]] = {}
        for topic, partition in sorted(self.owned):
            own.setdefault(topic, []).append(partition)
        ids = self._groups.topics.id_of
        reported = tuple(OWNED(topic_id, tuple(each)) for name, each in own.items() if (topic_id := ids(name)))
        request = ConsumerGroupHeartbeatRequest("g", self.member_id, self.epoch, self.instance_id)
        request = replace(request, topic_partitions=reported)
        if not self.epoch:
            request = replace(request, rebalance_timeout_ms=20_000, subscribed_topic_names=self.topics)
        self._take(await self._groups.send(request))

    async def leave(self) -> None:
        await self._groups.send(ConsumerGroupHeartbeatRequest("g", self.member_id, -1, self.instance_id))
        self.epoch, self.owned = 0, set()

    def _take(self, answer: ConsumerGroupHeartbeatResponse) -> None:
        self.error = ErrorCode(answer.error_code)
        if self.error in GONE:
            self.epoch, self.owned = 0, set()
        if self.error:
            return
        self.epoch = answer.member_epoch
        if answer.assignment is not None:
            named = ((self._groups.topics.name_of(each.topic_id), each) for each in answer.assignment.topic_partitions)
            self.owned = {(name, number) for name, each in named if name is not None for number in each.partitions}


class Life:
    """What happens to a group, from a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.groups = DrivenMixedGroups(
            group_consumer_assignment_interval_ms=self.chance.choice(["0", "1000"]),
            group_initial_rebalance_delay_ms=self.chance.choice(["0", "500"]),
            group_consumer_migration_policy="bidirectional",
        )
        self.old: list[ClassicClient] = []
        self.new: list[NewClient] = []
        self.kinds: list[str] = []
        self.overlooked: dict[ClassicClient, int] = {}
        self.generation = 0
        for name in NAMES:
            self.groups.create(name, self.chance.randint(1, 4))

    @property
    def clients(self) -> list[ClassicClient | NewClient]:
        return [*self.old, *self.new]

    async def happen(self) -> None:
        """One thing happens."""
        acts = {
            self.old_arrives: 3,
            self.new_arrives: 2,
            self.one_steps: 20,
            self.all_step: 6,
            self.one_leaves: 3,
            self.one_vanishes: 1,
            self.lose_an_answer: 1,
            self.grow: 1,
            self.wait: 3,
            self.streamer_passes: 1,
            self.restart: 1,
        }
        await self.chance.choices([*acts], [*acts.values()])[0]()

    async def old_arrives(self) -> None:
        if len(self.old) < 4:
            instance_id = self.chance.choice([None, None, "one", "two"])
            client = ClassicClient(
                self.groups, *self.names(), cooperative=self.chance.random() < 0.5, instance_id=instance_id
            )
            self.old.append(client)
            await client.step()

    async def new_arrives(self) -> None:
        if len(self.new) < 3:
            instance_id = self.chance.choice([None, None, "one", "two"])
            client = NewClient(self.groups, f"m{self.chance.randint(0, 10**9)}", *self.names(), instance_id=instance_id)
            self.new.append(client)
            await self.step(client)

    async def one_steps(self) -> None:
        if clients := self.clients:
            client = self.chance.choice(clients)
            await self.step(client)
            self.give_up(client)

    async def all_step(self) -> None:
        for client in self.clients:
            await self.step(client)
            self.give_up(client)

    async def step(self, client: ClassicClient | NewClient) -> None:
        """Let a client go on, and remember of which generation a classic group is that may become a consumer group."""
        if classic := self.groups.classic_group:
            self.generation = classic.generation
        await client.step()

    async def one_leaves(self) -> None:
        if clients := self.clients:
            client = self.chance.choice(clients)
            self.remove(client)
            await client.leave()

    async def one_vanishes(self) -> None:
        """A client is gone without a word; the broker learns of it by its session."""
        if clients := self.clients:
            client = self.chance.choice(clients)
            self.remove(client)
            if isinstance(client, ClassicClient):
                client.forget()
            await self.groups.wait(46.0)

    async def streamer_passes(self) -> None:
        """An instance of a Kafka Streams application comes and goes; it gets in if the group is no other one's."""
        group, classic = self.groups.consumer_group, self.groups.classic_group
        is_taken = group is not None or (classic is not None and classic.state is not State.EMPTY)
        error = await self.groups.send_as_streamer(joining("s"))
        assert bool(error) == is_taken, error
        if error:
            assert error is ErrorCode.GROUP_ID_NOT_FOUND
            return
        self.check()
        assert self.kinds[-1] == "streams"
        assert not await self.groups.send_as_streamer(StreamsGroupHeartbeatRequest("g", "s", -1))

    async def lose_an_answer(self) -> None:
        if self.old:
            await self.chance.choice(self.old).lose_connection()

    async def grow(self) -> None:
        name = self.chance.choice(NAMES)
        self.groups.create(name, len(self.groups.partitions_of([name])) + 1)

    async def wait(self) -> None:
        await self.groups.wait(self.chance.choice([0.5, 1.0, 3.0]))

    async def restart(self) -> None:
        """The broker comes back with its records: the group is of the same kind, with the same members."""
        before = self.groups.consumer_group
        for client in self.old:
            await client.lose_connection()
        await self.groups.restart()
        after = self.groups.consumer_group
        assert (before is None) == (after is None)
        if before is not None and after is not None:
            assert [*after.state.members.items()] == [*before.state.members.items()]
            assert (after.state.epoch, after.state.targets) == (before.state.epoch, before.state.targets)

    def names(self) -> tuple[str, ...]:
        return tuple(self.chance.sample(NAMES, self.chance.randint(1, 3)))

    def remove(self, client: ClassicClient | NewClient) -> None:
        if isinstance(client, ClassicClient):
            self.old.remove(client)
        else:
            self.new.remove(client)

    def give_up(self, client: ClassicClient | NewClient) -> None:
        """A client is closed after such an error, for example if another has its instance id."""
        if client.error in FATAL:
            if isinstance(client, ClassicClient):
                client.forget()
            self.remove(client)

    def check(self) -> None:
        """What always holds."""
        assert {client.error for client in self.old} <= CLASSIC_ERRORS
        assert {client.error for client in self.new} <= CONSUMER_ERRORS
        group, classic = self.groups.consumer_group, self.groups.classic_group
        found = {"consumer": group, "classic": classic, "streams": self.groups.streams_group}
        kind, *others = [name for name, each in found.items() if each is not None] or ["none"]
        assert not others, "a group is of one kind"
        if self.kinds[-1:] != [kind]:
            self.kinds.append(kind)
            self.overlooked = {} if group is None else dict(self.owners_without_assignment(group.state))
        if group is not None:
            check_group(group)
            state = group.state
            assert not state.members or any(each.classic is None for each in state.members.values())
            self.check_readers(self.readers(state))
        if classic is not None:
            are_members = [each for each in self.old if each.generation == classic.generation]
            self.check_readers([each for each in are_members if each.member_id in classic.roster.members])

    def owners_without_assignment(self, state: ConsumerGroupState) -> Iterator[tuple[ClassicClient, int]]:
        """Clients that keep partitions while the classic group has no assignments, with how many they have got.

        A rebalance that follows another before its end forgets what members have. As with Apache Kafka the consumer
        group does not know either, until the client has joined again and got another assignment.
        """
        for client in self.old:
            member = state.members.get(client.member_id)
            if member is not None and member.classic is not None and not member.assigned and client.owned:
                yield client, client.assignments

    def readers(self, state: ConsumerGroupState) -> list[ClassicClient | NewClient]:
        """The clients that are members and have the epoch of the member, or the one before."""
        found: list[ClassicClient | NewClient] = []
        for client in self.clients:
            member = state.members.get(client.member_id)
            epoch = client.generation if isinstance(client, ClassicClient) else client.epoch
            is_overlooked = isinstance(client, ClassicClient) and self.overlooked.get(client) == client.assignments
            if member is not None and epoch in {member.epoch, member.previous_epoch} and not is_overlooked:
                found.append(client)
        return found

    def check_readers(self, clients: list[ClassicClient | NewClient]) -> None:
        """No two clients that are members read a partition at once."""
        readers: dict[Partition, str] = {}
        for client in clients:
            for partition in client.owned:
                assert readers.setdefault(partition, client.member_id) == client.member_id, partition

    async def converge(self) -> None:
        """When all behave, all partitions of subscribed topics are read."""
        for number in range(ROUNDS):
            for client in self.old if number % 20 == 0 else ():  # as leaders do that find other topics
                client.must_join = True
            if number % 30 == 29:
                self.let_topics_change()
            await self.all_step()
            await self.groups.wait(0.9)
            self.check()
            if self.is_there():
                return
        states = [(each.member_id, each.generation, each.error, each.owned) for each in self.old]
        raise AssertionError(f"{self.kinds} {states} {[(each.epoch, each.error, each.owned) for each in self.new]}")

    def let_topics_change(self) -> None:
        """A group that has only changed its kind has what the classic group had assigned, until something changes.

        So it is with Apache Kafka: if a consumer takes the place of a static member, nothing else changes, and
        partitions without an owner stay so.
        """
        group = self.groups.consumer_group
        if group is not None and group.state.epoch == self.generation:
            for name in sorted(group.state.subscribed):
                self.groups.create(name, len(self.groups.partitions_of([name])) + 1)

    def is_there(self) -> bool:
        clients = self.clients
        wanted = self.groups.partitions_of({name for client in clients for name in client.topics})
        owned = [partition for client in clients for partition in client.owned]
        group, classic = self.groups.consumer_group, self.groups.classic_group
        if group is not None and group.state.state not in {GroupState.STABLE, GroupState.EMPTY}:
            return False
        if classic is not None and classic.state not in {State.STABLE, State.EMPTY}:
            return False
        count = len(group.state.members) if group is not None else len(classic.roster.members) if classic else 0
        return count == len(clients) and len(owned) == len({*owned}) and {*owned} >= wanted


@pytest.mark.parametrize("part", range(4))
async def test_members_of_both_protocols_never_share_and_always_converge(part: int) -> None:
    """``KAFKAWIRE_GROUP_SEEDS`` says how many groups live, ``KAFKAWIRE_GROUP_FIRST_SEED`` with which they begin."""
    kinds: set[str] = set()
    for seed in range(FIRST_SEED + part, FIRST_SEED + SEEDS, 4):
        life = Life(seed)
        try:
            for _ in range(STEPS):
                await life.happen()
                life.check()
            await life.restart()
            await life.converge()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        finally:
            for client in life.old:
                client.forget()
            await life.groups.close()
        kinds.update(f"{one} to {other}" for one, other in zip(life.kinds, life.kinds[1:], strict=False))
    assert kinds >= {"classic to consumer", "consumer to classic", "streams to classic"}
