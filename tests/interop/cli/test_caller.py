"""Real brokers: a certificate says who calls, from what a broker says of its listeners."""

from __future__ import annotations

import ssl

import pytest
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import SecureBrokers
from tests.apache_kafka.releases import broker_releases
from tests.apache_kafka.secure_broker import CLIENT_NAME, SecureBroker

from kafkawire.admin import AclBinding, AclOperation, BlockingAdminClient
from kafkawire.admin.client_properties import client_arguments
from kafkawire.admin.connection.tls import Tls
from kafkawire.cli.state.caller import Caller, UnknownCallerError, caller_of
from kafkawire.wire.kafka_errors import KafkaError

pytestmark = [pytest.mark.interop, pytest.mark.extended]


@pytest.fixture(params=broker_releases())
def secure(request: pytest.FixtureRequest, secure_kafka_brokers: SecureBrokers) -> SecureBroker:
    return secure_kafka_brokers(request.param)


def test_a_certificate_says_who_calls_on_a_listener_that_asks_for_it(secure: SecureBroker) -> None:
    """Only this listener asks for certificates; the config of all of them says none."""
    principal = f"User:CN={CLIENT_NAME}"
    given = client_arguments(secure.java_mutual_tls())
    right = AclBinding.of_cluster(principal, AclOperation.DESCRIBE_CONFIGS)

    with BlockingAdminClient(f"localhost:{secure.mutual_tls_port}", tls=given.tls) as admin:
        with pytest.raises(UnknownCallerError, match="may not describe the configs of brokers"):
            caller_of(None, given.tls, admin, 30)
        with BlockingAdminClient(secure.broker.address) as setting_up:
            setting_up.create_acls([right]).all()
            try:
                expected = Caller(principal, "the certificate and ssl.principal.mapping.rules of the brokers")
                eventually(lambda: found_caller(given.tls, admin), lambda found: found == expected)
            finally:
                setting_up.delete_acls([right.to_filter()]).all()


def found_caller(tls: ssl.SSLContext | Tls | None, admin: BlockingAdminClient) -> Caller | None:
    try:
        return caller_of(None, tls, admin, 30)
    except (UnknownCallerError, KafkaError):
        return None
