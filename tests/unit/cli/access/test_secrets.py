"""Secrets by reference: where they come from, and that no message has them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kafkawire.admin import OAuthBearerCredentials, PlainCredentials, ScramCredentials
from kafkawire.cli.access.client_of import ClusterAccess
from kafkawire.cli.access.secret_references import SecretReference, is_secret, parse_reference
from kafkawire.cli.access.selection import NamedCluster, select
from kafkawire.cli.outcome import CommandError

SECRET = "hunter2"


def printing(text: str, code: int = 0) -> SecretReference:
    return SecretReference(command=(sys.executable, "-c", f"import sys; print({text!r}); sys.exit({code})"))


def test_a_secret_comes_from_a_variable_a_file_or_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", SECRET)
    (tmp_path / "password").write_text(f"{SECRET}\n")
    for reference in (SecretReference(env="KAFKA_PASSWORD"), SecretReference(file="password"), printing(SECRET)):
        assert reference.secret("password", tmp_path) == SECRET


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (SecretReference(env="KAFKAWIRE_NOT_SET"), "KAFKAWIRE_NOT_SET is not set"),
        (SecretReference(file="absent"), "No such file"),
        (SecretReference(command=("/no/such/program",)), "cannot be run"),
        (SecretReference(command=("a\0b",)), "NUL"),
        (printing(SECRET, 3), "failed with exit code 3"),
        (printing(""), "empty text"),
    ],
)
def test_a_secret_that_cannot_be_had_is_a_message_without_it(
    reference: SecretReference, said: str, tmp_path: Path
) -> None:
    with pytest.raises(CommandError) as raised:
        reference.secret("context prod: password", tmp_path)
    assert raised.value.message.startswith("context prod: password: ")
    assert said in raised.value.message
    if reference.command and SECRET in reference.command[-1] and said.startswith("failed"):
        assert SECRET not in raised.value.message


def test_bytes_that_are_no_text_and_files_without_an_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff")
    for path, said in (("bytes", "not UTF-8"), ("/dev/zero", "larger than 1 MiB")):
        with pytest.raises(CommandError, match=said):
            SecretReference(file=path).secret("password", tmp_path)


@pytest.mark.parametrize("text", ["env:A", "file:a/b", "command:pass show 'a b'"])
def test_a_reference_is_shown_as_it_is_given(text: str) -> None:
    assert str(parse_reference(text)) == text


@pytest.mark.parametrize("text", [SECRET, "", "env:", "pass:word"])
def test_what_is_no_reference_is_not_quoted(text: str) -> None:
    with pytest.raises(ValueError, match=r"never the secret itself|is empty") as raised:
        parse_reference(text)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sasl.jaas.config", True),
        ("ssl.keystore.password", True),
        ("ssl.keystore.key", True),
        ("sasl.oauthbearer.client.credentials.client.secret", True),
        ("ssl.keystore.location", False),
        ("security.protocol", False),
    ],
)
def test_names_of_secrets(name: str, expected: bool) -> None:
    assert is_secret(name) == expected


def access_to(config_file: Path, login: str, protocol: str = "SASL_SSL") -> ClusterAccess:
    config_file.parent.mkdir(parents=True, exist_ok=True)
    config_file.write_text(
        f"[contexts.a]\nbootstrap_servers = 'a:1'\n[contexts.a.properties]\n'security.protocol' = '{protocol}'\n"
        f"[contexts.a.login]\n{login}\n"
    )
    return ClusterAccess(select(NamedCluster(context="a")))


@pytest.mark.parametrize(
    ("login", "expected"),
    [
        ("mechanism = 'PLAIN'\nusername = 'alice'\npassword = {env = 'P'}", PlainCredentials("alice", "YQ==")),
        (
            "mechanism = 'SCRAM-SHA-256'\nusername = 'alice'\npassword = {env = 'P'}",
            ScramCredentials("alice", "YQ==", "SCRAM-SHA-256"),
        ),
        (
            "mechanism = 'SCRAM-SHA-512'\nusername = 'id'\npassword = {env = 'P'}\ndelegation_token = true",
            ScramCredentials("id", "YQ==", is_delegation_token=True),
        ),
        ("mechanism = 'OAUTHBEARER'\ntoken = {env = 'P'}", OAuthBearerCredentials("YQ==")),
    ],
)
def test_a_login_needs_no_jaas(
    login: str, expected: object, config_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("P", "YQ==")
    assert access_to(config_file, login).client_arguments().credentials == expected


def test_a_login_needs_a_protocol_with_sasl(config_file: Path) -> None:
    access = access_to(config_file, "mechanism = 'OAUTHBEARER'\ntoken = {env = 'P'}", "SSL")
    with pytest.raises(CommandError, match="set it to SASL_SSL"):
        access.client_arguments()


def test_a_token_with_characters_that_none_has_is_a_message(config_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("P", f"{SECRET} {SECRET}")
    access = access_to(config_file, "mechanism = 'OAUTHBEARER'\ntoken = {env = 'P'}")
    with pytest.raises(CommandError, match="context a: login: token") as raised:
        access.client_arguments()
    assert SECRET not in raised.value.message


def test_a_property_may_be_a_reference_too(config_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="{SECRET}";'
    monkeypatch.setenv("JAAS", entry)
    config_file.parent.mkdir(parents=True)
    config_file.write_text(
        "[contexts.a]\nbootstrap_servers = 'a:1'\n[contexts.a.properties]\n'security.protocol' = 'SASL_PLAINTEXT'\n"
        "'sasl.mechanism' = 'PLAIN'\n'sasl.jaas.config' = {env = 'JAAS'}\n'metadata.cluster.check.enable' = false\n"
    )
    given = ClusterAccess(select(NamedCluster(context="a"))).client_arguments()
    assert given.credentials == PlainCredentials("a", SECRET)
    assert given.settings is not None
    assert not given.settings.cluster_check


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ("security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI", "a context with a login for OAUTHBEARER"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN", "or make a context with a login"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER", 'mechanism = "OAUTHBEARER"'),
        ("security.protocol=SSL\nssl.truststore.location=/etc/kafka/trust.jks", "keytool -list -rfc -keystore"),
        ("client.id=x", "bootstrap.servers"),
    ],
)
def test_advice_is_for_people_at_the_command_line(properties: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    servers = "" if said == "bootstrap.servers" else "bootstrap.servers=a:1\n"
    file.write_text(f"{servers}{properties}\n")
    with pytest.raises(CommandError) as raised:
        ClusterAccess(select(NamedCluster(command_config=str(file)))).client_arguments()
    assert raised.value.message.startswith(f"{file}: ")
    assert said in raised.value.message
    assert "credentials=" not in raised.value.message
