"""Which group a heartbeat finds, by kind, with the errors and the messages of Apache Kafka."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import permutations

import pytest
from tests.embedded.connection import BrokerConnection, connected_to
from tests.embedded.streams_members import joining
from tests.unit.broker.handlers.test_groups import commit

from kafkawire.broker import EmbeddedBroker
from kafkawire.model.topics import NewTopic
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

KINDS = ("consumer", "share", "streams")


@pytest.fixture
async def client() -> AsyncIterator[BrokerConnection]:
    async with EmbeddedBroker(topics=[NewTopic("orders")]) as broker, connected_to(broker) as connection:
        yield connection


async def heartbeat(client: BrokerConnection, kind: str, epoch: int) -> tuple[int, str | None]:
    """The error for a heartbeat of the member ``m`` of the group ``g``, and its message."""
    if kind == "consumer":
        consumer = ConsumerGroupHeartbeatRequest("g", "m", epoch)
        if epoch == 0:
            consumer = ConsumerGroupHeartbeatRequest("g", "m", 0, None, None, 9000, ("orders",), None, None, ())
        found = await client.ask(consumer, 1, ConsumerGroupHeartbeatResponse)
        return found.error_code, found.error_message
    if kind == "share":
        share = ShareGroupHeartbeatRequest("g", "m", epoch, subscribed_topic_names=("orders",))
        shared = await client.ask(share, 1, ShareGroupHeartbeatResponse)
        return shared.error_code, shared.error_message
    streamer = StreamsGroupHeartbeatRequest("g", "m", epoch) if epoch else joining("m")
    streams = await client.ask(streamer, 0, StreamsGroupHeartbeatResponse)
    return streams.error_code, streams.error_message


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epoch", [1, 2, -1])
async def test_only_a_member_that_joins_begins_a_group(client: BrokerConnection, kind: str, epoch: int) -> None:
    """A member that leaves gets another message than one that lives."""
    named = f"{kind.capitalize()} group" if epoch > 0 else "Group"
    error = (ErrorCode.GROUP_ID_NOT_FOUND, f"{named} g not found.")
    assert await heartbeat(client, kind, epoch) == error
    assert await heartbeat(client, kind, epoch) == error, "nothing has begun"


@pytest.mark.parametrize(("kind", "existing"), [*permutations(KINDS, 2)])
@pytest.mark.parametrize("epoch", [0, 1, -1])
async def test_a_group_has_members_of_one_kind(client: BrokerConnection, kind: str, existing: str, epoch: int) -> None:
    assert await heartbeat(client, existing, 0) == (ErrorCode.NONE, None)
    assert await heartbeat(client, kind, epoch) == (
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Group g is not a {kind} group.",
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epoch", [0, 1, -1])
async def test_a_group_of_commits_becomes_one_of_members_that_join_except_of_a_share_group(
    client: BrokerConnection, kind: str, epoch: int
) -> None:
    assert await commit(client, "orders", 5) == ErrorCode.NONE
    begins = epoch == 0 and kind != "share"
    assert await heartbeat(client, kind, epoch) == (
        (ErrorCode.NONE, None) if begins else (ErrorCode.GROUP_ID_NOT_FOUND, f"Group g is not a {kind} group.")
    )
