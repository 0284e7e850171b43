"""The phases of a classic group, from one generation to the next: events and times in; answers, records and timers out.

The rules are those of Apache Kafka 4.3 (``GroupMetadataManager``). Nothing here waits or writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple
from uuid import uuid4

from kafkawire.broker.groups import timers
from kafkawire.broker.groups.classic.group_records import CONSUMER, members_of, subscribed_topics
from kafkawire.broker.groups.classic.roster import Member, Roster, Ticket
from kafkawire.broker.groups.classic.settings import GroupSettings
from kafkawire.broker.groups.classic.states import PRECEDING, TABLE, Event, State, Step
from kafkawire.broker.groups.timers import Now, Timer, TimerKind, Timers
from kafkawire.protocol import GroupMetadataValue, JoinGroupResponse, SyncGroupResponse
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import EncodeError, Message

_BATCH_HEAD: Final = 100  # bytes of a batch with one record, besides its key and value
_VALUE_VERSION: Final = 3
_AGAIN: Final = 1.0
"""Seconds after which a group without a leader is checked again, even if its members have no time to join at all."""


class Outcome(NamedTuple):
    """What follows from events.

    Attributes:
        answers: ticket to answer, for requests that waited or have come now.
        value: the record of the group to write; None if there is none.
    """

    answers: Mapping[Ticket, Message]
    value: GroupMetadataValue | None


class Rebalance:
    """A group between generations; `ClassicGroup` adds the requests of members.

    Args:
        group_id: its id.
        value: its last record; None if it has none.
        settings: the broker's.
        now: begins the sessions of members in the record.
        new_id: makes the ends of member ids.

    Attributes:
        state: the state.
        protocol_type: of its members; empty if it never had one.
        protocol: the selected protocol; None without members.
        generation: rises with each rebalance.
        roster: the members.
        timers: the timers that are set.
        subscribed: the topics that members subscribe to; None if they are no consumers or the topics cannot be read.
    """

    def __init__(
        self,
        group_id: str,
        value: GroupMetadataValue | None,
        settings: GroupSettings,
        now: Now,
        new_id: Callable[[], str] = lambda: str(uuid4()),
    ) -> None:
        self.group_id = group_id
        self.roster = Roster()
        self.timers = Timers()
        self.state = State.EMPTY
        self.protocol_type = ""
        self.protocol: str | None = None
        self.generation = 0
        self.subscribed: frozenset[str] | None = None
        self._settings = settings
        self._new_id = new_id
        self._before = State.DEAD
        self._since_ms = now.ms
        self._initial_delay: tuple[int, int] | None = None
        self._has_newcomers = False
        self._answers: dict[Ticket, Message] = {}
        self._value: GroupMetadataValue | None = None
        if value is not None:
            self._load(value, now)

    def outcome(self) -> Outcome:
        """What follows from the events since the last call."""
        answers, value = self._answers, self._value
        self._answers, self._value = {}, None
        return Outcome(answers, value)

    @property
    def is_idle(self) -> bool:
        """Whether its record says all about it."""
        return self.state is State.EMPTY and not self.roster.pending

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether members may subscribe to a topic."""
        return self.protocol_type == CONSUMER if self.subscribed is None else topic in self.subscribed

    def expire(self, now: Now) -> None:
        """Let the timers fire that are due, the earliest first."""
        for timer in self.timers.due(now.seconds):
            match timer.kind:
                case TimerKind.JOIN:
                    self._end_wait(now)
                case TimerKind.SYNC:
                    self._expire_syncs(now)
                case TimerKind.SESSION:
                    self._expire_session(timer, now)

    def begin_with(self, generation: int, members: Iterable[Member], now: Now) -> None:
        """Begin as a stable group of consumers that have a generation; ``record_members`` follows."""
        self.protocol_type, self.generation, self._since_ms = CONSUMER, generation, now.ms
        for member in members:
            self.roster.add(member)
            self._begin_session(member, now)
        self.protocol = self.roster.selected_protocol()
        self.subscribed = subscribed_topics(self.protocol_type, self.protocol, self.roster.members.values())
        self.state = State.STABLE

    def record_members(self) -> bool:
        """Record the members as they are; returns whether that is possible."""
        value = self._value_with({})
        if self._is_too_large(value):
            return False
        self._value = value
        return True

    def rebalance(self, now: Now) -> None:
        """Let all members join again."""
        self._prepare_rebalance(now)

    def interrupt(self, error: ErrorCode) -> None:
        """Answer every request that waits."""
        for member in self.roster.members.values():
            self._refuse_waiting(member, error, member.member_id)

    def close(self, error: ErrorCode) -> None:
        """The group is gone: answer every request that waits."""
        self.interrupt(error)
        self.timers = Timers()
        self.roster = Roster()
        self.state = State.DEAD

    def _load(self, value: GroupMetadataValue, now: Now) -> None:
        self.protocol_type, self.protocol = value.protocol_type, value.protocol or None
        self.generation, self._since_ms = value.generation, value.current_state_timestamp
        for member in members_of(value):
            self.roster.add(member)
            self._begin_session(member, now)
        if self.roster.members:
            self.roster.leader = value.leader
            self.state = State.STABLE
        self.subscribed = subscribed_topics(self.protocol_type, self.protocol, self.roster.members.values())
        if len(self.roster.members) > self._settings.most_members:
            self._prepare_rebalance(now)  # the limit is lower than before

    # Phases.

    def _step(self, event: Event, now: Now) -> None:
        """Do what the table says."""
        match TABLE[event][self.state]:
            case Step.REBALANCE:
                self._prepare_rebalance(now)
            case Step.COMPLETE_IF_ALL_JOINED if self._before is not State.EMPTY and self.roster.all_joined:
                self._complete_join(now)
            case Step.COMPLETE_EVEN_AT_FIRST if self.roster.all_joined:
                self._complete_join(now)

    def _become(self, state: State, now: Now) -> None:
        if self.state not in PRECEDING[state]:
            raise AssertionError(f"group {self.group_id!r} cannot become {state.value} when it is {self.state.value}")
        self._before, self.state, self._since_ms = self.state, state, now.ms

    def _prepare_rebalance(self, now: Now) -> None:
        if self.state is State.COMPLETING_REBALANCE:
            self._fail_sync(ErrorCode.REBALANCE_IN_PROGRESS, now)
        self.roster.not_synced.clear()
        self.timers.cancel(timers.SYNC)
        is_first = self.state is State.EMPTY
        self._become(State.PREPARING_REBALANCE, now)
        if is_first:
            delay = self._settings.initial_delay_ms
            self._wait_for_newcomers(delay, max(self.roster.rebalance_timeout_ms - delay, 0), now)
        elif self.roster.all_joined:
            self._complete_join(now)
        else:
            self._wait_for_members(now)

    def _wait_for_newcomers(self, delay_ms: int, left_ms: int, now: Now) -> None:
        self._initial_delay = (delay_ms, left_ms)
        self.timers.set(timers.JOIN, now.seconds + delay_ms / 1000)

    def _wait_for_members(self, now: Now, *, at_least: float = 0.0) -> None:
        self._initial_delay = None
        self.timers.set(timers.JOIN, now.seconds + max(self.roster.rebalance_timeout_ms / 1000, at_least))

    def _end_wait(self, now: Now) -> None:
        """The time to join is over; for the first members it is extended as long as more of them come (KIP-134)."""
        delay_ms, left_ms = self._initial_delay or (0, 0)
        if not (self._has_newcomers and left_ms):
            self._complete_join(now)
            return
        self._has_newcomers = False
        self._wait_for_newcomers(min(self._settings.initial_delay_ms, left_ms), max(left_ms - delay_ms, 0), now)

    def _complete_join(self, now: Now) -> None:
        """Begin a generation with the members that have joined, and with static members that have not."""
        self.timers.cancel(timers.JOIN)
        for member in [each for each in self.roster.not_joined() if each.instance_id is None]:
            self._remove(member.member_id)
        if not self.roster.elect_joined_leader() and self.roster.members:
            self._wait_for_members(now, at_least=_AGAIN)  # for static members, until their sessions end
            return
        self.generation += 1
        self.protocol = self.roster.selected_protocol()
        self.subscribed = subscribed_topics(self.protocol_type, self.protocol, self.roster.members.values())
        if not self.roster.members:
            self._become(State.EMPTY, now)
            self._value = self._value_with({})
            return
        self._become(State.COMPLETING_REBALANCE, now)
        for member in self.roster.members.values():
            self._answer_join(member, self._generation_for(member))
            self._begin_session(member, now)
            member.is_new = False
            self.roster.not_synced.add(member.member_id)
        self.timers.set(timers.SYNC, now.seconds + self.roster.rebalance_timeout_ms / 1000)

    def _fail_sync(self, error: ErrorCode, now: Now) -> None:
        for member in self.roster.members.values():
            member.assignment = b""
            self._answer_sync(member, SyncGroupResponse(error_code=error), now)

    # Timers.

    def _begin_session(self, member: Member, now: Now) -> None:
        self.timers.set(timers.session(member.member_id), now.seconds + member.session_timeout_ms / 1000)

    def _expire_session(self, timer: Timer, now: Now) -> None:
        member = self.roster.members.get(timer.member_id)
        if member is None:
            self._remove(timer.member_id)
            self._step(Event.PENDING_MEMBER_EXPIRED, now)
        elif member.is_new or not member.is_waiting:  # the session of one that waits begins with the answer
            self._remove(timer.member_id)
            self._step(Event.MEMBER_EXPIRED, now)

    def _expire_syncs(self, now: Now) -> None:
        late = [*self.roster.not_synced]
        for member_id in late:
            self._remove(member_id)
        if late:
            self._step(Event.SYNC_EXPIRED, now)

    def _remove(self, member_id: str) -> None:
        """Remove a member or the id of one; its client may join again."""
        member = self.roster.members.get(member_id)
        if member is not None:
            self._refuse_waiting(member, ErrorCode.UNKNOWN_MEMBER_ID, "")
        self.roster.remove(member_id)
        self.timers.cancel(timers.session(member_id))

    # Answers and records.

    def _refuse_join(self, ticket: Ticket, error: ErrorCode, member_id: str) -> None:
        self._answers[ticket] = JoinGroupResponse(error_code=error, protocol_name=None, member_id=member_id)

    def _refuse_waiting(self, member: Member, error: ErrorCode, member_id: str) -> None:
        ticket = self.roster.await_join(member, None)
        if ticket is not None:
            self._refuse_join(ticket, error, member_id)
        if member.sync is not None:
            self._answers[member.sync] = SyncGroupResponse(error_code=error)
            member.sync = None

    def _answer_join(self, member: Member, answer: JoinGroupResponse) -> None:
        ticket = self.roster.await_join(member, None)
        if ticket is not None:
            self._answers[ticket] = answer

    def _answer_sync(self, member: Member, answer: SyncGroupResponse, now: Now) -> None:
        if member.sync is not None:
            self._answers[member.sync] = answer
            member.sync = None
            self._begin_session(member, now)

    def _generation_for(self, member: Member, *, may_skip: bool = False) -> JoinGroupResponse:
        """The current generation for a member; with all members for the leader."""
        leads = member.member_id == self.roster.leader
        listed = self.roster.members.values() if leads else ()
        members = tuple(
            JoinGroupResponse.JoinGroupResponseMember(each.member_id, each.instance_id, each.metadata(self.protocol))
            for each in listed
        )
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            leader=self.roster.leader or "",
            skip_assignment=leads and may_skip,
            member_id=member.member_id,
            members=members,
        )

    def _assignment(self, member: Member) -> SyncGroupResponse:
        return SyncGroupResponse(
            protocol_type=self.protocol_type, protocol_name=self.protocol, assignment=member.assignment
        )

    def _value_with(self, assignments: Mapping[str, bytes]) -> GroupMetadataValue:
        """The record of the group with these assignments; members that are not named keep theirs."""
        return GroupMetadataValue(
            protocol_type=self.protocol_type,
            generation=self.generation,
            protocol=self.protocol,
            leader=self.roster.leader,
            current_state_timestamp=self._since_ms,
            members=tuple(
                GroupMetadataValue.MemberMetadata(
                    each.member_id,
                    each.instance_id,
                    each.client_id,
                    each.client_host,
                    each.rebalance_timeout_ms,
                    each.session_timeout_ms,
                    each.metadata(self.protocol),
                    assignments.get(each.member_id, each.assignment),
                )
                for each in self.roster.members.values()
            ),
        )

    def _is_too_large(self, value: GroupMetadataValue) -> bool:
        """Whether a record cannot be written; some requests have room for longer names than records."""
        try:
            size = len(value.encode(_VALUE_VERSION)) + len(self.group_id) + _BATCH_HEAD
        except EncodeError:
            return True
        return size > self._settings.most_record_bytes


def first_value(now: Now) -> GroupMetadataValue:
    """The record of a new group."""
    return GroupMetadataValue(protocol=None, leader=None, current_state_timestamp=now.ms)
