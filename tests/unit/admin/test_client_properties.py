"""What the properties of Java's clients set in an admin client, and which are refused."""

from __future__ import annotations

import logging
import shutil
import subprocess
from pathlib import Path

import pytest
import trustme

from kafkawire.admin import AdminClient, AdminSettings, BlockingAdminClient, PlainCredentials, ScramCredentials, Tls
from kafkawire.admin.client_properties import ClientArguments, client_arguments
from kafkawire.broker import ThreadedBroker

BOOTSTRAP = {"bootstrap.servers": "a:1,b:2"}
TLS = {**BOOTSTRAP, "security.protocol": "SSL"}
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
SECRET = "very-secret"


def login(mechanism: str, entry: str) -> dict[str, str]:
    return {
        **BOOTSTRAP,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": entry,
    }


def one_line(pem: bytes) -> str:
    return pem.decode().replace("\n", " ").strip()


def tls_of(given: ClientArguments) -> Tls:
    assert isinstance(given.tls, Tls)
    return given.tls


def test_times_are_in_milliseconds_and_names_are_kafkas() -> None:
    given = client_arguments(
        {
            **BOOTSTRAP,
            "client.id": "nightly",
            "request.timeout.ms": "1500",
            "default.api.timeout.ms": " 2000 ",
            "retry.backoff.ms": "0",
            "retry.backoff.max.ms": "500",
            "reconnect.backoff.ms": "20",
            "reconnect.backoff.max.ms": "200",
            "socket.connection.setup.timeout.ms": "3000",
            "metadata.max.age.ms": "60000",
            "connections.max.idle.ms": "-1",
            "metadata.cluster.check.enable": "FALSE",
        }
    )
    assert given.bootstrap_servers == "a:1,b:2"
    assert given.settings == AdminSettings(
        client_id="nightly", request_timeout=1.5, call_timeout=2, retry_backoff=0.001, retry_backoff_maximum=0.5,
        reconnect_backoff=0.02, reconnect_backoff_maximum=0.2, connect_timeout=3, metadata_maximum_age=60,
        idle_timeout=float("inf"), cluster_check=False,
    )  # fmt: skip


def test_what_is_not_given_has_the_defaults() -> None:
    given = client_arguments(BOOTSTRAP)
    assert given == ClientArguments(
        bootstrap_servers="a:1,b:2", bootstrap_controllers=None, tls=None, credentials=None, settings=AdminSettings()
    )
    assert client_arguments({"bootstrap.controllers": "c:3"}).bootstrap_controllers == "c:3"


def test_a_request_may_take_longer_than_the_default_of_a_call_as_in_java() -> None:
    given = client_arguments({**BOOTSTRAP, "request.timeout.ms": "90000"})
    assert given.settings is not None
    assert given.settings.call_timeout == 90


@pytest.mark.parametrize(
    ("mechanism", "entry", "credentials"),
    [
        ("PLAIN", f'{PLAIN} required username="alice" password="{SECRET}";', PlainCredentials("alice", SECRET)),
        (
            "SCRAM-SHA-256",
            f'{SCRAM} required\n  username=\'alice\'\n  password="a \\"b\\"";',
            ScramCredentials("alice", 'a "b"', "SCRAM-SHA-256"),
        ),
        (
            "SCRAM-SHA-512",
            f'{SCRAM} required username="id" password="{SECRET}" tokenauth="true";',
            ScramCredentials("id", SECRET, "SCRAM-SHA-512", is_delegation_token=True),
        ),
    ],
)
def test_logins(mechanism: str, entry: str, credentials: PlainCredentials | ScramCredentials) -> None:
    assert client_arguments(login(mechanism, entry)).credentials == credentials


def test_tls_from_texts_on_one_line_or_from_files(tmp_path: Path) -> None:
    authority = trustme.CA()
    own = authority.issue_cert("alice@example.org")
    chain, key = own.cert_chain_pems[0].bytes(), own.private_key_pem.bytes()
    texts = client_arguments(
        {
            **TLS,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": one_line(authority.cert_pem.bytes()),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": one_line(chain),
            "ssl.keystore.key": one_line(key),
            "ssl.endpoint.identification.algorithm": "",
            "ssl.enabled.protocols": "TLSv1.3,TLSv1.2,TLSv1.1",
        }
    )
    context = tls_of(texts).context()
    assert not context.check_hostname
    assert len(context.get_ca_certs()) == 1
    file = tmp_path / "own.pem"
    file.write_bytes(key + chain)
    files = {"ssl.keystore.type": "pem", "ssl.keystore.location": str(file), "ssl.enabled.protocols": "TLSv1.3"}
    given = tls_of(client_arguments({**TLS, **files}))
    assert given == Tls(certificate=str(file), minimum_version="TLSv1.3", maximum_version="TLSv1.3")
    given.context()


