"""Laws of classic groups, whatever their members do and when: hostile and slow ones, static ones, and restarts."""

from __future__ import annotations

import itertools
import os
from collections import Counter, defaultdict
from dataclasses import dataclass

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kafkawire.broker.groups import timers
from kafkawire.broker.groups.classic.group import ClassicGroup, Joining
from kafkawire.broker.groups.classic.settings import NEW_MEMBER_TIMEOUT, GroupSettings
from kafkawire.broker.groups.classic.states import State
from kafkawire.broker.groups.timers import Now
from kafkawire.protocol import (
    GroupMetadataValue,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

SEEDS = int(os.environ.get("KAFKAWIRE_GROUP_SEEDS", "60"))
"""How many groups live; ``--hypothesis-seed`` says with which they begin."""

PARTITIONS = 5
PROTOCOLS = st.permutations(["range", "roundrobin", "sticky"]).flatmap(
    lambda names: st.integers(1, 3).map(lambda count: tuple(names[:count]))
)
SETTINGS = GroupSettings(initial_delay_ms=3000, most_members=4, most_pending=3)
SESSION = 10
CHOICE = st.integers(0, 5)
EXPECTED = {
    ErrorCode.NONE,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
}


@dataclass(eq=False)
class Client:
    """A client as it sees itself.

    Attributes:
        instance_id: of a static member.
        version: of its requests to join.
        protocols: the names of those that it supports, the preferred first.
        rebalance: seconds that it has to join again.
        member_id, generation: as the last answer said.
        others: the members that it is to assign partitions to, as the leader.
        wants: what it does next.
    """

    instance_id: str | None
    version: int
    protocols: tuple[str, ...]
    rebalance: int
    member_id: str = ""
    generation: int = -1
    others: tuple[str, ...] = ()
    wants: str = "join"


class GroupMachine(RuleBasedStateMachine):
    """A group, its clients, and the requests that wait."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0
        self.tickets = itertools.count()
        self.ids = itertools.count()
        self.clients = [Client(name, 9, ("range",), 20) for name in (None, None, "one")]
        self.waiting: dict[int, Client] = {}
        self.asked: dict[int, int] = {}
        self.value: GroupMetadataValue | None = None
        self.generation = 0
        self.owners: dict[tuple[int, int], set[str]] = defaultdict(set)
        self.signs: dict[str, float] = {}
        self.group = self.made()

    @property
    def now(self) -> Now:
        return Now(self.seconds, int(self.seconds * 1000))

    def made(self) -> ClassicGroup:
        return ClassicGroup("g", self.value, SETTINGS, self.now, lambda: str(next(self.ids)))

    @rule(
        instance_id=st.sampled_from([None, None, None, "one", "two"]),
        version=st.sampled_from([0, 3, 4, 5, 9]),
        protocols=PROTOCOLS,
        rebalance=st.integers(1, 40),
    )
    def arrive(self, instance_id: str | None, version: int, protocols: tuple[str, ...], rebalance: int) -> None:
        self.clients.append(Client(instance_id, version, protocols, rebalance))

    @rule(first=CHOICE, count=st.integers(1, 6))
    def go_on(self, first: int, count: int) -> None:
        """Some clients do what they want next, if they wait for no answer."""
        for client in (self.clients + self.clients)[first % (len(self.clients) + 1) :][:count]:
            if client not in self.waiting.values():
                {"join": self.join, "sync": self.sync, "beat": self.beat}[client.wants](client)

    @rule(rounds=st.integers(1, 8))
    def behave(self, rounds: int) -> None:
        """All clients do what they want, for some seconds."""
        for _ in range(rounds):
            self.go_on(0, len(self.clients))
            self.wait(1.0)

    @precondition(lambda self: self.clients)
    @rule(number=CHOICE, act=st.sampled_from(["join", "sync", "beat"]), generation=st.sampled_from([-1, 0, 0, 0, 1]))
    def misbehave(self, number: int, act: str, generation: int) -> None:
        """A client sends something else than it wants, or twice, or of another generation."""
        client = self.clients[number % len(self.clients)]
        client.generation += generation
        {"join": self.join, "sync": self.sync, "beat": self.beat}[act](client)

    @precondition(lambda self: self.clients)
    @rule(number=CHOICE, protocols=PROTOCOLS)
    def subscribe_otherwise(self, number: int, protocols: tuple[str, ...]) -> None:
        client = self.clients[number % len(self.clients)]
        client.protocols, client.wants = protocols, "join"

    @precondition(lambda self: self.clients)
    @rule(number=CHOICE, is_back=st.booleans())
    def lose_memory(self, number: int, is_back: bool) -> None:
        """A client is gone without a word, and may start again."""
        gone = self.clients.pop(number % len(self.clients))
        if is_back:
            self.arrive(gone.instance_id, gone.version, gone.protocols, gone.rebalance)

    def join(self, client: Client) -> None:
        supported = tuple(JoinGroupRequest.JoinGroupRequestProtocol(name, name.encode()) for name in client.protocols)
        who = (client.member_id, client.instance_id, "consumer", supported)
        request = JoinGroupRequest("g", SESSION * 1000, client.rebalance * 1000, *who)
        ticket = self.ticket(client)
        self.group.join(Joining(request, client.version, "c", "/h"), ticket, self.now)
        self.settle()

    def sync(self, client: Client) -> None:
        given: dict[str, list[int]] = defaultdict(list)
        for partition in range(PARTITIONS):
            if client.others:
                given[client.others[partition % len(client.others)]].append(partition)
        assignments = tuple(
            SyncGroupRequest.SyncGroupRequestAssignment(member_id, bytes(owned)) for member_id, owned in given.items()
        )
        who = (client.generation, client.member_id, client.instance_id, None, None, assignments)
        ticket = self.ticket(client)
        self.group.sync(SyncGroupRequest("g", *who), ticket, self.now)
        self.settle()

    def ticket(self, client: Client) -> int:
        ticket = next(self.tickets)
        self.waiting[ticket] = client
        self.asked[ticket] = client.generation
        return ticket

    def beat(self, client: Client) -> None:
        request = HeartbeatRequest("g", client.generation, client.member_id, client.instance_id)
        error = self.group.heartbeat(request, self.now)
        assert error in EXPECTED
        if error in {ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS}:
            self.signs[client.member_id] = self.seconds
        if error:
            client.wants = "join"
        if error in {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID}:
            client.member_id = ""
        self.settle()

    @precondition(lambda self: self.clients)
    @rule(number=CHOICE)
    def leave(self, number: int) -> None:
        client = self.clients.pop(number % len(self.clients))
        identity = LeaveGroupRequest.MemberIdentity(client.member_id, client.instance_id)
        (result,) = self.group.leave([identity], self.now)
        assert result.error_code or client.member_id not in self.group.roster.members
        self.settle()

    @rule(seconds=st.sampled_from([0.5, 0.5, 3.0, 3.0, 3.5, 9.0, 11.0, 45.0, NEW_MEMBER_TIMEOUT]))
    def wait(self, seconds: float) -> None:
        self.seconds += seconds
        members, state = dict(self.group.roster.members), self.group.state
        late = set(self.group.roster.not_synced)
        waited = {member_id for member_id, member in members.items() if member.is_waiting and not member.is_new}
        self.group.expire(self.now)
        gone = members.keys() - self.group.roster.members.keys()
        for member_id in gone:
            is_silent = self.seconds - self.signs.get(member_id, 0.0) >= SESSION
            assert is_silent or member_id in late or state is State.PREPARING_REBALANCE
            assert member_id not in waited or state is State.COMPLETING_REBALANCE
        self.settle()

    @rule(is_so=st.sampled_from([True, False, False, False]))
    def restart(self, is_so: bool) -> None:
        """The broker comes back with what it wrote, and gives members their full session timeout."""
        if not is_so:
            return
        self.waiting.clear()
        self.group = self.made()
        self.generation = self.group.generation
        self.signs = dict.fromkeys(self.group.roster.members, self.seconds)
        self.settle()

    def settle(self) -> None:
        """Take the answers of an event as its clients do."""
        answers, value = self.group.outcome()
        if value is not None:
            self.value = value
            loaded = self.made()
            assert {*loaded.roster.members} == {*self.group.roster.members}
            assert loaded.generation == self.group.generation
        for ticket, answer in answers.items():
            client = self.waiting.pop(ticket)
            match answer:
                case JoinGroupResponse():
                    self.take_join(client, answer)
                case SyncGroupResponse():
                    self.take_sync(client, answer, self.asked[ticket])

    def take_join(self, client: Client, answer: JoinGroupResponse) -> None:
        if answer.error_code in {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID}:
            client.member_id, client.wants = "", "join"
        if answer.error_code in {ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED}:
            client.member_id = answer.member_id
        if not answer.error_code:
            assert answer.protocol_name in {"range", "roundrobin", "sticky"}
            leads = answer.leader == answer.member_id and not answer.skip_assignment
            client.generation, client.wants = answer.generation_id, "sync"
            client.others = tuple(each.member_id for each in answer.members) if leads else ()

    def take_sync(self, client: Client, answer: SyncGroupResponse, generation: int) -> None:
        client.wants = "join" if answer.error_code else "beat"
        if answer.error_code:
            assert not answer.assignment
            return
        for partition in answer.assignment:
            self.owners[generation, partition].add(client.instance_id or client.member_id)

    @invariant()
    def no_partition_has_two_owners_in_a_generation(self) -> None:
        assert all(len(owners) == 1 for owners in self.owners.values())

    @invariant()
    def generations_rise(self) -> None:
        assert self.group.generation >= self.generation
        self.generation = self.group.generation

    @invariant()
    def no_timer_is_lost(self) -> None:
        group = self.group
        assert (timers.JOIN in group.timers) == (group.state is State.PREPARING_REBALANCE)
        assert (timers.SYNC in group.timers) == bool(group.roster.not_synced)
        if group.state is State.COMPLETING_REBALANCE:
            assert group.roster.not_synced
        for member in group.roster.members.values():
            assert timers.session(member.member_id) in group.timers or (member.is_waiting and not member.is_new)
        for member_id in group.roster.pending:
            assert timers.session(member_id) in group.timers
        known = len(group.roster.members) + len(group.roster.pending)
        assert len(group.timers) <= known + 2

    @invariant()
    def no_request_is_lost(self) -> None:
        members = self.group.roster.members.values()
        held = [ticket for member in members for ticket in (member.join, member.sync) if ticket is not None]
        assert sorted(held) == sorted(self.waiting)

    @invariant()
    def the_roster_adds_up(self) -> None:
        roster = self.group.roster
        members = roster.members.values()
        assert roster.joined == sum(member.join is not None for member in members)
        assert roster.size == sum(member.size for member in members) + sum(map(len, roster.pending))
        names = Counter(name for member in members for name, _ in member.protocols)
        assert all(roster.supports([name]) == (count == len(members)) for name, count in names.items())
        assert (roster.leader in roster.members) if members else roster.leader is None
        assert {member.instance_id: member.member_id for member in members if member.instance_id} == roster.static_ids
        assert len(roster.pending) <= SETTINGS.most_pending
        if self.group.state is not State.PREPARING_REBALANCE:
            assert len(members) <= SETTINGS.most_members
        assert (self.group.state is State.EMPTY) <= (not members)
        assert (self.group.state in {State.STABLE, State.COMPLETING_REBALANCE}) <= bool(members)


GroupMachine.TestCase.settings = settings(max_examples=SEEDS, stateful_step_count=60, deadline=None)
TestGroups = GroupMachine.TestCase
