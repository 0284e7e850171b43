"""SCRAM credentials: salted here, one alteration of a user in a request, an outcome for each (C27 to C30)."""

from __future__ import annotations

import asyncio
import hashlib
import pickle
import threading
from collections import Counter
from collections.abc import Collection

import pytest
from tests.stand_ins.broker import Answer
from tests.stand_ins.cluster import FAST, NodeHandler, StandInCluster

from kafkawire.admin.settings import AdminSettings
from kafkawire.model.scram import (
    MAXIMUM_ITERATIONS,
    MINIMUM_ITERATIONS,
    ScramAlteration,
    ScramCredentialInfo,
    ScramDeletion,
    ScramMechanism,
    ScramUpsertion,
    salted,
)
from kafkawire.protocol import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    DuplicateResourceError,
    ResourceNotFoundError,
    UnacceptableCredentialError,
    UnsupportedSaslMechanismError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import OperationTimeoutError

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
UNHEARD_OF = ScramMechanism(9)
PASSWORD = "correct horse"
PATIENT = AdminSettings(call_timeout=60.0, request_timeout=30.0, retry_backoff=0.005, retry_backoff_maximum=0.02)


class StandInUsers:
    """The credentials of a cluster, altered by Kafka's rules.

    Attributes:
        credentials: user and mechanism to salt, salted password and iterations.
        requests: how many alterations each request had.
    """

    def __init__(self, credentials: Collection[tuple[str, int]] = ()) -> None:
        self.credentials: dict[tuple[str, int], tuple[bytes, bytes, int]] = dict.fromkeys(
            credentials, (b"", b"", MINIMUM_ITERATIONS)
        )
        self.requests: list[int] = []

    @property
    def handlers(self) -> dict[type[Message], NodeHandler]:
        return {AlterUserScramCredentialsRequest: self.alter, DescribeUserScramCredentialsRequest: self.describe}

    def alter(self, _: int, request: Request) -> Message:
        body = request.body
        assert isinstance(body, AlterUserScramCredentialsRequest)
        result = AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult
        users = Counter([*(one.name for one in body.deletions), *(one.name for one in body.upsertions)])
        self.requests.append(users.total())
        if users.total() > 10_000:
            return AlterUserScramCredentialsResponse(results=tuple(result(user, -1) for user in users))
        codes = {user: ErrorCode.DUPLICATE_RESOURCE for user, times in users.items() if times > 1}
        for deletion in body.deletions:
            if (deletion.name, deletion.mechanism) not in self.credentials:
                codes[deletion.name] = ErrorCode.RESOURCE_NOT_FOUND
            elif not codes.get(deletion.name):
                del self.credentials[deletion.name, deletion.mechanism]
        for one in body.upsertions:
            if not codes.get(one.name):
                self.credentials[one.name, one.mechanism] = one.salt, one.salted_password, one.iterations
        return AlterUserScramCredentialsResponse(
            results=tuple(result(user, codes.get(user, 0), "said by the broker") for user in reversed(users))
        )

    def describe(self, _: int, request: Request) -> Message:
        body = request.body
        assert isinstance(body, DescribeUserScramCredentialsRequest)
        response = DescribeUserScramCredentialsResponse
        known = dict.fromkeys(user for user, _ in self.credentials)
        asked = [user.name for user in body.users or ()] or list(known)
        return response(
            results=tuple(
                response.DescribeUserScramCredentialsResult(
                    user, 0 if user in known else ErrorCode.RESOURCE_NOT_FOUND,
                    credential_infos=tuple(
                        response.CredentialInfo(mechanism, iterations)
                        for (name, mechanism), (_, _, iterations) in self.credentials.items()
                        if name == user
                    ),
                )
                for user in asked
            )
        )  # fmt: skip


async def test_the_password_is_salted_and_never_sent() -> None:
    """C27."""
    users = StandInUsers()
    async with StandInCluster(1, users.handlers) as cluster, cluster.client() as client:
        alterations = [
            ScramUpsertion("alice", SHA_256, PASSWORD),
            ScramUpsertion("bob", SHA_512, PASSWORD.encode(), iterations=5000, salt=b"pepper"),
        ]
        results = await client.alter_user_scram_credentials(alterations)
        assert results.all() == {("alice", SHA_256): None, ("bob", SHA_512): None}
        salt, hashed, iterations = users.credentials["alice", 1]
        assert (len(salt), iterations) == (32, 4096)
        assert hashed == hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), salt, 4096)
        assert users.credentials["bob", 2] == (
            b"pepper", hashlib.pbkdf2_hmac("sha512", PASSWORD.encode(), b"pepper", 5000), 5000,
        )  # fmt: skip
        ((_, sent),) = cluster.asked
        assert PASSWORD.encode() not in sent.encode(0)