def test_properties_of_tls_without_tls_are_not_read() -> None:
    given = client_arguments({**BOOTSTRAP, "security.protocol": "PLAINTEXT", "ssl.truststore.location": "trust.jks"})
    assert given.tls is None


@pytest.mark.parametrize(
    ("properties", "advice"),
    [
        ({}, r"bootstrap\.servers: is missing: set it, or pass bootstrap_servers="),
        ({**BOOTSTRAP, "request.timeout.ms": "soon"}, r"request\.timeout\.ms: Not a number"),
        ({**BOOTSTRAP, "request.timeout.ms": "0"}, r"request\.timeout\.ms: must be above 0, not 0"),
        (
            {**BOOTSTRAP, "request.timeout.ms": "20", "default.api.timeout.ms": "10"},
            r"default\.api\.timeout\.ms: must be at least request\.timeout\.ms",
        ),
        ({**BOOTSTRAP, "security.protocol": "TLS"}, r"security\.protocol: 'TLS' is none: write one of PLAINTEXT, SSL"),
        ({**BOOTSTRAP, "config.providers": "file"}, r"config\.providers: is not supported here: write the values"),
        ({**TLS, "ssl.cipher.suites": "TLS_AES_128_GCM_SHA256"}, r"ssl\.cipher\.suites: .*pass tls=, an ssl"),
        ({**TLS, "ssl.enabled.protocols": "TLSv1,TLSv1.1"}, r"all of them are older than TLS 1\.2"),
        ({**TLS, "ssl.enabled.protocols": "TLSv9"}, r"TLSv9 is unknown: use TLSv1\.2 or TLSv1\.3"),
        ({**TLS, "ssl.protocol": "SSLv3"}, r"ssl\.protocol: must be one of TLS, TLSv1\.2, TLSv1\.3"),
        ({**TLS, "ssl.endpoint.identification.algorithm": "ldaps"}, r"must be https, or empty"),
        ({**TLS, "ssl.keystore.key": "x", "ssl.keystore.type": "PEM"}, r"ssl\.keystore\.certificate\.chain: is"),
        ({**TLS, "ssl.truststore.certificates": "x"}, r"ssl\.truststore\.type: is JKS: set it to PEM"),
        ({**TLS, "ssl.truststore.certificates": "x", "ssl.truststore.type": "PEM"}, r"certificates: is no PEM text"),
        (
            {**TLS, "ssl.truststore.certificates": "x", "ssl.truststore.location": "y"},
            r"ssl\.truststore\.certificates: ssl\.truststore\.location is set too",
        ),
        ({**BOOTSTRAP, "security.protocol": "SASL_SSL"}, r"sasl\.mechanism: GSSAPI cannot be set up .* one of PLAIN"),
        (login("OAUTHBEARER", "x required;"), r"OAUTHBEARER cannot be set up .*: pass credentials="),
        ({**login("PLAIN", ""), "sasl.login.class": "x"}, r"sasl\.login\.class: is not supported here: pass cred"),
        (login("PLAIN", ""), r"sasl\.jaas\.config: is missing"),
        (login("PLAIN", f'{PLAIN} required password="{SECRET}";'), r"jaas\.config: has no username: write username="),
        (login("PLAIN", f'{PLAIN} required username="a" password="{SECRET}'), r"jaas\.config: a quotation mark is"),
        (login("PLAIN", f'{PLAIN} required username="" password="{SECRET}";'), r"jaas\.config: username: is empty"),
    ],
)  # fmt: skip
def test_what_cannot_be_honoured_is_refused_with_what_to_do(properties: dict[str, str], advice: str) -> None:
    with pytest.raises(ValueError, match=advice) as raised:
        client_arguments(properties)
    assert str(raised.value).startswith("properties: ")
    assert SECRET not in str(raised.value)


def test_unknown_properties_are_ignored_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    unknown = {"group.id": SECRET, "ssl.trustore.location": "/x"}
    caplog.set_level(logging.INFO)
    assert client_arguments({**TLS, **unknown, "retries": "3"}).bootstrap_servers == "a:1,b:2"
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "properties: these properties are unknown here, and are ignored: group.id, ssl.trustore.location"),
        ("INFO", "properties: these properties have no effect here: retries"),
    ]


