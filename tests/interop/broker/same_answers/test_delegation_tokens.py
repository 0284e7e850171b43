"""Delegation tokens: made, renewed, expired, described and logged in with (KIP-48, KIP-373)."""

from __future__ import annotations

import base64
import time

import pytest
from msgspec.structs import replace
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.secure_broker import PASSWORDS, SUPER_USER, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers, same_answers_from_secure_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_topic_rights import allow

from kafkawire.admin.connection.sasl.credentials import ScramCredentials
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)

pytestmark = pytest.mark.interop

_LITERAL = 3
_CREATIONS, _CHANGES, _DESCRIPTIONS = range(1, 4), range(1, 3), range(1, 4)
_HOUR = 3_600_000
_ROUNDS = 60_000
"""Times in answers are compared to a minute: the scenario takes less."""

_Renewer = CreateDelegationTokenRequest.CreatableRenewers
_Owner = DescribeDelegationTokenRequest.DescribeDelegationTokenOwner


def create(
    talk: Talk,
    *renewers: str,
    owner: tuple[str | None, str | None] = ("", ""),
    lifetime_ms: int = -1,
    version: int = 3,
    kind: str = "User",
) -> bytes:
    """Make a token, and compare all of the answer that is not random; returns its HMAC."""
    request = CreateDelegationTokenRequest(*owner, tuple(_Renewer(kind, name) for name in renewers), lifetime_ms)
    answer = talk.learn(request, version, CreateDelegationTokenResponse)
    issued = answer.issue_timestamp_ms if not answer.error_code else 0
    kept = replace(
        answer,
        token_id="an id" if len(answer.token_id) == 22 else answer.token_id,
        hmac=b"an HMAC" if len(answer.hmac) == 64 else answer.hmac,
        issue_timestamp_ms=answer.issue_timestamp_ms - issued,
        expiry_timestamp_ms=answer.expiry_timestamp_ms - issued,
        max_timestamp_ms=answer.max_timestamp_ms - issued,
    )
    talk.keep(request, version, kept)
    if not answer.error_code:
        wait_for(talk, answer.hmac)
    return bytes(answer.hmac)


def wait_for(talk: Talk, hmac: bytes, *, gone: bool = False) -> None:
    """Until the broker has a token, or has it no more."""
    eventually(
        lambda: talk.learn(DescribeDelegationTokenRequest(None), 3, DescribeDelegationTokenResponse),
        lambda answer: answer.error_code or any(token.hmac == hmac for token in answer.tokens) is not gone,
    )


def renew(talk: Talk, hmac: bytes, period_ms: int = -1) -> None:
    for version in _CHANGES:
        request = RenewDelegationTokenRequest(hmac, period_ms)
        answer = talk.learn(request, version, RenewDelegationTokenResponse)
        talk.keep(
            RenewDelegationTokenRequest(b"", period_ms),
            version,
            replace(answer, expiry_timestamp_ms=until(talk, hmac, answer.expiry_timestamp_ms)),
        )


def expire(talk: Talk, hmac: bytes, period_ms: int = -1) -> None:
    for version in _CHANGES:
        request = ExpireDelegationTokenRequest(hmac, period_ms)
        answer = talk.learn(request, version, ExpireDelegationTokenResponse)
        talk.keep(
            ExpireDelegationTokenRequest(b"", period_ms),
            version,
            replace(answer, expiry_timestamp_ms=until(talk, hmac, answer.expiry_timestamp_ms)),
        )
        if period_ms < 0 and not answer.error_code:
            wait_for(talk, hmac, gone=True)


def until(talk: Talk, hmac: bytes, timestamp_ms: int) -> int:
    """The new expiry in minutes since the token was made, once the broker has it; or as it is if it is no time."""
    if timestamp_ms <= 0:
        return timestamp_ms

    def found() -> tuple[int, int] | None:
        described = talk.learn(DescribeDelegationTokenRequest(None), 3, DescribeDelegationTokenResponse)
        times = ((token.issue_timestamp, token.expiry_timestamp) for token in described.tokens if token.hmac == hmac)
        return next(times, None)

    known = eventually(found, lambda times: times is None or times[1] == timestamp_ms)
    return 1 if known is None else (timestamp_ms - known[0]) // _ROUNDS


def describe(talk: Talk, *owners: tuple[str, str], of_all: bool = False) -> None:
    for version in _DESCRIPTIONS:
        request = DescribeDelegationTokenRequest(None if of_all else tuple(_Owner(*owner) for owner in owners))
        answer = talk.learn(request, version, DescribeDelegationTokenResponse)
        tokens = sorted(
            (
                replace(
                    token,
                    token_id="an id",
                    hmac=b"an HMAC" if len(token.hmac) == 64 else token.hmac,
                    issue_timestamp=0,
                    expiry_timestamp=(token.expiry_timestamp - token.issue_timestamp) // _ROUNDS,
                    max_timestamp=(token.max_timestamp - token.issue_timestamp) // _ROUNDS,
                    renewers=tuple(token.renewers),
                )
                for token in answer.tokens
            ),
            key=repr,
        )
        talk.keep(request, version, replace(answer, tokens=tuple(tokens)))


def clear(talk: Talk) -> None:
    """Remove what other scenarios have left."""
    for user in (SUPER_USER, USER):
        with talk.logged_in(user, PASSWORDS[user]):
            found = talk.learn(DescribeDelegationTokenRequest(None), 3, DescribeDelegationTokenResponse)
            for token in found.tokens:
                expired = ExpireDelegationTokenRequest(token.hmac, -1)
                if not talk.learn(expired, 2, ExpireDelegationTokenResponse).error_code:
                    wait_for(talk, bytes(token.hmac), gone=True)