def test_every_salt_is_a_new_one() -> None:
    """C27."""
    upsertion = ScramUpsertion("alice", SHA_256, PASSWORD)
    assert salted(upsertion)[0] != salted(upsertion)[0]


def test_a_password_given_as_text_is_hashed_as_utf_8() -> None:
    """C27."""
    text = ScramUpsertion("alice", SHA_256, "pässword", salt=b"s")
    assert salted(text) == salted(ScramUpsertion("alice", SHA_256, "pässword".encode(), salt=b"s"))


def test_the_repr_of_an_upsertion_shows_neither_password_nor_salt() -> None:
    """C27."""
    upsertion = ScramUpsertion("alice", SHA_256, PASSWORD, salt=b"pepper")
    assert "alice" in repr(upsertion)
    assert PASSWORD not in repr(upsertion)
    assert "pepper" not in repr(upsertion)


REFUSED = [
    (ScramUpsertion("", SHA_256, PASSWORD), UnacceptableCredentialError),
    (ScramUpsertion("u", SHA_256, ""), UnacceptableCredentialError),
    (ScramUpsertion("u", SHA_256, b""), UnacceptableCredentialError),
    (ScramUpsertion("u", SHA_256, PASSWORD, MINIMUM_ITERATIONS - 1), UnacceptableCredentialError),
    (ScramUpsertion("u", SHA_512, PASSWORD, MAXIMUM_ITERATIONS + 1), UnacceptableCredentialError),
    (ScramUpsertion("u", SHA_512, PASSWORD + "\udc80"), UnacceptableCredentialError),
    (ScramUpsertion("\udc80", SHA_512, PASSWORD), UnacceptableCredentialError),
    (ScramUpsertion("u", ScramMechanism.UNKNOWN, PASSWORD), UnsupportedSaslMechanismError),
    (ScramUpsertion("u", UNHEARD_OF, PASSWORD), UnsupportedSaslMechanismError),
    (ScramDeletion("", SHA_256), UnacceptableCredentialError),
    (ScramDeletion("u", UNHEARD_OF), UnsupportedSaslMechanismError),
]


@pytest.mark.parametrize(("bad", "error"), REFUSED)
async def test_alterations_that_a_broker_refuses_are_refused_unsent_and_the_others_are_sent(
    bad: ScramAlteration, error: type[Exception]
) -> None:
    """C28."""
    users = StandInUsers()
    async with StandInCluster(1, users.handlers) as cluster, cluster.client() as client:
        results = await client.alter_user_scram_credentials([bad, ScramUpsertion("good", SHA_256, PASSWORD)])
        assert list(results.values()) == [("good", SHA_256)]
        (refusal,) = results.errors().values()
        assert type(refusal) is error
        assert refusal.attempts == 0
        assert PASSWORD not in f"{refusal!r} {refusal} {pickle.dumps(refusal)!r}"
        assert users.requests == [1]


@pytest.mark.parametrize("iterations", [MINIMUM_ITERATIONS, MAXIMUM_ITERATIONS])
async def test_iterations_at_the_bounds_are_sent(iterations: int) -> None:
    """C28."""
    users = StandInUsers()
    async with StandInCluster(1, users.handlers) as cluster, cluster.client() as client:
        (await client.alter_user_scram_credentials([ScramUpsertion("u", SHA_256, PASSWORD, iterations)])).all()
        assert users.credentials["u", 1][2] == iterations


async def test_an_error_that_only_the_broker_can_find_has_its_message_and_node() -> None:
    """C28."""
    async with StandInCluster(1, StandInUsers().handlers) as cluster, cluster.client() as client:
        error = (await client.alter_user_scram_credentials([ScramDeletion("u", SHA_256)])).errors()["u", SHA_256]
        assert isinstance(error, ResourceNotFoundError)
        assert (error.message, error.node, error.attempts) == ("said by the broker", 1, 1)


