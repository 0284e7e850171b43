"""The requests of members of a classic group as events of a state machine (`Rebalance` has its phases)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.groups import timers
from kafkawire.broker.groups.classic.rebalance import Rebalance
from kafkawire.broker.groups.classic.roster import Member, Protocols, Ticket
from kafkawire.broker.groups.classic.settings import NEW_MEMBER_TIMEOUT
from kafkawire.broker.groups.classic.states import TABLE, Event, State, Step
from kafkawire.broker.groups.timers import Now
from kafkawire.protocol import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    SyncGroupRequest,
    SyncGroupResponse,
    TxnOffsetCommitRequest,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.message import Struct

_ID_REQUIRED_SINCE: Final = 4  # KIP-394
_SKIPS_ASSIGNMENT_SINCE: Final = 9  # KIP-814
_ERRORS_WITHOUT_ID: Final = frozenset({ErrorCode.GROUP_MAX_SIZE_REACHED, ErrorCode.UNKNOWN_SERVER_ERROR})


class Joining(Struct, frozen=True):
    """A JoinGroup request with its client.

    Attributes:
        request: the request.
        version: its version.
        client_id, client_host: the client, the host as Kafka records it (``/127.0.0.1``).
    """

    request: JoinGroupRequest
    version: int
    client_id: str
    client_host: str

    @property
    def protocols(self) -> Protocols:
        """Name and metadata of each protocol."""
        return tuple((each.name, each.metadata) for each in self.request.protocols)

    @property
    def size(self) -> int:
        """About how many bytes the group keeps of it."""
        names = (self.client_id, self.request.group_instance_id or "", self.request.protocol_type)
        return sum(map(len, names)) + sum(len(name) + len(metadata) for name, metadata in self.protocols)

    @property
    def rebalance_timeout_ms(self) -> int:
        """The session timeout in version 0, which has no other."""
        return self.request.rebalance_timeout_ms if self.version else self.request.session_timeout_ms


class ClassicGroup(Rebalance):
    """A classic group: each method takes an event and its time, and ``outcome`` returns what follows."""

    # JoinGroup.

    def join(self, joining: Joining, ticket: Ticket, now: Now) -> None:
        """A client wants to join; the answer may follow later."""
        request, roster = joining.request, self.roster
        error, member_id = self._join_error(joining), request.member_id
        if error:
            if error is ErrorCode.GROUP_MAX_SIZE_REACHED:
                self._remove(member_id)
            self._refuse_join(ticket, error, "" if error in _ERRORS_WITHOUT_ID else member_id)
        elif member_id in roster.pending:
            self._add(joining, member_id, ticket, now)
        elif member_id:
            self._join_again(joining, ticket, now)
        elif request.group_instance_id is not None:
            self._join_as_static(joining, request.group_instance_id, ticket, now)
        elif joining.version >= _ID_REQUIRED_SINCE:
            self._require_id(joining, ticket, now)
        else:
            self._add(joining, f"{joining.client_id}-{self._new_id()}", ticket, now)

    def _join_error(self, joining: Joining) -> ErrorCode:
        request, member_id = joining.request, joining.request.member_id
        if self.state is State.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        if not self._has_room(member_id):
            return ErrorCode.GROUP_MAX_SIZE_REACHED
        if not self._supports(request.protocol_type, [each.name for each in request.protocols]):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if member_id in self.roster.pending:
            is_static = request.group_instance_id is not None
            return ErrorCode.UNKNOWN_SERVER_ERROR if is_static else ErrorCode.NONE  # as Kafka's exception
        return self.roster.error(member_id, request.group_instance_id) if member_id else ErrorCode.NONE

    def _has_room(self, member_id: str) -> bool:
        member = self.roster.members.get(member_id)
        match self.state:
            case State.PREPARING_REBALANCE:
                has_joined = member is not None and member.join is not None
                return has_joined or self.roster.joined < self._settings.most_members
            case State.COMPLETING_REBALANCE | State.STABLE:
                return member is not None or len(self.roster.members) < self._settings.most_members
        return True

    def _supports(self, protocol_type: str, protocols: Iterable[str]) -> bool:
        if self.state is State.EMPTY:
            return bool(protocol_type) and bool([*protocols])
        return protocol_type == self.protocol_type and self.roster.supports(protocols)

    def _join_again(self, joining: Joining, ticket: Ticket, now: Now) -> None:
        member = self.roster.members[joining.request.member_id]
        event = Event.JOIN_AGAIN
        if joining.protocols != member.protocols:
            event = Event.JOIN_WITH_OTHER_PROTOCOLS
        elif member.member_id == self.roster.leader:
            event = Event.LEADER_JOINS_AGAIN
        if TABLE[event][self.state] is Step.ANSWER_CURRENT_GENERATION:
            self._answers[ticket] = self._generation_for(member)
            return
        self._update(member, joining, ticket)
        self._step(event, now)

    def _join_as_static(self, joining: Joining, instance_id: str, ticket: Ticket, now: Now) -> None:
        member_id = f"{instance_id}-{self._new_id()}"
        known = self.roster.static_ids.get(instance_id)
        if known is None:
            self._add(joining, member_id, ticket, now)
            return
        member, leader = self.roster.members[known], self.roster.leader
        self._refuse_waiting(member, ErrorCode.FENCED_INSTANCE_ID, known)
        self.timers.cancel(timers.session(known))
        self.roster.replace(member, member_id)
        self._begin_session(member, now)
        self._update(member, joining, ticket)
        event, value = Event.STATIC_MEMBER_RETURNS, self._value_with({})
        if self.roster.selected_protocol() != self.protocol or self._is_too_large(value):
            event = Event.STATIC_MEMBER_CHANGES_PROTOCOL
        if TABLE[event][self.state] is not Step.KEEP_ASSIGNMENT:
            self._step(event, now)
            return
        self._value = value
        may_skip = joining.version >= _SKIPS_ASSIGNMENT_SINCE
        answer = self._generation_for(member, may_skip=may_skip)
        if not may_skip:  # it does not learn that it leads, since it would assign partitions that no member waits for
            answer = replace(answer, leader=leader or "", members=())
        self._answer_join(member, answer)

    def _require_id(self, joining: Joining, ticket: Ticket, now: Now) -> None:
        """Let the client join again with an id, so that one that repeats its request is one member (KIP-394)."""
        member_id = f"{joining.client_id}-{self._new_id()}"
        if len(self.roster.pending) >= self._settings.most_pending:
            self._remove(next(iter(self.roster.pending)))
        self.roster.expect(member_id)
        self.timers.set(timers.session(member_id), now.seconds + joining.request.session_timeout_ms / 1000)
        self._refuse_join(ticket, ErrorCode.MEMBER_ID_REQUIRED, member_id)

    def _add(self, joining: Joining, member_id: str, ticket: Ticket, now: Now) -> None:
        request = joining.request
        member = Member(
            member_id,
            request.group_instance_id,
            joining.client_id,
            joining.client_host,
            joining.rebalance_timeout_ms,
            request.session_timeout_ms,
            joining.protocols,
            is_new=True,
        )
        if not self.roster.members:
            self.protocol_type = request.protocol_type
        if self.state is State.PREPARING_REBALANCE and self._before is State.EMPTY:
            self._has_newcomers = True
        self.roster.add(member)
        self.roster.await_join(member, ticket)
        self.timers.set(timers.session(member_id), now.seconds + NEW_MEMBER_TIMEOUT)
        self._step(Event.NEW_MEMBER, now)

    def _update(self, member: Member, joining: Joining, ticket: Ticket) -> None:
        session_ms = joining.request.session_timeout_ms
        self.roster.update(member, joining.protocols, joining.rebalance_timeout_ms, session_ms)
        before = self.roster.await_join(member, ticket)
        if before is not None:
            self._refuse_join(before, ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)

    # SyncGroup, Heartbeat, LeaveGroup and OffsetCommit.

    def sync(self, request: SyncGroupRequest, ticket: Ticket, now: Now) -> None:
        """A member wants its assignment; the answer may follow later."""
        error = self._sync_error(request)
        if error:
            self._answers[ticket] = SyncGroupResponse(error_code=error)
            return
        member = self.roster.members[request.member_id]
        self.roster.not_synced.discard(member.member_id)
        if not self.roster.not_synced:
            self.timers.cancel(timers.SYNC)
        if TABLE[Event.SYNC][self.state] is Step.ANSWER_ASSIGNMENT:
            self._answers[ticket] = self._assignment(member)
            return
        if member.sync is not None:
            self._answers[member.sync] = SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)
        member.sync = ticket
        if member.member_id == self.roster.leader:
            self._assign({each.member_id: each.assignment for each in request.assignments}, now)

    def _sync_error(self, request: SyncGroupRequest) -> ErrorCode:
        error = self._member_error(request.member_id, request.group_instance_id, request.generation_id)
        if error:
            return error
        names = ((request.protocol_type, self.protocol_type), (request.protocol_name, self.protocol))
        if any(given is not None and given != own for given, own in names):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        step = TABLE[Event.SYNC][self.state]
        return step if isinstance(step, ErrorCode) else ErrorCode.NONE

    def _assign(self, assignments: Mapping[str, bytes], now: Now) -> None:
        value = self._value_with({member_id: assignments.get(member_id, b"") for member_id in self.roster.members})
        if self._is_too_large(value):
            self._fail_sync(ErrorCode.UNKNOWN_SERVER_ERROR, now)
            self._prepare_rebalance(now)
            return
        self._value = value
        for member in self.roster.members.values():
            member.assignment = assignments.get(member.member_id, b"")
            self._answer_sync(member, self._assignment(member), now)
        self._become(State.STABLE, now)

    def heartbeat(self, request: HeartbeatRequest, now: Now) -> ErrorCode:
        """A member lives; returns the error for it."""
        error = self._member_error(request.member_id, request.group_instance_id, request.generation_id)
        if not error:
            self._begin_session(self.roster.members[request.member_id], now)
        return error or _error(Event.HEARTBEAT, self.state)

    def commit(self, request: OffsetCommitRequest, now: Now) -> ErrorCode:
        """A client commits offsets; returns the error for it. A commit of a member is a sign of life."""
        generation, member_id = request.generation_id_or_member_epoch, request.member_id
        if self.state is State.EMPTY and generation < 0:
            return ErrorCode.NONE
        error = self._member_error(member_id, request.group_instance_id, generation)
        error = error or _error(Event.COMMIT_BY_MEMBER, self.state)
        if not error:
            self._begin_session(self.roster.members[member_id], now)
        return error

    def transactional_commit_error(self, request: TxnOffsetCommitRequest) -> ErrorCode:
        """The error for offsets of a transaction; clients before KIP-447 do not say which member they are."""
        generation, member_id = request.generation_id_or_member_epoch, request.member_id
        if generation < 0 and (self.state is State.EMPTY or (not member_id and request.group_instance_id is None)):
            return ErrorCode.COORDINATOR_NOT_AVAILABLE if self.state is State.DEAD else ErrorCode.NONE
        return self._member_error(member_id, request.group_instance_id, generation)

    @property
    def deletion_error(self) -> ErrorCode:
        """Why the group cannot be deleted; NONE if it can."""
        return _error(Event.DELETION, self.state)

    def leave(
        self, members: Iterable[LeaveGroupRequest.MemberIdentity], now: Now
    ) -> tuple[LeaveGroupResponse.MemberResponse, ...]:
        """Members leave, or an administrator removes them; returns the result of each."""
        results = tuple(
            LeaveGroupResponse.MemberResponse(each.member_id, each.group_instance_id, self._left(each))
            for each in members
        )
        if not all(result.error_code for result in results):
            self._step(Event.MEMBER_LEFT, now)
        return results

    def _left(self, identity: LeaveGroupRequest.MemberIdentity) -> ErrorCode:
        member_id, instance_id = identity.member_id, identity.group_instance_id
        if not member_id:
            member_id = self.roster.static_ids.get(instance_id or "", "") if instance_id is not None else ""
            error = ErrorCode.NONE if member_id else ErrorCode.UNKNOWN_MEMBER_ID
        else:
            error = ErrorCode.NONE if member_id in self.roster.pending else self.roster.error(member_id, instance_id)
        if not error:
            self._remove(member_id)
        return error

    def _member_error(self, member_id: str, instance_id: str | None, generation: int) -> ErrorCode:
        if self.state is State.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        error = self.roster.error(member_id, instance_id)
        return error or (ErrorCode.NONE if generation == self.generation else ErrorCode.ILLEGAL_GENERATION)


def _error(event: Event, state: State) -> ErrorCode:
    step = TABLE[event][state]
    return step if isinstance(step, ErrorCode) else ErrorCode.NONE
