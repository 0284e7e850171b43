"""From the frame of a request to that of its response: answers, closed connections, and errors of handlers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.controller import Controller
from kafkawire.broker.dispatch import Dispatcher, Reply
from kafkawire.broker.faults.faults import Faults
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.quotas.client_quotas import ClientQuotas
from kafkawire.broker.request_log import RequestLog
from kafkawire.broker.request_work import RequestWork
from kafkawire.broker.requests import Answer, Call, RefusedRequestError, Unanswered
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.sessions import ANONYMOUS, Session
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ClientQuotaRecord,
    CreateTopicsRequest,
    CreateTopicsResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import PolicyViolationError
from kafkawire.rpc import decode_response, encode_request
from kafkawire.wire import Message

SESSION = Session(ANONYMOUS, "127.0.0.1", "PLAINTEXT")
OFFERED: Mapping[int, range] = {
    ApiKey.API_VERSIONS: range(5),
    ApiKey.METADATA: range(14),
    ApiKey.CREATE_TOPICS: range(2, 8),
    ApiKey.PRODUCE: range(14),
    ApiKey.SASL_HANDSHAKE: range(2),
}
TOPIC = CreateTopicsRequest((CreateTopicsRequest.CreatableTopic("t", 1, 1),))


class Broker:
    """A dispatcher with handlers that a test makes up."""

    def __init__(self) -> None:
        self.clock, self.faults = ManualClock(), Faults()
        self.quotas = ClientQuotas(self.clock)
        self.controller = Controller(MetadataLog(), MetadataImage())
        self.answer: Answer | Exception = None
        self.calls: list[Call] = []
        self.waits = self.works = 0.0
        requests = (ApiVersionsRequest, MetadataRequest, CreateTopicsRequest, ProduceRequest, SaslHandshakeRequest)
        self.dispatcher = Dispatcher(
            [ServedApi(request, self._handle, 0, 0) for request in requests],
            OFFERED,
            self.controller,
            quotas=self.quotas,
            faults=self.faults,
            clock=self.clock,
            work=RequestWork(),
            received=RequestLog(),
        )

    async def _handle(self, _: Message, call: Call) -> Answer:
        self.calls.append(call)
        await self.clock.sleep(self.waits)
        self.clock.advance(self.works)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def ask(self, request: Message, version: int, client_id: str | None = "c") -> Reply:
        frame = encode_request(request, version, correlation_id=7, client_id=client_id)
        return await self.dispatcher.reply(frame[4:], SESSION)

    def limit_time(self, percent: float) -> None:
        self.quotas.apply(
            ClientQuotaRecord((ClientQuotaRecord.EntityData("client-id", None),), "request_percentage", percent)
        )


@pytest.fixture
def broker() -> Broker:
    return Broker()


def content(reply: Reply, response: type[Message], version: int) -> Message:
    assert reply.frame is not None
    correlation_id, answer = decode_response(reply.frame[4:], response, version)
    assert correlation_id == 7
    return answer


async def test_handlers_receive_the_session_and_the_version(broker: Broker) -> None:
    broker.answer = MetadataResponse()
    await broker.ask(MetadataRequest(), 12)
    await broker.ask(MetadataRequest(), 12, client_id=None)
    size = len(encode_request(MetadataRequest(), 12, correlation_id=7, client_id="c")) - 4
    assert broker.calls[0] == Call(ApiKey.METADATA, 12, "c", SESSION, size)
    assert (broker.calls[1].client_id, broker.calls[1].size) == ("", size - 1)


async def test_an_unknown_version_of_api_versions_is_answered_with_the_offered_ones(broker: Broker) -> None:
    frame = encode_request(ApiVersionsRequest(), 4, correlation_id=7, client_id="c")
    newer = frame[4:6] + (99).to_bytes(2) + frame[8:]
    reply = await broker.dispatcher.reply(newer, SESSION)
    known = ApiVersionsResponse.ApiVersion(ApiKey.API_VERSIONS, 0, 4)
    assert content(reply, ApiVersionsResponse, 0) == ApiVersionsResponse(35, (known,))


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\x00\x12",
        bytes(8),
        (9999).to_bytes(2) + bytes(8),
        (ApiKey.METADATA).to_bytes(2) + (99).to_bytes(2) + bytes(8),
        encode_request(CreateTopicsRequest(), 7, correlation_id=7)[4:-2],
        (ApiKey.CREATE_TOPICS).to_bytes(2) + (1).to_bytes(2) + bytes(6),
    ],
    ids=["empty", "short", "no body", "unknown api", "unknown version", "cut off", "version that is not offered"],
)
async def test_invalid_requests_close_the_connection(broker: Broker, frame: bytes) -> None:
    with pytest.raises(RefusedRequestError):
        await broker.dispatcher.reply(frame, SESSION)


async def test_an_exception_becomes_an_error_of_every_item(broker: Broker, caplog: pytest.LogCaptureFixture) -> None:
    broker.answer = ZeroDivisionError()
    response = content(await broker.ask(TOPIC, 7), CreateTopicsResponse, 7)
    assert isinstance(response, CreateTopicsResponse)
    assert [(topic.name, topic.error_code) for topic in response.topics] == [("t", -1)]
    assert "CreateTopicsRequest version 7 could not be answered" in caplog.text


async def test_an_answer_that_cannot_be_written_is_a_defect(broker: Broker, caplog: pytest.LogCaptureFixture) -> None:
    broker.answer = PolicyViolationError("half a character: \ud800")
    response = content(await broker.ask(TOPIC, 7), CreateTopicsResponse, 7)
    assert isinstance(response, CreateTopicsResponse)
    assert [(topic.name, topic.error_code) for topic in response.topics] == [("t", -1)]
    assert "The answer to CreateTopicsRequest version 7 cannot be encoded" in caplog.text


async def test_an_error_that_a_handler_raises_is_the_answer(broker: Broker) -> None:
    broker.answer = PolicyViolationError("no")
    response = content(await broker.ask(TOPIC, 7), CreateTopicsResponse, 7)
    assert isinstance(response, CreateTopicsResponse)
    assert [(topic.error_code, topic.error_message) for topic in response.topics] == [(44, "no")]


async def test_a_handler_can_close_the_connection(broker: Broker) -> None:
    broker.answer = RefusedRequestError("no")
    with pytest.raises(RefusedRequestError):
        await broker.ask(TOPIC, 7)


async def test_requests_without_an_answer_may_be_throttled(broker: Broker) -> None:
    broker.answer = None
    assert await broker.ask(ProduceRequest(acks=0), 9) == Reply(None, 0)
    broker.answer = Unanswered(1500)
    broker.clock.advance(1)
    assert await broker.ask(ProduceRequest(acks=0), 9) == Reply(None, 0, 2.5)


async def test_a_throttle_time_mutes_the_connection(broker: Broker) -> None:
    """D16."""
    broker.answer = ProduceResponse(throttle_time_ms=1500)
    reply = await broker.ask(ProduceRequest(acks=1), 9)
    assert reply.muted_until == 1.5
    waiting = asyncio.ensure_future(broker.dispatcher.unmuted(reply))
    await asyncio.sleep(0)
    broker.clock.advance(1.4)
    await asyncio.sleep(0)
    assert not waiting.done()
    broker.clock.advance(0.1)
    await waiting


async def test_a_fault_that_throttles_leaves_it_to_the_client_to_wait(broker: Broker) -> None:
    broker.answer = ProduceResponse(throttle_time_ms=300)
    broker.faults.throttle(ProduceRequest, milliseconds=1500)
    reply = await broker.ask(ProduceRequest(acks=1), 9)
    response = content(reply, ProduceResponse, 9)
    assert isinstance(response, ProduceResponse)
    assert (response.throttle_time_ms, reply.muted_until) == (1500, 0.3)


async def test_the_longest_throttle_time_applies(broker: Broker) -> None:
    """D13, D14."""
    broker.limit_time(4)
    broker.works = 0.5
    broker.answer = ProduceResponse(throttle_time_ms=300)
    reply = await broker.ask(ProduceRequest(acks=1), 9)
    response = content(reply, ProduceResponse, 9)
    assert isinstance(response, ProduceResponse)
    assert (response.throttle_time_ms, reply.muted_until) == (1000, 1.5)
    broker.clock.advance(60)
    broker.works = 0
    reply = await broker.ask(ProduceRequest(acks=1), 9)
    assert reply.muted_until == 60.8


async def test_time_that_a_request_waits_does_not_count(broker: Broker) -> None:
    """D13."""
    broker.limit_time(4)
    broker.waits = 10
    asked = asyncio.ensure_future(broker.ask(MetadataRequest(), 12))
    broker.answer = MetadataResponse()
    await asyncio.sleep(0)
    broker.clock.advance(10)
    assert (await asked).muted_until == 0


async def test_a_cancelled_request_ends_its_handler_while_it_waits(broker: Broker) -> None:
    """D13."""
    broker.limit_time(4)
    broker.waits = 10
    asked = asyncio.ensure_future(broker.ask(MetadataRequest(), 12))
    await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert broker.clock.sleepers == 0


async def test_logins_are_not_throttled(broker: Broker) -> None:
    broker.limit_time(4)
    broker.works = 5
    broker.answer = SaslHandshakeResponse()
    assert (await broker.ask(SaslHandshakeRequest("PLAIN"), 1)).muted_until == 0


async def test_the_time_of_a_request_that_fails_with_a_defect_counts(broker: Broker) -> None:
    """D13."""
    broker.limit_time(4)
    broker.works = 5
    broker.answer = ZeroDivisionError()
    response = content(await broker.ask(TOPIC, 7), CreateTopicsResponse, 7)
    assert isinstance(response, CreateTopicsResponse)
    assert response.throttle_time_ms == 1000