async def test_mechanisms_of_a_user_are_sent_one_after_the_other() -> None:
    """C29."""
    users = StandInUsers([("carol", 1)])
    async with StandInCluster(1, users.handlers) as cluster, cluster.client() as client:
        reported: list[tuple[int, int]] = []
        results = await client.alter_user_scram_credentials(
            [
                ScramUpsertion("alice", SHA_256, PASSWORD),
                ScramUpsertion("alice", SHA_512, PASSWORD),
                ScramDeletion("carol", SHA_512),
                ScramDeletion("carol", SHA_256),
                ScramUpsertion("bob", SHA_512, PASSWORD),
            ],
            progress=lambda done, total: reported.append((done, total)),
        )
        assert users.requests == [3, 2]
        assert list(results.values()) == [
            ("alice", SHA_256), ("alice", SHA_512), ("carol", SHA_256), ("bob", SHA_512),
        ]  # fmt: skip
        assert isinstance(results.errors()["carol", SHA_512], ResourceNotFoundError)
        assert set(users.credentials) == {("alice", 1), ("alice", 2), ("bob", 2)}
        assert reported == [(done, 5) for done in range(1, 6)]


async def test_two_different_alterations_of_a_credential_are_refused_and_equal_ones_are_merged() -> None:
    """C29."""
    users = StandInUsers()
    async with StandInCluster(1, users.handlers) as cluster, cluster.client() as client:
        results = await client.alter_user_scram_credentials(
            [
                ScramUpsertion("twice", SHA_256, PASSWORD),
                ScramUpsertion("twice", SHA_256, "another"),
                ScramUpsertion("twice", SHA_512, PASSWORD),
                ScramUpsertion("equal", SHA_256, PASSWORD, salt=b"s"),
                ScramUpsertion("equal", SHA_256, PASSWORD, salt=b"s"),
            ]
        )
        assert list(results.values()) == [("twice", SHA_512), ("equal", SHA_256)]
        assert isinstance(results.errors()["twice", SHA_256], DuplicateResourceError)
        assert len(results) == 5


async def test_good_users_of_a_request_are_altered_although_others_fail() -> None:
    """C30."""
    users = StandInUsers([("gone", 1)])
    async with StandInCluster(1, users.handlers) as cluster, cluster.client() as client:
        names = ["gone", *(f"absent{number}" for number in range(20))]
        results = await client.alter_user_scram_credentials([ScramDeletion(name, SHA_256) for name in names])
        assert list(results.values()) == [("gone", SHA_256)]
        assert len(results.errors()) == 20
        assert users.requests == [21]


async def test_not_controller_is_retried_with_the_same_salt() -> None:
    def alter(node: int, request: Request) -> Message:
        assert isinstance(request.body, AlterUserScramCredentialsRequest)
        (one,) = request.body.upsertions
        sent.append((node, one.salt))
        if node == 1:
            cluster.controller = 2
        result = AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult
        return AlterUserScramCredentialsResponse(results=(result(one.name, 41 if node == 1 else 0),))

    sent: list[tuple[int, bytes]] = []
    async with StandInCluster(2, {AlterUserScramCredentialsRequest: alter}) as cluster, cluster.client() as client:
        (await client.alter_user_scram_credentials([ScramUpsertion("u", SHA_256, PASSWORD)])).all()
        assert [node for node, _ in sent] == [1, 2]
        assert len({salt for _, salt in sent}) == 1


@pytest.mark.usefixtures("one_engine")
async def test_more_users_than_a_request_may_change_are_sent_in_several() -> None:
    users = StandInUsers()
    async with StandInCluster(1, users.handlers) as cluster, cluster.client(PATIENT) as client:
        deletions = [ScramDeletion(f"u{number}", SHA_256) for number in range(20_001)]
        results = await client.alter_user_scram_credentials(deletions)
        assert {type(error) for error in results.errors().values()} == {ResourceNotFoundError}
        assert len(results) == 20_001
        assert users.requests == [10_000, 10_000, 1]


