"""A classic group without a broker around it, at a time that tests move."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from tests.embedded.received import received

from kafkawire.broker.groups.classic.group import ClassicGroup, Joining
from kafkawire.broker.groups.classic.settings import GroupSettings
from kafkawire.broker.groups.classic.states import State
from kafkawire.broker.groups.timers import Now
from kafkawire.protocol import (
    ConsumerProtocolSubscription,
    GroupMetadataValue,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.consumer_protocol import encode_subscription
from kafkawire.wire import Message

SUBSCRIPTION = encode_subscription(ConsumerProtocolSubscription(("orders",)), 0)


class Driven:
    """A group at a time that tests move.

    Attributes:
        answers: all answers by ticket.
        values: the records in order.
    """

    def __init__(self, settings: GroupSettings | None = None, value: GroupMetadataValue | None = None) -> None:
        self.seconds = 0.0
        self.answers: dict[int, Message] = {}
        self.values: list[GroupMetadataValue] = []
        self._numbers = itertools.count(1)
        self._tickets = itertools.count()
        self.group = ClassicGroup("g", value, settings or GroupSettings(), self.now, lambda: str(next(self._numbers)))

    @property
    def now(self) -> Now:
        return Now(self.seconds, round(self.seconds * 1000))

    def join(
        self,
        member_id: str = "",
        *,
        version: int = 3,
        instance_id: str | None = None,
        metadata: bytes = SUBSCRIPTION,
        rebalance_ms: int = 20_000,
        session_ms: int = 10_000,
    ) -> int:
        protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", metadata),)
        who = (member_id, instance_id, "consumer", protocols)
        ticket = next(self._tickets)
        request = received(JoinGroupRequest("g", session_ms, rebalance_ms, *who), 9)
        self.group.join(Joining(request, version, "c", "/127.0.0.1"), ticket, self.now)
        self._take()
        return ticket

    def joined(self, ticket: int) -> JoinGroupResponse:
        answer = self.answers[ticket]
        assert isinstance(answer, JoinGroupResponse)
        return answer

    def sync(self, member_id: str, assignments: Mapping[str, bytes] | None = None) -> int:
        given = (SyncGroupRequest.SyncGroupRequestAssignment(*each) for each in (assignments or {}).items())
        request = SyncGroupRequest("g", self.group.generation, member_id, assignments=tuple(given))
        ticket = next(self._tickets)
        self.group.sync(received(request, 5), ticket, self.now)
        self._take()
        return ticket

    def beat(self, member_id: str) -> ErrorCode:
        request = HeartbeatRequest("g", self.group.generation, member_id)
        return self.group.heartbeat(received(request, 4), self.now)

    def wait(self, seconds: float) -> None:
        self.seconds += seconds
        self.group.expire(self.now)
        self._take()

    def leave(self, *members: tuple[str, str | None]) -> Sequence[LeaveGroupResponse.MemberResponse]:
        results = self.group.leave([LeaveGroupRequest.MemberIdentity(*each) for each in members], self.now)
        self._take()
        return results

    def _take(self) -> None:
        answers, value = self.group.outcome()
        self.answers.update(answers)
        self.values += [] if value is None else [value]


def stable(*, members: int = 2, session_ms: int = 10_000) -> Driven:
    """A group with members c-1, c-2 and so on; the first leads."""
    driven = Driven()
    for _ in range(members):
        driven.join(session_ms=session_ms)
    driven.wait(3)
    driven.wait(3)
    driven.sync("c-1", {f"c-{number}": bytes([number % 256]) for number in range(1, members + 1)})
    for number in range(2, members + 1):
        driven.sync(f"c-{number}")
    assert driven.group.state is State.STABLE
    return driven
