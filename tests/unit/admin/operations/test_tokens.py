"""Delegation tokens (KIP-48, KIP-373)."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Awaitable, Callable

import pytest
from tests.stand_ins.cluster import NodeHandler, StandInCluster

from kafkawire.admin.client import AdminClient
from kafkawire.admin.tokens import DelegationToken
from kafkawire.protocol import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    DelegationTokenRequestNotAllowedError,
    InvalidPrincipalTypeError,
    InvalidTimestampError,
    UnsupportedVersionError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ApiError

HMAC = b"hush\x00\xff"


def requester_of(request: Request, name: str) -> tuple[str, str]:
    return ("User", name) if request.header.request_api_version >= 3 else ("", "")


def created(_: int, request: Request) -> Message:
    body = request.body
    assert isinstance(body, CreateDelegationTokenRequest)
    requester = requester_of(request, "alice")
    return CreateDelegationTokenResponse(
        0, "User", body.owner_principal_name or "alice", *requester, 1_000, 2_000, 3_000, "id", HMAC
    )


def described(_: int, request: Request) -> Message:
    body = request.body
    assert isinstance(body, DescribeDelegationTokenRequest)
    token = DescribeDelegationTokenResponse.DescribedDelegationToken
    renewers = (DescribeDelegationTokenResponse.DescribedDelegationTokenRenewer("User", "bob:b"),)
    owners = ["alice"] if body.owners is None else [owner.principal_name for owner in body.owners]
    requester = requester_of(request, "carol")
    tokens = tuple(token("User", name, *requester, 1_000, 2_000, 3_000, "id", HMAC, renewers) for name in owners)
    return DescribeDelegationTokenResponse(tokens=tokens)


HANDLERS: dict[type[Message], NodeHandler] = {
    CreateDelegationTokenRequest: created,
    RenewDelegationTokenRequest: lambda *_: RenewDelegationTokenResponse(expiry_timestamp_ms=4_000),
    ExpireDelegationTokenRequest: lambda *_: ExpireDelegationTokenResponse(expiry_timestamp_ms=5_000),
    DescribeDelegationTokenRequest: described,
}
BEFORE_OWNERS: dict[int, range] = {ApiKey.CREATE_DELEGATION_TOKEN: range(3), ApiKey.DESCRIBE_DELEGATION_TOKEN: range(3)}


async def test_a_token_is_made_for_the_caller_with_the_settings_of_the_brokers() -> None:
    async with StandInCluster(1, HANDLERS) as cluster, cluster.client() as client:
        token = await client.create_delegation_token()
        assert token == DelegationToken("id", HMAC, "User:alice", "User:alice", (), 1_000, 2_000, 3_000)
        assert cluster.asked == [(1, CreateDelegationTokenRequest(None, None, (), -1))]


async def test_a_token_is_created_for_another_user() -> None:
    async with StandInCluster(1, HANDLERS) as cluster, cluster.client() as client:
        token = await client.create_delegation_token(owner="User:b:c", renewers=["User:dora"], max_lifetime_ms=60_000)
        assert (token.owner, token.requester, token.renewers) == ("User:b:c", "User:alice", ("User:dora",))
        renewers = (CreateDelegationTokenRequest.CreatableRenewers("User", "dora"),)
        assert cluster.asked == [(1, CreateDelegationTokenRequest("User", "b:c", renewers, 60_000))]


async def test_older_brokers_make_tokens_for_the_caller_only() -> None:
    async with StandInCluster(1, HANDLERS, versions=BEFORE_OWNERS) as cluster, cluster.client() as client:
        token = await client.create_delegation_token(renewers=["User:dora"])
        assert (token.owner, token.requester) == ("User:alice", None)
        with pytest.raises(UnsupportedVersionError, match="CreateDelegationToken"):
            await client.create_delegation_token(owner="User:bob")
        (old,) = await client.describe_delegation_token()
        assert old.requester is None


async def test_a_token_is_renewed_and_expired_by_its_hmac() -> None:
    async with StandInCluster(1, HANDLERS) as cluster, cluster.client() as client:
        assert await client.renew_delegation_token(HMAC) == 4_000
        assert await client.renew_delegation_token(HMAC, renew_period_ms=10) == 4_000
        assert await client.expire_delegation_token(HMAC) == 5_000
        assert await client.expire_delegation_token(HMAC, expiry_period_ms=0) == 5_000
        assert [request for _, request in cluster.asked] == [
            RenewDelegationTokenRequest(HMAC, -1),
            RenewDelegationTokenRequest(HMAC, 10),
            ExpireDelegationTokenRequest(HMAC, -1),
            ExpireDelegationTokenRequest(HMAC, 0),
        ]


async def test_tokens_of_all_or_of_some_owners_are_described() -> None:
    async with StandInCluster(1, HANDLERS) as cluster, cluster.client() as client:
        (token,) = await client.describe_delegation_token()
        assert token == DelegationToken("id", HMAC, "User:alice", "User:carol", ("User:bob:b",), 1_000, 2_000, 3_000)
        assert [token.owner for token in await client.describe_delegation_token(["User:x", "User:y"])] == [
            "User:x",
            "User:y",
        ]
        assert await client.describe_delegation_token([]) == ()
        assert [getattr(request, "owners", ()) is None for _, request in cluster.asked] == [True, False, False]


def test_the_secret_of_a_token_is_in_no_representation() -> None:
    token = DelegationToken("id", HMAC, "User:alice", None, (), 1, 2, 3)
    assert "'id'" in repr(token)
    assert "hush" not in repr(token)
    assert base64.b64encode(HMAC).decode() not in f"{token.credentials()!r}"


def test_the_owner_of_a_token_logs_in_with_it() -> None:
    credentials = DelegationToken("id", HMAC, "User:alice", None, (), 1, 2, 3).credentials("SCRAM-SHA-256")
    assert (credentials.username, credentials.mechanism) == ("id", "SCRAM-SHA-256")
    assert base64.b64decode(credentials.password) == HMAC
    assert credentials.is_delegation_token


CALLS: list[Callable[[AdminClient], Awaitable[object]]] = [
    lambda client: client.create_delegation_token(),
    lambda client: client.renew_delegation_token(HMAC),
    lambda client: client.expire_delegation_token(HMAC),
    lambda client: client.describe_delegation_token(),
]


@pytest.mark.parametrize("call", CALLS)
async def test_error_64_names_what_the_connection_lacks(call: Callable[[AdminClient], Awaitable[object]]) -> None:
    code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    handlers: dict[type[Message], NodeHandler] = {
        CreateDelegationTokenRequest: lambda *_: CreateDelegationTokenResponse(code),
        RenewDelegationTokenRequest: lambda *_: RenewDelegationTokenResponse(code),
        ExpireDelegationTokenRequest: lambda *_: ExpireDelegationTokenResponse(code),
        DescribeDelegationTokenRequest: lambda *_: DescribeDelegationTokenResponse(code),
    }
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        with pytest.raises(DelegationTokenRequestNotAllowedError, match=r"SASL.*TLS.*token does not count") as raised:
            await call(client)
        assert b"hush" not in pickle.dumps(raised.value)


@pytest.mark.parametrize("code", [61, 62, 63, 64, 65, 66, 67])
async def test_errors_of_tokens_have_words_that_brokers_leave_out(code: int) -> None:
    handlers: dict[type[Message], NodeHandler] = {
        RenewDelegationTokenRequest: lambda *_: RenewDelegationTokenResponse(code)
    }
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        with pytest.raises(ApiError) as raised:
            await client.renew_delegation_token(HMAC)
        assert raised.value.code == code
        assert raised.value.message


async def test_other_errors_are_left_as_they_are() -> None:
    handlers: dict[type[Message], NodeHandler] = {
        ExpireDelegationTokenRequest: lambda *_: ExpireDelegationTokenResponse(ErrorCode.INVALID_TIMESTAMP)
    }
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        with pytest.raises(InvalidTimestampError):
            await client.expire_delegation_token(HMAC)


@pytest.mark.parametrize("principal", ["alice", "", ":alice", "User:"])
async def test_a_principal_without_type_or_name_is_refused_without_asking(principal: str) -> None:
    async with StandInCluster(1, HANDLERS) as cluster, cluster.client() as client:
        calls: list[Awaitable[object]] = [
            client.create_delegation_token(owner=principal),
            client.create_delegation_token(renewers=[principal]),
            client.describe_delegation_token([principal]),
        ]
        for call in calls:
            with pytest.raises(InvalidPrincipalTypeError, match="User:name"):
                await call
        assert cluster.asked == []
