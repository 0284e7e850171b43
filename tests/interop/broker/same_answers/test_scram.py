"""SCRAM credentials: which alterations are refused, and how the others are described (C27 to C30)."""

from __future__ import annotations

import pytest
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_secure_brokers
from tests.interop.broker.same_answers.talk import Talk

from kafkawire.protocol import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)

pytestmark = pytest.mark.interop

Upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
Deletion = AlterUserScramCredentialsRequest.ScramCredentialDeletion
UserName = DescribeUserScramCredentialsRequest.UserName

SHA_256, SHA_512 = 1, 2
LARGEST_BATCH = 10_000


def upsertion(
    user: str, mechanism: int = SHA_256, iterations: int = 4096, salt: bytes = b"salt", salted: bytes = b"salted"
) -> Upsertion:
    return Upsertion(user, mechanism, iterations, salt, salted)


def alter(talk: Talk, *alterations: Upsertion | Deletion) -> AlterUserScramCredentialsResponse:
    deletions = tuple(one for one in alterations if isinstance(one, Deletion))
    upsertions = tuple(one for one in alterations if isinstance(one, Upsertion))
    request = AlterUserScramCredentialsRequest(deletions, upsertions)
    return talk.ask(request, 0, AlterUserScramCredentialsResponse)


def described(*users: str) -> DescribeUserScramCredentialsRequest:
    return DescribeUserScramCredentialsRequest(tuple(map(UserName, users)))


def describe(talk: Talk, *users: str) -> None:
    talk.ask(described(*users), 0, DescribeUserScramCredentialsResponse)


def have(talk: Talk, user: str, *mechanisms: int) -> None:
    """Wait until a user has credentials for these mechanisms."""

    def done(answer: DescribeUserScramCredentialsResponse) -> bool:
        (one,) = answer.results
        return sorted(info.mechanism for info in one.credential_infos) == sorted(mechanisms)

    talk.ask_until(described(user), 0, DescribeUserScramCredentialsResponse, done)


@same_answers_from_secure_brokers
def test_wrong_alterations_are_refused_and_the_others_are_applied(talk: Talk) -> None:
    """C28, C30."""
    alter(
        talk,
        upsertion("s-good"),
        upsertion("s-fewest", SHA_512),
        upsertion("s-most", SHA_256, 16384),
        upsertion("s-too-few", SHA_256, 4095),
        upsertion("s-too-few-512", SHA_512, 4095),
        upsertion("s-negative", SHA_256, -1),
        upsertion("s-too-many", SHA_256, 16385),
        upsertion("s-unknown", 0),
        upsertion("s-unmapped", 3),
        upsertion("s-negative-mechanism", -1),
        upsertion(""),
        Deletion("", SHA_256),
        Deletion("s-absent", SHA_256),
        Deletion("s-unknown-deletion", 0),
        upsertion("s-empty-salt", salt=b""),
        upsertion("s-empty", salted=b""),
        upsertion("s, x=y \u00fc"),
    )
    have(talk, "s-good", SHA_256)
    describe(talk, "s-good", "s-fewest", "s-most", "s-too-few", "s-empty-salt", "s-empty", "s, x=y \u00fc", "")
    alter(talk, *(Deletion(user, SHA_256) for user in ("s-good", "s-most", "s-empty-salt", "s, x=y \u00fc")))
    alter(talk, Deletion("s-fewest", SHA_256))
    alter(talk, Deletion("s-fewest", SHA_512))
    have(talk, "s-fewest")
    alter(talk)


@same_answers_from_secure_brokers
def test_a_user_who_occurs_twice_in_a_request_is_refused_and_stays_as_before(talk: Talk) -> None:
    """C29."""
    alter(talk, upsertion("twice", SHA_256))
    have(talk, "twice", SHA_256)
    bad = upsertion("twice", SHA_256, 1)
    for alterations in (
        (upsertion("twice"), upsertion("twice", SHA_512)),
        (bad, bad),
        (upsertion("twice"), bad),
        (bad, upsertion("twice")),
        (Deletion("twice", SHA_256), upsertion("twice", SHA_512)),
        (Deletion("twice", SHA_256), Deletion("twice", SHA_256)),
        (Deletion("twice", SHA_512), upsertion("twice")),
        (Deletion("twice", SHA_512), bad),
        (Deletion("twice", SHA_256), bad),
        (upsertion("twice"), upsertion("twice"), upsertion("twice")),
        (upsertion("", 9), upsertion("", 1)),
    ):
        alter(talk, *alterations, upsertion("beside"))
    have(talk, "beside", SHA_256)
    have(talk, "twice", SHA_256)
    alter(talk, Deletion("twice", SHA_256), Deletion("beside", SHA_256))
    have(talk, "twice")


@same_answers_from_secure_brokers
def test_describing(talk: Talk) -> None:
    alter(talk, upsertion("described", SHA_256))
    alter(talk, upsertion("described", SHA_512, 8192))
    have(talk, "described", SHA_256, SHA_512)
    describe(talk, "described", "nobody", "described")
    describe(talk, "nobody", "nobody")
    describe(talk, "")
    alter(talk, Deletion("described", SHA_256))
    alter(talk, Deletion("described", SHA_512))
    have(talk, "described")


@same_answers_from_secure_brokers
def test_the_size_of_a_batch_is_limited(talk: Talk) -> None:
    alter(talk, *(upsertion(f"many-{number}") for number in range(LARGEST_BATCH + 1)))
    describe(talk, "many-0")


@same_answers_from_secure_brokers
def test_missing_rights(talk: Talk) -> None:
    """Who may not describe gets no results: those of Kafka, for users without a name, are not copied."""
    with talk.logged_in(USER, PASSWORDS[USER]):
        request = AlterUserScramCredentialsRequest((Deletion("a", SHA_256),), (upsertion("b"), upsertion("b")))
        talk.ask_for_codes(request, 0)
