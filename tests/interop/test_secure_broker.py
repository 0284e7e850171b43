"""The secure broker of the other tests: it accepts Java's clients with each proof, and no client without one."""

from __future__ import annotations

import pytest
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import SecureBrokers
from tests.apache_kafka.java_admin import JavaAdmin, JavaAdminError
from tests.apache_kafka.java_answers import JavaAcl
from tests.apache_kafka.releases import broker_releases
from tests.apache_kafka.secure_broker import CLIENT_NAME, MECHANISMS, PASSWORDS, USER, SecureBroker

pytestmark = [pytest.mark.interop, pytest.mark.extended]


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, secure_kafka_brokers: SecureBrokers) -> SecureBroker:
    return secure_kafka_brokers(request.param)


@pytest.mark.parametrize("tls", [True, False], ids=["tls", "no tls"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_super_user_is_let_in_and_may_do_everything(
    broker: SecureBroker, java_admin: JavaAdmin, mechanism: str, tls: bool
) -> None:
    cluster = java_admin.client(properties=broker.java_sasl(mechanism, tls=tls)).describe_cluster(
        authorized_operations=True
    )
    assert cluster.cluster_id == broker.broker.cluster_id
    assert {"ALTER", "CREATE", "DESCRIBE"} <= set(cluster.authorized_operations or ())
    assert [node.port for node in cluster.nodes] == [broker.sasl_ssl_port if tls else broker.sasl_plaintext_port]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_other_user_is_let_in_and_may_do_nothing(broker: SecureBroker, java_admin: JavaAdmin, mechanism: str) -> None:
    with pytest.raises(JavaAdminError) as refused:
        java_admin.client(properties=broker.java_sasl(mechanism, USER)).describe_acls()
    assert refused.value.name == "CLUSTER_AUTHORIZATION_FAILED"


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_wrong_password_is_refused(broker: SecureBroker, java_admin: JavaAdmin, mechanism: str) -> None:
    with pytest.raises(JavaAdminError) as refused:
        java_admin.client(properties=broker.java_sasl(mechanism, password="wrong")).describe_cluster()
    assert refused.value.name == "SASL_AUTHENTICATION_FAILED"


def test_client_certificate_says_who_it_is(broker: SecureBroker, java_admin: JavaAdmin) -> None:
    set_up = java_admin.client(broker.broker.address)
    seen, hidden = "certificate-seen", "certificate-hidden"
    for topic in (seen, hidden):
        set_up.create_topic(topic)
    set_up.create_acl(JavaAcl("TOPIC", seen, "LITERAL", f"User:CN={CLIENT_NAME}", "*", "DESCRIBE", "ALLOW"))
    admin = java_admin.client(properties=broker.java_mutual_tls())
    listed = eventually(lambda: {topic.name for topic in admin.list_topics()}, bool)
    assert listed == {seen}


def test_a_client_without_a_certificate_is_refused(broker: SecureBroker, java_admin: JavaAdmin) -> None:
    properties = {
        name: value for name, value in broker.java_mutual_tls().items() if not name.startswith("ssl.keystore")
    }
    with pytest.raises(JavaAdminError) as refused:
        java_admin.client(properties=properties).describe_cluster()
    assert refused.value.kind == "SslAuthenticationException"


def test_plain_listener_lets_tests_set_everything_up(broker: SecureBroker, java_admin: JavaAdmin) -> None:
    admin = java_admin.client(broker.broker.address)
    described = {user.user: [c.mechanism for c in user.credentials] for user in admin.describe_scram_users(PASSWORDS)}
    assert described == {user: ["SCRAM_SHA_256", "SCRAM_SHA_512"] for user in PASSWORDS}
    assert "ALTER" in (admin.describe_cluster(authorized_operations=True).authorized_operations or ())