@same_answers_from_secure_brokers
def test_the_life_of_a_token(talk: Talk) -> None:
    clear(talk)
    with talk.logged_in(SUPER_USER, PASSWORDS[SUPER_USER]):
        for version in _CREATIONS:
            create(talk, USER, "bob", version=version)
        token = create(talk, USER)
        for lifetime in (0, 1000 * _HOUR, 10 * _HOUR, (1 << 63) - 1):
            create(talk, lifetime_ms=lifetime)
        describe(talk, of_all=True)
        describe(talk)
        for owner in (SUPER_USER, USER, "bob", "stranger", ""):
            describe(talk, ("User", owner))
        describe(talk, ("Group", SUPER_USER), ("User", "bob"))
        for period in (-1, 0, _HOUR, 1000 * _HOUR):
            renew(talk, token, period)
            describe(talk, of_all=True)
        for hmac in (b"", b"x", bytes(64)):
            renew(talk, hmac)
            expire(talk, hmac)
        for period in (_HOUR, 1000 * _HOUR):
            expire(talk, token, period)
            describe(talk, of_all=True)
        expire(talk, token)
        describe(talk, of_all=True)
        renew(talk, token)


@same_answers_from_secure_brokers
def test_a_token_that_has_expired_can_only_be_removed(talk: Talk) -> None:
    clear(talk)
    with talk.logged_in(SUPER_USER, PASSWORDS[SUPER_USER]):
        token = create(talk)
        expired = talk.learn(ExpireDelegationTokenRequest(token, 0), 2, ExpireDelegationTokenResponse)
        until(talk, token, expired.expiry_timestamp_ms)
        eventually(lambda: time.time_ns() // 1_000_000, lambda now_ms: now_ms > expired.expiry_timestamp_ms)
        renew(talk, token)
        expire(talk, token, 0)
        expire(talk, token, _HOUR)
        expire(talk, token)
        describe(talk, of_all=True)


@same_answers_from_secure_brokers
@pytest.mark.extended
def test_owners_renewers_and_others(talk: Talk) -> None:
    clear(talk)
    with talk.logged_in(SUPER_USER, PASSWORDS[SUPER_USER]):
        renewable = create(talk, USER)
        secret = create(talk)
        of_user = create(talk, owner=("User", USER))
        create(talk, USER, kind="Group")
        create(talk, SUPER_USER, owner=("Group", "owners"))
        create(talk, SUPER_USER, owner=("", USER))
        create(talk, owner=(None, None))
        create(talk, owner=("Group", None))
        describe(talk, of_all=True)
    with talk.logged_in(USER, PASSWORDS[USER]):
        describe(talk, of_all=True)
        for token in (renewable, secret, of_user):
            renew(talk, token, 2 * _HOUR)
            expire(talk, token, _HOUR)
        create(talk, owner=("User", SUPER_USER))
        create(talk, owner=("User", USER))
        create(talk, owner=("User", SUPER_USER), kind="Group")
    allow(
        talk,
        ((ResourceType.USER, f"User:{SUPER_USER}", _LITERAL), AclOperation.CREATE_TOKENS),
        ((ResourceType.USER, f"User:{SUPER_USER}", _LITERAL), AclOperation.DESCRIBE_TOKENS),
    )
    with talk.logged_in(USER, PASSWORDS[USER]):
        create(talk, owner=("User", SUPER_USER))
        describe(talk, of_all=True)
        describe(talk, ("User", SUPER_USER))
        renew(talk, secret)


@same_answers_from_secure_brokers
def test_logins_with_a_token(talk: Talk) -> None:
    clear(talk)
    with talk.logged_in(SUPER_USER, PASSWORDS[SUPER_USER]):
        hmac = create(talk, owner=("User", USER))
        described = talk.learn(DescribeDelegationTokenRequest(None), 3, DescribeDelegationTokenResponse)
        (token_id,) = [token.token_id for token in described.tokens if token.hmac == hmac]
    allow(talk, ((ResourceType.CLUSTER, "kafka-cluster", _LITERAL), AclOperation.ALTER))
    password = base64.b64encode(hmac).decode()
    asked = DescribeClusterRequest(include_cluster_authorized_operations=True)
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        with talk.logged_in_by(ScramCredentials(token_id, password, mechanism, is_delegation_token=True)):
            talk.ask(asked, 1, DescribeClusterResponse)
            create(talk)
            describe(talk, of_all=True)
            renew(talk, hmac)
            expire(talk, hmac)
        for wrong in (
            ScramCredentials(token_id, "wrong", mechanism, is_delegation_token=True),
            ScramCredentials(token_id, password, mechanism),
            ScramCredentials(USER, PASSWORDS[USER], mechanism, is_delegation_token=True),
        ):
            refused = pytest.raises(ConnectionRefusedError, match=f"58: .*SASL mechanism {mechanism}")
            with talk.logged_in_by(wrong), refused:
                talk.learn(asked, 1, DescribeClusterResponse)


@same_answers_from_secure_brokers
def test_connections_without_a_login_may_not_ask(talk: Talk) -> None:
    for version in _CREATIONS:
        create(talk, version=version)
    create(talk, kind="Group")
    renew(talk, b"")
    expire(talk, b"")
    describe(talk, of_all=True)


@same_answers_from_plain_brokers
def test_brokers_without_a_key(talk: Talk) -> None:
    create(talk)
    renew(talk, b"")
    expire(talk, b"")
    describe(talk)
