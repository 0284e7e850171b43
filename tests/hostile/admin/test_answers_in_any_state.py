"""Whatever bytes come, whenever they come: a connection never raises, and ends or goes on by the table."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st
from tests.stand_ins.sasl_server import PlainServer, ScramServer
from tests.stand_ins.scripted_peer import (
    ScriptedPeer,
    answer_frame,
    before_handshake,
    logged_in,
    ready,
    versions_answer,
)

from kafkawire.admin.connection.events import Answered, Closed, Event, Failed, Ready
from kafkawire.admin.connection.machine import Connection
from kafkawire.admin.connection.sasl.credentials import PlainCredentials, ScramCredentials
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.connection.states import State
from kafkawire.protocol import (
    ApiVersionsResponse,
    MetadataRequest,
    MetadataResponse,
    SaslAuthenticateResponse,
    SaslHandshakeResponse,
)
from kafkawire.wire.kafka_errors import KafkaError

PLAIN = PlainCredentials("alice", "secret")
SCRAM = ScramCredentials("alice", "secret")


def negotiating() -> ScriptedPeer:
    peer = ScriptedPeer(Connection(ConnectionSettings()))
    peer.connection.open(0.0)
    return peer


def negotiating_lower() -> ScriptedPeer:
    peer = negotiating()
    peer.answer(peer.only_request(), ApiVersionsResponse(35), version=0)
    return peer


def asking_for_sasl() -> ScriptedPeer:
    peer = ScriptedPeer(Connection(ConnectionSettings(), PLAIN))
    peer.connection.open(0.0)
    return peer


def awaiting_credentials() -> ScriptedPeer:
    return before_handshake(lambda: PLAIN)


def handshaking() -> ScriptedPeer:
    return before_handshake(SCRAM)


def authenticating() -> ScriptedPeer:
    peer = handshaking()
    peer.answer(peer.only_request(), SaslHandshakeResponse(0, ("SCRAM-SHA-512",)))
    return peer


def authenticating_bare() -> ScriptedPeer:
    peer = before_handshake(SCRAM, versions={17: range(1), 18: range(5)})
    peer.answer(peer.only_request(), SaslHandshakeResponse(0, ("SCRAM-SHA-512",)))
    return peer


def in_use() -> ScriptedPeer:
    peer = ready()
    for _ in range(3):
        peer.connection.send(MetadataRequest(), 12, 0.0)
    return peer


def aged() -> ScriptedPeer:
    peer = logged_in(PLAIN, PlainServer("alice", "secret"), lifetime_ms=100_000)
    peer.connection.send(MetadataRequest(), 12, 0.0)
    peer.connection.on_timer(90.0)
    peer.connection.send(MetadataRequest(), 12, 0.0)
    return peer


def rehandshaking() -> ScriptedPeer:
    peer = logged_in(PLAIN, PlainServer("alice", "secret"), lifetime_ms=100_000)
    peer.connection.on_timer(90.0)
    peer.connection.send(MetadataRequest(), 12, 0.0)
    return peer


def reauthenticating() -> ScriptedPeer:
    peer = rehandshaking()
    peer.answer(peer.only_request(), SaslHandshakeResponse(0, ("PLAIN",)))
    return peer


STATES: list[Callable[[], ScriptedPeer]] = [
    negotiating, negotiating_lower, asking_for_sasl, awaiting_credentials, handshaking, authenticating,
    authenticating_bare, ready, in_use, aged, rehandshaking, reauthenticating,
]  # fmt: skip


def test_all_states_are_here() -> None:
    shown = {begin().state() for begin in STATES}
    assert set(State) - shown == {State.NEW, State.RENEWING, State.CLOSED}


def check_end(peer: ScriptedPeer, events: list[Event]) -> None:
    """What holds for every end: it is the last event, with a reason, and nothing is in flight after it."""
    ends = [event for event in events if isinstance(event, Closed)]
    if peer.state() is not State.CLOSED:
        assert ends == []
        return
    assert ends == [events[-1]]
    assert isinstance(ends[0].error, KafkaError)
    assert peer.connection.in_flight == 0
    assert peer.connection.next_timer() is None
    assert peer.connection.data_to_send() == b""


@pytest.mark.parametrize("begin", STATES)
@given(data=st.binary(max_size=60))
def test_any_bytes(begin: Callable[[], ScriptedPeer], data: bytes) -> None:
    peer = begin()
    check_end(peer, peer.deliver(data))


@pytest.mark.parametrize("begin", STATES)
@given(content=st.binary(max_size=200), correlation_id=st.sampled_from([None, 0, 1, 2, 3, -1, 2**31 - 8, 2**31 - 5]))
def test_any_frame(begin: Callable[[], ScriptedPeer], content: bytes, correlation_id: int | None) -> None:
    """Some with a correlation id that may be due, so that what follows it is read."""
    head = b"" if correlation_id is None else correlation_id.to_bytes(4, signed=True)
    peer = begin()
    check_end(peer, peer.deliver((len(head) + len(content)).to_bytes(4) + head + content))


@pytest.mark.parametrize("begin", STATES)
def test_a_size_beyond_the_bound_ends_it_at_once(begin: Callable[[], ScriptedPeer]) -> None:
    for size in (-1, ConnectionSettings().maximum_frame_size + 1, -(2**31), 2**31 - 1):
        peer = begin()
        events = peer.deliver(size.to_bytes(4, signed=True))
        assert peer.state() is State.CLOSED
        check_end(peer, events)


@pytest.mark.parametrize("begin", STATES)
def test_the_end_of_the_stream_ends_it(begin: Callable[[], ScriptedPeer]) -> None:
    peer = begin()
    due = peer.connection.in_flight if peer.state() is State.READY else None
    events = peer.connection.end_of_stream()
    assert peer.state() is State.CLOSED
    assert isinstance(events[-1], Closed)
    assert due is None or len(events) == due + 1


@given(
    cut=st.integers(min_value=0, max_value=400),
    bit=st.integers(min_value=0, max_value=7),
)
def test_an_answer_with_one_bit_turned_is_read_or_ends_it(cut: int, bit: int) -> None:
    peer = in_use()
    frames = bytearray(b"".join(answer_frame(request, MetadataResponse(cluster_id="c")) for request in peer.sent()))
    frames[cut % len(frames)] ^= 1 << bit
    events = peer.deliver(bytes(frames))
    check_end(peer, events)
    settled = [event for event in events if isinstance(event, (Answered, Failed))]
    assert len(settled) + peer.connection.in_flight == 3


@pytest.mark.parametrize("mutation", ["late", "twice", "other order"])
def test_answers_of_a_login_at_the_wrong_time_end_it(mutation: str) -> None:
    peer = handshaking()
    handshake = peer.only_request()
    accepted = answer_frame(handshake, SaslHandshakeResponse(0, ("SCRAM-SHA-512",)))
    if mutation == "late":
        peer.deliver(accepted)
        request = peer.only_request()
        events = peer.deliver(answer_frame(handshake, SaslAuthenticateResponse(), 0))
        assert request.header.correlation_id != handshake.header.correlation_id
    elif mutation == "twice":
        events = peer.deliver(accepted * 2)
    else:
        events = peer.deliver(accepted[:4] + (99).to_bytes(4) + accepted[8:])
    assert peer.state() is State.CLOSED
    check_end(peer, events)


@given(st.lists(st.integers(min_value=1, max_value=30), max_size=40))
def test_a_login_cut_anywhere_succeeds(sizes: list[int]) -> None:
    def in_parts(data: bytes) -> list[bytes]:
        parts, rest = [], data
        for size in sizes:
            parts.append(rest[:size])
            rest = rest[size:]
        return [*parts, rest]

    peer = before_handshake(SCRAM, feed=lambda data: iter(in_parts(data)))
    peer.let_log_in(ScramServer("alice", "secret"))
    assert [type(event) for event in peer.answer(peer.only_request(), versions_answer())] == [Ready]
