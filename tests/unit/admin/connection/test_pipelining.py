"""Many requests in flight; cancelled requests; the end of idle connections."""

from __future__ import annotations

import re

import msgspec
import pytest
from tests.stand_ins.scripted_peer import SETTINGS, Feed, ScriptedPeer, answer_frame, byte_by_byte, ready, whole

from kafkawire.admin.connection.events import Answered, Closed, Event, Failed
from kafkawire.protocol import ListGroupsRequest, ListGroupsResponse, MetadataRequest, MetadataResponse
from kafkawire.rpc import encode_response
from kafkawire.wire.kafka_errors import BrokenStreamError, ClosedError, DisconnectedError


def answer_of(number: int) -> MetadataResponse:
    return MetadataResponse(cluster_id=f"c{number}")


def send(peer: ScriptedPeer, count: int) -> list[int]:
    return [peer.connection.send(MetadataRequest(), 12, peer.now) for _ in range(count)]


def the_end(events: list[Event]) -> Closed:
    assert isinstance(events[-1], Closed)
    return events[-1]


@pytest.mark.parametrize("feed", [whole, byte_by_byte])
def test_answers_find_their_requests(feed: Feed) -> None:
    peer = ready(feed=feed)
    ids = send(peer, 3)
    other = peer.connection.send(ListGroupsRequest(), 4, 0.0)
    assert peer.connection.in_flight == 4
    *metadata, groups = peer.sent()
    data = b"".join(answer_frame(request, answer_of(number)) for number, request in enumerate(metadata))
    events = peer.deliver(data + answer_frame(groups, ListGroupsResponse(0, 0)))
    assert events == [
        *(Answered(correlation_id, answer_of(number), 12) for number, correlation_id in enumerate(ids)),
        Answered(other, ListGroupsResponse(0, 0), 4),
    ]
    assert peer.connection.in_flight == 0


def test_an_answer_to_a_cancelled_request_is_discarded() -> None:
    peer = ready()
    first, second, third = send(peer, 3)
    assert peer.connection.abandon(second, 0.0) == []
    assert peer.connection.in_flight == 3
    events = [event for request in peer.sent() for event in peer.answer(request, answer_of(0))]
    assert events == [Answered(first, answer_of(0), 12), Answered(third, answer_of(0), 12)]


def test_an_abandoned_answer_is_not_even_read() -> None:
    peer = ready()
    (first,) = send(peer, 1)
    peer.connection.abandon(first, 0.0)
    (request,) = peer.sent()
    frame = request.header.correlation_id.to_bytes(4) + b"what no MetadataResponse begins with"
    assert peer.deliver(len(frame).to_bytes(4) + frame) == []


def test_abandoning_an_answered_or_unknown_request_is_ignored() -> None:
    peer = ready()
    (first,) = send(peer, 1)
    peer.answer(peer.only_request(), answer_of(0))
    assert peer.connection.abandon(first, 0.0) == []
    assert peer.connection.abandon(12345, 0.0) == []
    assert peer.connection.next_timer() == SETTINGS.idle_timeout


def test_an_abandoned_answer_that_stays_out_ends_the_connection() -> None:
    peer = ready()
    first, second = send(peer, 2)
    peer.connection.abandon(first, 10.0)
    assert peer.connection.next_timer() == 10.0 + SETTINGS.abandoned_timeout
    failed, closed = peer.connection.on_timer(10.0 + SETTINGS.abandoned_timeout)
    assert isinstance(failed, Failed)
    assert failed.correlation_id == second
    assert isinstance(failed.error, DisconnectedError)
    assert isinstance(closed, Closed)
    assert "abandoned request is still unanswered after 30 s" in str(closed.error)


def test_an_abandoned_answer_that_comes_in_time_leaves_no_timer() -> None:
    peer = ready()
    (first,) = send(peer, 1)
    peer.connection.abandon(first, 0.0)
    peer.answer(peer.only_request(), answer_of(0))
    assert peer.connection.next_timer() == SETTINGS.idle_timeout


def test_too_many_abandoned_answers_end_the_connection() -> None:
    peer = ready(msgspec.structs.replace(SETTINGS, maximum_abandoned=2))
    ids = send(peer, 4)
    assert peer.connection.abandon(ids[0], 0.0) == []
    assert peer.connection.abandon(ids[1], 0.0) == []
    events = peer.connection.abandon(ids[2], 0.0)
    assert [event.correlation_id for event in events if isinstance(event, Failed)] == [ids[3]]
    assert "3 abandoned requests are unanswered" in str(the_end(events).error)


