"""SCRAM users at real brokers: made by thousands, logged in as, described and deleted (C27 to C30)."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import SecureBrokers
from tests.apache_kafka.releases import broker_releases
from tests.apache_kafka.secure_broker import PASSWORDS, USER, SecureBroker
from tests.stand_ins.channels import soon

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.connection.sasl.credentials import PlainCredentials, ScramCredentials
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.settings import AdminSettings
from kafkawire.model.scram import (
    MAXIMUM_ITERATIONS,
    MINIMUM_ITERATIONS,
    ScramAlteration,
    ScramCredentialInfo,
    ScramDeletion,
    ScramMechanism,
    ScramUpsertion,
)
from kafkawire.protocol import AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    ResourceNotFoundError,
    SaslAuthenticationFailedError,
    UnacceptableCredentialError,
    UnknownServerError,
    UnsupportedEndpointTypeError,
    UnsupportedSaslMechanismError,
)
from kafkawire.wire.kafka_errors import ApiError, OperationTimeoutError

pytestmark = [pytest.mark.interop, pytest.mark.extended]

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
PASSWORD = "correct horse"
SETTINGS = ConnectionSettings(client_id="test")


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, secure_kafka_brokers: SecureBrokers) -> SecureBroker:
    return secure_kafka_brokers(request.param)


@pytest.fixture
def user(admin: BlockingAdminClient) -> Iterator[str]:
    """A name that is not taken, and is not when the test is over."""
    name = f"user,{time.monotonic_ns()}= x"
    yield name
    admin.alter_user_scram_credentials([ScramDeletion(name, SHA_256), ScramDeletion(name, SHA_512)])


def infos(admin: BlockingAdminClient, user: str) -> tuple[ScramCredentialInfo, ...]:
    """The credentials of a user; none for an unknown one."""
    return admin.describe_user_scram_credentials([user]).values().get(user, ())


def logs_in(broker: SecureBroker, credentials: ScramCredentials | PlainCredentials) -> bool:
    with BlockingAdminClient(f"{broker.broker.host}:{broker.sasl_plaintext_port}", credentials=credentials) as client:
        try:
            return client.describe_cluster().cluster_id == broker.broker.cluster_id
        except SaslAuthenticationFailedError:
            return False


def test_one_call_sets_credentials_of_two_mechanisms_and_the_user_logs_in_with_each(
    admin: BlockingAdminClient, broker: SecureBroker, user: str
) -> None:
    """C27, C29."""
    upsertions = [ScramUpsertion(user, SHA_256, PASSWORD), ScramUpsertion(user, SHA_512, "other", iterations=5_000)]
    assert admin.alter_user_scram_credentials(upsertions).all() == {(user, SHA_256): None, (user, SHA_512): None}
    found = eventually(lambda: infos(admin, user), lambda found: len(found) == 2)
    assert found == (ScramCredentialInfo(SHA_256, 4_096), ScramCredentialInfo(SHA_512, 5_000))
    assert logs_in(broker, ScramCredentials(user, PASSWORD, "SCRAM-SHA-256"))
    assert logs_in(broker, ScramCredentials(user, "other", "SCRAM-SHA-512"))
    assert not logs_in(broker, ScramCredentials(user, PASSWORD, "SCRAM-SHA-512"))


def test_a_new_password_takes_the_place_of_the_old_one_and_a_deletion_ends_it(
    admin: BlockingAdminClient, broker: SecureBroker, user: str
) -> None:
    admin.alter_user_scram_credentials([ScramUpsertion(user, SHA_512, PASSWORD)]).all()
    eventually(lambda: logs_in(broker, ScramCredentials(user, PASSWORD)), bool)
    admin.alter_user_scram_credentials([ScramUpsertion(user, SHA_512, "pässword")]).all()
    eventually(lambda: logs_in(broker, ScramCredentials(user, "pässword")), bool)
    assert not logs_in(broker, ScramCredentials(user, PASSWORD))
    admin.alter_user_scram_credentials([ScramDeletion(user, SHA_512)]).all()
    eventually(lambda: infos(admin, user), lambda found: found == ())
    assert not logs_in(broker, ScramCredentials(user, "pässword"))


def test_good_users_are_altered_although_others_fail(admin: BlockingAdminClient, user: str) -> None:
    """C28, C30."""
    alterations: list[ScramAlteration] = [
        ScramDeletion("no such user", SHA_256),
        ScramDeletion(user, SHA_512),
        ScramUpsertion(user, SHA_256, PASSWORD, MAXIMUM_ITERATIONS, b""),
        ScramUpsertion("", SHA_256, PASSWORD),
    ]
    results = admin.alter_user_scram_credentials(alterations)
    assert {item: type(error) for item, error in results.errors().items()} == {
        ("no such user", SHA_256): ResourceNotFoundError,
        (user, SHA_512): ResourceNotFoundError,
        ("", SHA_256): UnacceptableCredentialError,
    }
    assert list(results.values()) == [(user, SHA_256)]
    eventually(lambda: infos(admin, user), lambda found: found == (ScramCredentialInfo(SHA_256, MAXIMUM_ITERATIONS),))


async def test_alterations_that_the_client_refuses_are_refused_by_the_broker_too(broker: SecureBroker) -> None:
    """C28."""
    deletion = AlterUserScramCredentialsRequest.ScramCredentialDeletion
    upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
    refused: list[tuple[AlterUserScramCredentialsRequest, type[ApiError]]] = [
        (AlterUserScramCredentialsRequest((deletion("", 1),)), UnacceptableCredentialError),
        (AlterUserScramCredentialsRequest((deletion("u", 9),)), UnsupportedSaslMechanismError),
    ]
    for iterations in (MINIMUM_ITERATIONS - 1, MAXIMUM_ITERATIONS + 1):
        request = AlterUserScramCredentialsRequest((), (upsertion("u", 2, iterations, b"s", b"p"),))
        refused.append((request, UnacceptableCredentialError))
    channel = await Channel.connect(broker.broker.host, broker.broker.port, SETTINGS, deadline=soon())
    for request, error in refused:
        answer = await channel.request(request, AlterUserScramCredentialsResponse, 0, soon())
        assert [result.error_code for result in answer.results] == [error.code]
    await channel.close()


async def test_two_alterations_of_a_user_in_one_request_are_refused(broker: SecureBroker) -> None:
    """So the client sends the mechanisms of a user in separate requests (C29)."""
    upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
    request = AlterUserScramCredentialsRequest(
        (), (upsertion("u", 1, 4096, b"s", b"p"), upsertion("u", 2, 4096, b"s", b"p"))
    )
    channel = await Channel.connect(broker.broker.host, broker.broker.port, SETTINGS, deadline=soon())
    answer = await channel.request(request, AlterUserScramCredentialsResponse, 0, soon())
    assert [result.error_code for result in answer.results] == [92]
    await channel.close()


def test_a_thousand_users_in_one_call(admin: BlockingAdminClient, broker: SecureBroker) -> None:
    names = [f"many-{number}" for number in range(1_000)]
    reported: list[tuple[int, int]] = []
    results = admin.alter_user_scram_credentials(
        [ScramUpsertion(name, SHA_256, PASSWORD) for name in names],
        progress=lambda done, total: reported.append((done, total)),
    )
    assert list(results.all()) == [(name, SHA_256) for name in names]
    assert reported == [(done, 1_000) for done in range(1, 1_001)]
    eventually(lambda: set(names) <= set(admin.describe_user_scram_credentials()), bool)
    assert set(admin.describe_user_scram_credentials(names).all().values()) == {(ScramCredentialInfo(SHA_256, 4_096),)}
    assert logs_in(broker, ScramCredentials(names[-1], PASSWORD, "SCRAM-SHA-256"))
    admin.alter_user_scram_credentials([ScramDeletion(name, SHA_256) for name in names]).all()


def test_more_users_than_a_request_may_change(admin: BlockingAdminClient) -> None:
    """A request with more records than 10 000 fails with -1, and says so for every user."""
    deletions = [ScramDeletion(f"absent-{number}", SHA_256) for number in range(10_001)]
    results = admin.alter_user_scram_credentials(deletions)
    assert {type(error) for error in results.errors().values()} == {ResourceNotFoundError}
    assert not any(isinstance(error, UnknownServerError) for error in results.errors().values())


def test_unknown_users_and_users_given_twice(admin: BlockingAdminClient) -> None:
    results = admin.describe_user_scram_credentials(["nobody", USER, "nobody"])
    assert list(results.values()) == [USER]
    assert isinstance(results.errors()["nobody"], ResourceNotFoundError)
    assert len(results) == 3
    assert len(admin.describe_user_scram_credentials([])) == 0


def test_missing_rights_are_an_error_or_end_with_the_deadline(broker: SecureBroker) -> None:
    address = f"{broker.broker.host}:{broker.sasl_plaintext_port}"
    credentials = PlainCredentials(USER, PASSWORDS[USER])
    with BlockingAdminClient(address, credentials=credentials, settings=AdminSettings(request_timeout=1.0)) as admin:
        named = admin.describe_user_scram_credentials([USER, "nobody"])
        assert {type(error) for error in named.errors().values()} == {ClusterAuthorizationFailedError}
        # Brokers never answer who asks for all users without the right to.
        with pytest.raises(OperationTimeoutError):
            admin.describe_user_scram_credentials(timeout=1.5)
        results = admin.alter_user_scram_credentials([ScramUpsertion(USER, SHA_256, PASSWORD)])
        assert {type(error) for error in results.errors().values()} == {ClusterAuthorizationFailedError}
        assert admin.describe_cluster().cluster_id == broker.broker.cluster_id


def test_controllers_do_not_serve_this(broker: SecureBroker) -> None:
    controller = f"{broker.broker.host}:{broker.broker.controller_port}"
    with BlockingAdminClient(bootstrap_controllers=controller) as admin:
        error = admin.alter_user_scram_credentials([ScramDeletion("u", SHA_256)]).errors()["u", SHA_256]
        assert isinstance(error, UnsupportedEndpointTypeError)
        with pytest.raises(UnsupportedEndpointTypeError):
            admin.describe_user_scram_credentials()