async def test_salting_leaves_the_event_loop_free() -> None:
    users = StandInUsers()
    async with StandInCluster(1, users.handlers) as cluster, cluster.client(PATIENT) as client:
        alterations = [ScramUpsertion(f"u{n}", SHA_512, PASSWORD, MAXIMUM_ITERATIONS) for n in range(10)]
        altering = asyncio.create_task(client.alter_user_scram_credentials(alterations))
        turns = 0
        while not altering.done():
            await asyncio.sleep(0)
            turns += 1
        (await altering).all()
        # Each of them takes several milliseconds; on the loop's own thread there would be few turns between them.
        assert turns > 100


async def test_salting_counts_towards_the_deadline() -> None:
    users = StandInUsers()
    async with StandInCluster(1, users.handlers) as cluster, cluster.client() as client:
        alterations = [ScramUpsertion(f"u{n}", SHA_512, PASSWORD, MAXIMUM_ITERATIONS) for n in range(2_000)]
        results = await client.alter_user_scram_credentials(alterations, timeout=0.2)
        errors = results.errors().values()
        assert len(errors) == 2_000
        assert {type(error) for error in errors} == {OperationTimeoutError}
        assert not any(error.outcome_unknown or error.attempts for error in errors)
        assert users.requests == []


async def test_salting_ends_when_the_call_is_cancelled() -> None:
    users = StandInUsers()
    async with StandInCluster(1, users.handlers) as cluster, cluster.client(PATIENT) as client:
        alterations = [ScramUpsertion(f"u{n}", SHA_512, PASSWORD, MAXIMUM_ITERATIONS) for n in range(2_000)]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await client.alter_user_scram_credentials(alterations)
        assert users.requests == []
    hashing = [thread for thread in threading.enumerate() if "salts passwords" in thread.name]
    for thread in hashing:
        thread.join(5.0)
    assert not any(thread.is_alive() for thread in hashing)


async def test_results_of_users_are_matched_by_name() -> None:
    users = StandInUsers([("alice", 2), ("alice", 1), ("bob", 9)])
    async with StandInCluster(1, users.handlers) as cluster, cluster.client() as client:
        results = await client.describe_user_scram_credentials(["bob", "nobody", "alice", "bob"])
        assert list(results) == ["bob", "nobody", "alice", "bob"]
        assert results["alice"] == (ScramCredentialInfo(SHA_256, 4096), ScramCredentialInfo(SHA_512, 4096))
        assert results["bob"] == (ScramCredentialInfo(UNHEARD_OF, 4096),)
        assert isinstance(results.errors()["nobody"], ResourceNotFoundError)
        ((_, asked),) = cluster.asked
        assert [user.name for user in getattr(asked, "users", ())] == ["bob", "nobody", "alice"]


async def test_all_users_are_described_unless_some_are_given() -> None:
    users = StandInUsers([("alice", 1), ("bob", 2)])
    async with StandInCluster(1, users.handlers) as cluster, cluster.client() as client:
        reported: list[tuple[int, int]] = []
        results = await client.describe_user_scram_credentials(
            progress=lambda done, total: reported.append((done, total))
        )
        assert list(results.all()) == ["alice", "bob"]
        assert reported == [(2, 2)]
        assert getattr(cluster.asked[0][1], "users", ()) is None
        assert len(await client.describe_user_scram_credentials([])) == 0
        assert len(cluster.asked) == 1


async def test_an_error_for_the_whole_request_is_that_of_each_user() -> None:
    def refuse(_: int, __: Request) -> Message:
        response = DescribeUserScramCredentialsResponse
        return response(error_code=31, results=(response.DescribeUserScramCredentialsResult("", 31),))

    async with StandInCluster(1, {DescribeUserScramCredentialsRequest: refuse}) as cluster, cluster.client() as client:
        errors = (await client.describe_user_scram_credentials(["a", "b"])).errors()
        assert [type(error) for error in errors.values()] == [ClusterAuthorizationFailedError] * 2
        with pytest.raises(ClusterAuthorizationFailedError):
            await client.describe_user_scram_credentials()


async def test_a_listing_that_is_never_answered_ends_with_the_deadline() -> None:
    handlers: dict[type[Message], NodeHandler] = {DescribeUserScramCredentialsRequest: lambda *_: Answer()}
    async with StandInCluster(1, handlers) as cluster, cluster.client(FAST) as client:
        with pytest.raises(OperationTimeoutError, match="describe_user_scram_credentials"):
            await client.describe_user_scram_credentials(timeout=0.2)
