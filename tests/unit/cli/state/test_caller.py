"""Who calls: the user of a login, the subject of a certificate, the claim of a token; or why it is not known."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import trustme

from kafkawire.admin import BlockingAdminClient, OAuthBearerCredentials, PlainCredentials, ScramCredentials
from kafkawire.admin.connection.tls import Tls
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.state.caller import Caller, UnknownCallerError, caller_of

ALICE = "User:CN=alice,OU=A\\, B,O=Example"


class Certificates:
    """Certificates of a broker and of a client, in files."""

    def __init__(self, folder: Path) -> None:
        authority = trustme.CA()
        self.server, self.client, self.trusted = folder / "server.pem", folder / "client.pem", folder / "ca.pem"
        authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(self.server)
        alice = authority.issue_cert(
            "alice.example", common_name="alice", organization_name="Example", organization_unit_name="A, B"
        )
        alice.private_key_and_cert_chain_pem.write_to_path(self.client)
        authority.cert_pem.write_to_path(self.trusted)

    @property
    def tls(self) -> Tls:
        return Tls(ca=self.trusted, certificate=self.client)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module", params=[{"ssl.client.auth": "required"}, {}], ids=["required", "none"])
def wants(request: pytest.FixtureRequest) -> Mapping[str, str]:
    wanted: Mapping[str, str] = request.param
    return wanted


@pytest.fixture(scope="module")
def secure(certificates: Certificates, wants: Mapping[str, str]) -> Iterator[ThreadedBroker]:
    properties = {
        "listeners": "SSL://127.0.0.1:0",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificates.server),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates.trusted),
    }
    with ThreadedBroker({**properties, **wants}) as running:
        yield running


@pytest.fixture(scope="module")
def plain() -> Iterator[BlockingAdminClient]:
    with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        yield admin


def test_a_client_with_a_certificate_has_its_subject_as_name_if_brokers_ask_for_it(
    secure: ThreadedBroker, certificates: Certificates, wants: Mapping[str, str]
) -> None:
    with BlockingAdminClient(secure.bootstrap_servers, tls=certificates.tls) as admin:
        caller = caller_of(None, certificates.tls, admin, 10)
        assert caller_of(None, Tls(ca=certificates.trusted), admin, 10) == Caller("User:ANONYMOUS")
    if wants:
        assert caller == Caller(ALICE, "the certificate and ssl.principal.mapping.rules of the brokers")
    else:
        assert caller == Caller("User:ANONYMOUS", "ssl.client.auth=none of the brokers")


def test_a_certificate_in_a_context_of_the_user_is_not_known(plain: BlockingAdminClient) -> None:
    with pytest.raises(UnknownCallerError, match="does not show its certificate"):
        caller_of(None, ssl.create_default_context(), plain, 10)


def test_the_user_of_a_password_calls(plain: BlockingAdminClient) -> None:
    assert caller_of(PlainCredentials("ops", "s3cret"), None, plain, 10) == Caller("User:ops")
    assert caller_of(ScramCredentials("ops", "s3cret"), None, plain, 10) == Caller("User:ops")
    assert caller_of(None, None, plain, 10) == Caller("User:ANONYMOUS")


def test_the_owner_of_a_delegation_token_is_not_known(plain: BlockingAdminClient) -> None:
    """Its id is what the login has as user; ACLs are about its owner."""
    with pytest.raises(UnknownCallerError, match="do not show such a client its owner"):
        caller_of(ScramCredentials("id", "hmac", is_delegation_token=True), None, plain, 10)


def token(claims: Mapping[str, object]) -> OAuthBearerCredentials:
    content = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return OAuthBearerCredentials(f"eyJhbGciOiJub25lIn0.{content}.c2lnbmF0dXJl")


def test_the_claim_of_a_token_is_the_user(plain: BlockingAdminClient) -> None:
    assert caller_of(token({"sub": "ops"}), None, plain, 10) == Caller("User:ops", "the claim sub of the token")


@pytest.mark.parametrize("credentials", [token({}), token({"sub": 3}), OAuthBearerCredentials("opaque.to.us")])
def test_a_token_without_the_claim_does_not_say_who_calls(
    credentials: OAuthBearerCredentials, plain: BlockingAdminClient
) -> None:
    with pytest.raises(UnknownCallerError, match="the claim sub cannot be read in it"):
        caller_of(credentials, None, plain, 10)