def test_a_key_whose_lines_are_not_continued_is_in_no_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    key = trustme.CA().issue_cert("client").private_key_pem.bytes().decode()
    file = tmp_path / "client.properties"
    file.write_text(f"bootstrap.servers=a:1\nssl.keystore.key={key}\nusername.=x\n")
    client_arguments(file)
    (ignored, without_effect) = (record.getMessage() for record in caplog.records)
    assert ignored.startswith(f"{file}: {len(key.splitlines())} entries do not begin with the name of a property")
    assert without_effect.endswith("have no effect: ssl.keystore.key")
    assert not [line for line in key.splitlines() if line in caplog.text]


def test_security_that_has_no_effect_is_said(caplog: pytest.LogCaptureFixture) -> None:
    client_arguments({**BOOTSTRAP, "sasl.mechanism": "PLAIN"})
    (record,) = caplog.records
    assert "security.protocol is not set, so these properties have no effect: sasl.mechanism" in record.getMessage()


def test_arguments_replace_what_the_properties_say() -> None:
    refused = {"ssl.truststore.location": "trust.jks", "sasl.mechanism": "GSSAPI", "request.timeout.ms": "x"}
    properties = {**BOOTSTRAP, "security.protocol": "SASL_SSL", **refused}
    tls, credentials, settings = Tls(), PlainCredentials("alice", SECRET), AdminSettings(client_id="mine")
    given = client_arguments(
        properties, bootstrap_controllers=["c:3"], tls=tls, credentials=credentials, settings=settings
    )
    assert given == ClientArguments(
        bootstrap_servers=None, bootstrap_controllers=["c:3"], tls=tls, credentials=credentials, settings=settings
    )
    assert SECRET not in repr(given)


def test_a_file_is_read_as_java_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_bytes(b"# a comment\nbootstrap.servers: a:1,\\\n   b:2\nclient.id = caf\xe9 \\u20ac\n")
    given = client_arguments(file)
    assert given.bootstrap_servers == "a:1,b:2"
    assert given.settings is not None
    assert given.settings.client_id == "caf\xe9 \u20ac"
    file.write_text("bootstrap.servers=a:1\nrequest.timeout.ms=x\n", "utf-8")
    with pytest.raises(ValueError, match=r"client\.properties: .*request\.timeout\.ms"):
        client_arguments(str(file))
    with pytest.raises(FileNotFoundError):
        client_arguments(tmp_path / "missing")


async def test_both_clients_are_made_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    with ThreadedBroker() as broker:
        file.write_text(f"bootstrap.servers={broker.bootstrap_servers}\n", "utf-8")
        async with AdminClient.from_properties(file) as client:
            assert await client.list_topics() == {}
        with BlockingAdminClient.from_properties(str(file)) as blocking:
            assert blocking.list_topics() == {}
    with pytest.raises(TypeError, match=r"from_properties: properties\['bootstrap.servers'\]: expected str, got int"):
        BlockingAdminClient.from_properties({"bootstrap.servers": 1})  # type: ignore[dict-item]


@pytest.mark.extended
@pytest.mark.skipif(shutil.which("keytool") is None, reason="needs Java's keytool")
@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_the_commands_for_stores_of_java_do_what_the_errors_say(kind: str, tmp_path: Path) -> None:
    store = tmp_path / "of java" / "own.store"
    store.parent.mkdir()
    password = "changeit"
    stored = ("-keystore", store, "-storetype", kind, "-storepass", password)
    make = ("keytool", "-genkeypair", "-keyalg", "EC", "-alias", "a", "-dname", "CN=a", *stored, "-keypass", password)
    subprocess.run(make, check=True, capture_output=True)
    trusting = {**TLS, "ssl.truststore.type": kind, "ssl.truststore.location": str(store)}
    run_command_of(trusting, password)
    trusting |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(store.with_suffix(".pem"))}
    assert tls_of(client_arguments(trusting)).context().cert_store_stats()["x509"] == 1

    store.with_suffix(".pem").unlink()
    identity = {**TLS, "ssl.keystore.type": kind, "ssl.keystore.location": str(store)}
    run_command_of(identity, password)
    identity |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(store.with_suffix(".pem"))}
    tls_of(client_arguments({**identity, "ssl.key.password": password})).context()


def run_command_of(properties: dict[str, str], password: str) -> None:
    """Run the command that an error names, with the passwords that it would ask for."""
    with pytest.raises(ValueError, match="cannot be read here") as raised:
        client_arguments(properties)
    command = str(raised.value).splitlines()[1].strip()
    command = command.replace("keytool -list", f"keytool -list -storepass {password}")
    asked = f"keytool -importkeystore -srcstorepass {password} -deststorepass {password}"
    command = command.replace("keytool -importkeystore", asked)
    command = command.replace("openssl pkcs12", f"openssl pkcs12 -passin pass:{password} -passout pass:{password}")
    subprocess.run(["sh", "-c", command], check=True, capture_output=True)