@pytest.mark.parametrize("order", [(1, 0), (1,), (1, 1)])
def test_answers_out_of_order_break_the_stream(order: tuple[int, ...]) -> None:
    peer = ready()
    ids = send(peer, 2)
    requests = peer.sent()
    events = peer.deliver(b"".join(answer_frame(requests[index], answer_of(index)) for index in order))
    assert [event.correlation_id for event in events if isinstance(event, Failed)] == ids
    for event in events[:-1]:
        assert isinstance(event, Failed)
        assert isinstance(event.error, DisconnectedError)
        assert event.error.retriable
        assert isinstance(event.error.__cause__, BrokenStreamError)
    assert isinstance(the_end(events).error, BrokenStreamError)


def test_an_answer_twice_breaks_the_stream() -> None:
    peer = ready()
    first, second = send(peer, 2)
    request = peer.sent()[0]
    answered, failed, closed = peer.deliver(answer_frame(request, answer_of(0)) * 2)
    assert answered == Answered(first, answer_of(0), 12)
    assert isinstance(failed, Failed)
    assert failed.correlation_id == second
    assert "expected MetadataResponse v12 (correlation id 2), got an answer with correlation id 1" in str(
        the_end([closed]).error
    )


def test_an_answer_to_nothing_breaks_the_stream() -> None:
    peer = ready()
    events = peer.deliver(encode_response(answer_of(0), 12, correlation_id=99))
    assert "unexpected answer with correlation id 99" in str(the_end(events).error)


def test_an_answer_without_a_correlation_id_breaks_the_stream() -> None:
    assert "an answer of 3 bytes" in str(the_end(ready().deliver(b"\0\0\0\3abc")).error)


def test_an_answer_that_cannot_be_read_fails_its_request_and_disconnects_the_others() -> None:
    peer = ready()
    ids = send(peer, 2)
    request = peer.sent()[0]
    frame = answer_frame(request, answer_of(0))[4:-3]
    first, second, closed = peer.deliver(len(frame).to_bytes(4) + frame)
    assert isinstance(first, Failed)
    assert isinstance(second, Failed)
    assert [first.correlation_id, second.correlation_id] == ids
    assert isinstance(first.error, BrokenStreamError)
    assert "MetadataResponse v12 (correlation id 1) cannot be decoded" in str(first.error)
    assert isinstance(second.error, DisconnectedError)
    assert the_end([closed]).error is first.error


def test_a_disconnect_fails_each_request_in_flight_with_its_own_retriable_error() -> None:
    peer = ready()
    ids = send(peer, 3)
    peer.connection.abandon(ids[1], 0.0)
    reset = ConnectionResetError(104, "Connection reset by peer")
    first, third, closed = peer.connection.end_of_stream(reset)
    assert isinstance(first, Failed)
    assert isinstance(third, Failed)
    assert [first.correlation_id, third.correlation_id] == [ids[0], ids[2]]
    assert first.error is not third.error
    assert first.error.retriable
    error = the_end([closed]).error
    assert isinstance(error, DisconnectedError)
    assert error.__cause__ is reset


def test_the_error_of_a_disconnect_names_an_incomplete_answer() -> None:
    peer = ready()
    send(peer, 1)
    peer.deliver(answer_frame(peer.only_request(), answer_of(0))[:-1])
    told = str(the_end(peer.connection.end_of_stream()).error)
    assert re.search("1 answer due, [0-9]+ bytes of the next answer had come", told)


def test_a_broker_may_close_an_idle_connection() -> None:
    assert ready().connection.end_of_stream() == [Closed(None)]


def test_closing_fails_requests_in_flight() -> None:
    peer = ready()
    (first,) = send(peer, 1)
    failed, closed = peer.connection.close()
    assert isinstance(failed, Failed)
    assert failed.correlation_id == first
    assert isinstance(failed.error, ClosedError)
    assert closed == Closed(None)


def test_an_idle_connection_is_closed_and_one_in_use_is_not() -> None:
    peer = ready()
    peer.now = 100.0
    send(peer, 1)
    assert peer.connection.next_timer() is None
    assert peer.connection.on_timer(100.0 + SETTINGS.idle_timeout) == []
    peer.now = 500.0
    peer.answer(peer.only_request(), answer_of(0))
    assert peer.connection.next_timer() == 500.0 + SETTINGS.idle_timeout
    assert peer.connection.on_timer(499.0 + SETTINGS.idle_timeout) == []
    assert peer.connection.on_timer(500.0 + SETTINGS.idle_timeout) == [Closed(None)]


def test_its_representation_says_where_it_stands() -> None:
    peer = ready()
    send(peer, 2)
    assert repr(peer.connection) == "<Connection READY, 2 in flight>"
