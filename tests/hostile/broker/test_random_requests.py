"""Whatever legal requests say: each is answered, or its connection closed, and nothing goes wrong inside."""

from __future__ import annotations

import asyncio
import logging
import random

import pytest
from msgspec.structs import replace
from tests.embedded.connection import BrokerConnection, connected_to
from tests.hostile.broker.asked_for import GROUP, TOPIC, any_request

from kafkawire.broker import EmbeddedBroker
from kafkawire.layout import Uuid
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    FetchRequest,
    OffsetCommitRequest,
    OffsetCommitResponse,
    ProduceRequest,
    message_class,
)
from kafkawire.protocol.api_table import APIS
from kafkawire.rpc import decode_response
from kafkawire.wire import Message

UNSTABLE = {"unstable.api.versions.enable": "true"}
AUTHORIZED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
LONGEST_WAIT_MS = 5


async def prepare(client: BrokerConnection) -> Uuid:
    """Make the topic and the group; the id of the topic."""
    topics = (CreateTopicsRequest.CreatableTopic(TOPIC, 1, 1),)
    created = await client.ask(CreateTopicsRequest(topics), 7, CreateTopicsResponse)
    commit = OffsetCommitRequest.OffsetCommitRequestPartition(0, 1)
    commits = (OffsetCommitRequest.OffsetCommitRequestTopic(TOPIC, partitions=(commit,)),)
    await client.ask(OffsetCommitRequest(GROUP, topics=commits), 9, OffsetCommitResponse)
    return created.topics[0].topic_id


async def offered(broker: EmbeddedBroker) -> list[tuple[int, int]]:
    async with connected_to(broker) as client:
        answer = await client.ask(ApiVersionsRequest(), 0, ApiVersionsResponse)
    return [
        (api.api_key, version) for api in answer.api_keys for version in range(api.min_version, api.max_version + 1)
    ]


@pytest.mark.parametrize("properties", [UNSTABLE, {**UNSTABLE, **AUTHORIZED}], ids=["open", "authorized"])
async def test_random_requests_are_answered(properties: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    rng = random.Random(11)
    async with EmbeddedBroker(properties) as broker:
        async with connected_to(broker) as client:
            topic_id = await prepare(client)
        for key, version in await offered(broker):
            for _ in range(4):
                request = _answered_soon(any_request(rng, key, version, topic_id))
                async with connected_to(broker) as client:
                    client.send(request, version)
                    try:
                        frame = await client.frame()
                    except (asyncio.IncompleteReadError, ConnectionError):
                        continue
                    decode_response(frame, message_class(APIS[key].response), version)
    defects = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert not defects


def _answered_soon(request: Message) -> Message:
    """Fetches that hardly wait for records, and produce requests that want an answer."""
    match request:
        case FetchRequest():
            return replace(request, max_wait_ms=min(request.max_wait_ms, LONGEST_WAIT_MS))
        case ProduceRequest(acks=0):
            return replace(request, acks=1)
    return request
