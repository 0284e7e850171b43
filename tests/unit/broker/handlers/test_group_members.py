"""Groups have no members: joining is refused with a fatal error, and the log names the client."""

from __future__ import annotations

import logging

import pytest
from tests.embedded.connection import connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

AUTHORIZER = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
SUBSCRIPTION = JoinGroupRequest.JoinGroupRequestProtocol("range", bytes(8))
JOIN = JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", (SUBSCRIPTION,))
HEARTBEAT = ConsumerGroupHeartbeatRequest("g", "member")


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


async def test_no_members_are_taken(caplog: pytest.LogCaptureFixture) -> None:
    """The error that clients take for final, at every version that is offered."""
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        offered = await client.ask(ApiVersionsRequest(), 0, ApiVersionsResponse)
        versions = {api.api_key: range(api.min_version, api.max_version + 1) for api in offered.api_keys}
        for version in versions[JoinGroupRequest.API_KEY or 0]:
            joined = await client.ask(JOIN, version, JoinGroupResponse)
            assert (joined.error_code, joined.generation_id, joined.members) == (ErrorCode.UNSUPPORTED_VERSION, -1, ())
        for version in versions[ConsumerGroupHeartbeatRequest.API_KEY or 0]:
            beaten = await client.ask(HEARTBEAT, version, ConsumerGroupHeartbeatResponse)
            assert beaten.error_code == ErrorCode.UNSUPPORTED_VERSION
            assert "has no members of groups" in (beaten.error_message or "")
    assert len(warnings(caplog)) == 1


async def test_each_client_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    async with EmbeddedBroker() as broker:
        for client_id in ("a", "b", "a"):
            async with connected_to(broker, client_id) as client:
                await client.ask(ApiVersionsRequest("some-client", "1.2"), 3, ApiVersionsResponse)
                await client.ask(JOIN, 5, JoinGroupResponse)
                await client.ask(JOIN, 5, JoinGroupResponse)
    said = "(some-client 1.2) at 127.0.0.1 wants to join a group."
    assert [line.partition(" This broker")[0] for line in warnings(caplog)] == [
        f"Client 'a' {said}",
        f"Client 'b' {said}",
    ]


async def test_client_ids_cannot_forge_lines_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async with EmbeddedBroker() as broker, connected_to(broker, "a\nERROR forged") as client:
        await client.ask(JOIN, 5, JoinGroupResponse)
    (warning,) = warnings(caplog)
    assert "\n" not in warning


async def test_made_up_clients_fill_no_memory(caplog: pytest.LogCaptureFixture) -> None:
    async with EmbeddedBroker() as broker:
        for number in range(1200):
            async with connected_to(broker, f"c{number}") as client:
                await client.ask(JOIN, 5, JoinGroupResponse)
        caplog.clear()
        async with connected_to(broker, "c1199") as client:
            await client.ask(JOIN, 5, JoinGroupResponse)
        assert not warnings(caplog)
        async with connected_to(broker, "c0") as client:
            await client.ask(JOIN, 5, JoinGroupResponse)
        assert len(warnings(caplog)) == 1


async def test_a_user_without_the_right_to_read_the_group_learns_only_that(caplog: pytest.LogCaptureFixture) -> None:
    async with EmbeddedBroker(AUTHORIZER) as broker, connected_to(broker) as client:
        joined = await client.ask(JOIN, 9, JoinGroupResponse)
        beaten = await client.ask(HEARTBEAT, 1, ConsumerGroupHeartbeatResponse)
    assert (joined.error_code, beaten.error_code) == (ErrorCode.GROUP_AUTHORIZATION_FAILED,) * 2
    assert not warnings(caplog)
