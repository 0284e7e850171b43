"""Pipelining, cancelling, discarding and logging in again, in any order: a model predicts the events."""

from __future__ import annotations

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.stand_ins.sasl_server import PlainServer
from tests.stand_ins.scripted_peer import answer_frame, logged_in

from kafkawire.admin.connection.events import Answered, Closed, Event, Failed
from kafkawire.admin.connection.sasl.credentials import PlainCredentials
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.connection.states import HOLDING, State
from kafkawire.protocol import (
    MetadataRequest,
    MetadataResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafkawire.rpc import Request

LIFETIME = 100.0
PATIENT = ConnectionSettings(abandoned_timeout=1e9, idle_timeout=1e9, setup_timeout=1e9)
"""Nothing ends by the clock: what does is tested elsewhere."""

PLAIN = PlainCredentials("alice", "secret")


class ConnectionModel(RuleBasedStateMachine):
    """A broker that answers in order, and a user who sends, gives up and reads.

    The model knows each request by a name that its answer repeats, so that an answer which goes to the wrong
    request is seen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.begin()

    def begin(self) -> None:
        """A new connection, on which nothing has happened."""
        server = PlainServer("alice", "secret")
        self.peer = logged_in(PLAIN, server, lifetime_ms=int(LIFETIME * 1000), settings=PATIENT)
        self.names: dict[int, str] = {}
        self.waited_for: set[int] = set()
        self.at_broker: list[Request] = []
        self.on_the_way = b""
        self.sent_order: list[str] = []
        self.never_sent: set[int] = set()
        self.made = 0

    # What the user does.

    @rule(count=st.integers(min_value=1, max_value=5))
    def send(self, count: int) -> None:
        for _ in range(count):
            name = f"request-{self.made}"
            self.made += 1
            request = MetadataRequest((MetadataRequest.MetadataRequestTopic(name=name),))
            correlation_id = self.peer.connection.send(request, 12, self.peer.now)
            assert correlation_id not in self.names
            self.names[correlation_id] = name
            self.waited_for.add(correlation_id)
        self.collect()

    @precondition(lambda self: self.waited_for)
    @rule(data=st.data())
    def give_up(self, data: st.DataObject) -> None:
        correlation_id = data.draw(st.sampled_from(sorted(self.waited_for)))
        self.waited_for.discard(correlation_id)
        if self.names[correlation_id] not in self.sent_order:
            self.never_sent.add(correlation_id)
        assert self.peer.connection.abandon(correlation_id, self.peer.now) == []

    @precondition(lambda self: self.peer.state() is State.READY)
    @rule()
    def the_login_ages(self) -> None:
        """So far that it must be renewed."""
        timer = self.peer.connection.next_timer()
        assert timer is not None
        self.peer.now = timer
        assert self.peer.connection.on_timer(timer) == []
        self.collect()

    # What the broker does.

    @precondition(lambda self: self.at_broker)
    @rule(count=st.integers(min_value=1, max_value=3))
    def answer(self, count: int) -> None:
        for request in self.at_broker[:count]:
            self.on_the_way += answer_frame(request, self.answer_to(request))
        del self.at_broker[:count]

    @precondition(lambda self: self.on_the_way)
    @rule(part=st.floats(min_value=0.0, max_value=1.0))
    def arrive(self, part: float) -> None:
        size = max(1, round(part * len(self.on_the_way)))
        arriving, self.on_the_way = self.on_the_way[:size], self.on_the_way[size:]
        for event in self.peer.deliver(arriving):
            assert isinstance(event, Answered)
            assert event.correlation_id in self.waited_for
            self.waited_for.discard(event.correlation_id)
            assert isinstance(event.response, MetadataResponse)
            assert event.response.cluster_id == self.names[event.correlation_id]
        self.collect()

    @rule()
    def all_is_answered(self) -> None:
        """A login that is going on comes to its end with that."""
        while self.at_broker or self.on_the_way:
            self.answer(len(self.at_broker))
            self.arrive(1.0)
        assert self.peer.state() is State.READY
        assert self.waited_for == set()

    @precondition(lambda self: self.waited_for)
    @rule()
    def disconnect(self) -> None:
        """Every waiting call ends once with the error; then a new connection begins."""
        events: list[Event] = self.peer.connection.end_of_stream(ConnectionResetError("reset"))
        failed = [event.correlation_id for event in events if isinstance(event, Failed)]
        assert sorted(failed) == sorted(self.waited_for)
        assert [type(event) for event in events[len(failed) :]] == [Closed]
        self.begin()

    # What always holds.

    @invariant()
    def it_is_open(self) -> None:
        assert self.peer.state() is not State.CLOSED

    @invariant()
    def everything_that_is_waited_for_is_somewhere(self) -> None:
        assert self.peer.connection.in_flight >= len(self.waited_for)

    @invariant()
    def requests_leave_in_the_order_in_which_they_were_made(self) -> None:
        assert self.sent_order == sorted(self.sent_order, key=lambda name: int(name.rpartition("-")[2]))

    @invariant()
    def what_was_given_up_in_time_never_leaves(self) -> None:
        assert not {self.names[correlation_id] for correlation_id in self.never_sent} & set(self.sent_order)

    @invariant()
    def requests_wait_only_while_the_login_is_renewed(self) -> None:
        unsent = {self.names[i] for i in self.waited_for} - set(self.sent_order)
        assert not unsent or self.peer.state() in HOLDING

    def collect(self) -> None:
        """Take the requests that the connection sends; during a login these are only requests of the login."""
        requests = self.peer.sent()
        for request in requests:
            match request.body:
                case MetadataRequest():
                    (topic,) = request.body.topics or ()
                    self.sent_order.append(topic.name or "")
                case SaslHandshakeRequest():
                    assert self.at_broker == []
                    assert requests == [request]
        self.at_broker += requests

    def answer_to(self, request: Request) -> MetadataResponse | SaslHandshakeResponse | SaslAuthenticateResponse:
        match request.body:
            case MetadataRequest():
                (topic,) = request.body.topics or ()
                return MetadataResponse(cluster_id=topic.name)
            case SaslHandshakeRequest():
                return SaslHandshakeResponse(0, ("PLAIN",))
            case SaslAuthenticateRequest():
                return SaslAuthenticateResponse(0, None, b"", int(LIFETIME * 1000))
        raise AssertionError(request)


TestConnectionModel = ConnectionModel.TestCase
TestConnectionModel.settings = settings(max_examples=100, stateful_step_count=50)
