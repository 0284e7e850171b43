"""The server's side of SCRAM: the vector of RFC 7677, our own client, and clients that are not honest."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from functools import partial
from typing import Literal

import pytest

from kafkawire.admin.connection.sasl.credentials import ScramCredentials
from kafkawire.admin.connection.sasl.scram_client import ScramExchange
from kafkawire.broker.delegation_tokens import TokenLogin
from kafkawire.broker.image.scram_users import ScramImage
from kafkawire.broker.listener.sasl.decoy_credentials import DecoyCredentials
from kafkawire.broker.listener.sasl.mechanism import LoginRefusedError
from kafkawire.broker.listener.sasl.scram_server import ScramMechanismServer
from kafkawire.model.scram import ScramMechanism, derived_keys
from kafkawire.protocol import UserScramCredentialRecord

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
NAMES = [("SCRAM-SHA-256", SHA_256), ("SCRAM-SHA-512", SHA_512)]
PASSWORD = "pencil"
OWN_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
CLIENT_FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
NONCE = f"rOprNGfwEbeRWgbNEkqO{OWN_NONCE}"
SERVER_FIRST = f"r={NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
PROOF = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def credential(
    user: str = "user", password: str = PASSWORD, mechanism: ScramMechanism = SHA_256
) -> UserScramCredentialRecord:
    salt = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    salted = hashlib.pbkdf2_hmac(
        "sha256" if mechanism == SHA_256 else "sha512", password.encode(), salt, iterations=4096
    )
    return UserScramCredentialRecord(user, mechanism, salt, *derived_keys(mechanism, salted), 4096)


def server(*known: UserScramCredentialRecord, mechanism: ScramMechanism = SHA_256) -> ScramMechanismServer:
    decoys = partial(DecoyCredentials(b"secret", ScramImage()).of, mechanism=mechanism)
    return ScramMechanismServer(mechanism, {one.name: one for one in known}.get, decoys, nonce=OWN_NONCE)


def test_the_exchange_of_rfc_7677() -> None:
    login = server(credential())
    assert login.respond(CLIENT_FIRST) == SERVER_FIRST
    assert login.user is None
    assert login.respond(f"c=biws,r={NONCE},p={PROOF}".encode()) == SERVER_FINAL
    assert login.user == "user"


@pytest.mark.parametrize(("name", "mechanism"), NAMES)
@pytest.mark.parametrize("user", ["alice", "a=b,c", "=2C", "CN=al ice"])
def test_our_own_client_agrees(
    name: Literal["SCRAM-SHA-256", "SCRAM-SHA-512"], mechanism: ScramMechanism, user: str
) -> None:
    login = server(credential(user, "sec=,ret \u00fc", mechanism), mechanism=mechanism)
    client = ScramExchange(ScramCredentials(user, "sec=,ret \u00fc", name), maximum_iterations=4096)
    final = client.respond(login.respond(client.first()))
    assert final is not None
    assert client.respond(login.respond(final)) is None
    assert login.user == user


@pytest.mark.parametrize("extensions", ["tokenauth=true", "TokenAuth=TRUE", "x=1,tokenauth=true,y=2"])
def test_a_token_logs_in_as_its_owner(extensions: str) -> None:
    token = TokenLogin(credential("user"), "alice", 5000)
    decoys = partial(DecoyCredentials(b"secret", ScramImage()).of, mechanism=SHA_256)
    login = ScramMechanismServer(SHA_256, lambda _: None, decoys, {"user": token}.get, nonce=OWN_NONCE)
    first = CLIENT_FIRST.decode() + f",{extensions}"
    salted = hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), credential().salt, 4096)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    exchanged = f"{first[3:]},{login.respond(first.encode()).decode()},c=biws,r={NONCE}".encode()
    signature = hmac.digest(credential().stored_key, exchanged, "sha256")
    proof = b64encode(bytes(a ^ b for a, b in zip(client_key, signature, strict=True))).decode()
    login.respond(f"c=biws,r={NONCE},p={proof}".encode())
    assert (login.user, login.token_lifetime_ms) == ("alice", 5000)


@pytest.mark.parametrize("extensions", ["tokenauth=true", "tokenauth=false", "xtokenauth=true"])
def test_a_user_is_no_token_and_a_token_no_user(extensions: str) -> None:
    """An exchange of a user without the extension succeeds, and one with it does not, although the proof is right."""
    is_token = extensions == "tokenauth=true"
    login = server(credential())
    first = login.respond(CLIENT_FIRST + f",{extensions}".encode())
    assert (b64encode(credential().salt) in first) is not is_token


@pytest.mark.parametrize(
    "final",
    [
        f"c=biws,r={NONCE},p={PROOF[:-3]}A==",
        f"c=biws,r={NONCE},p=AAAA",
        f"c=biws,r={NONCE}",
        f"c=biws,r={NONCE}x,p={PROOF}",
        f"c=eSws,r={NONCE},p={PROOF}",
        f"r={NONCE},c=biws,p={PROOF}",
        f"c=biws,r={NONCE},p=not base 64",
        "",
        "\xff",
    ],
)
def test_scram_proof_length_and_other_errors_do_not_reveal_their_reason(final: str) -> None:
    login = server(credential())
    login.respond(CLIENT_FIRST)
    with pytest.raises(LoginRefusedError) as raised:
        login.respond(final.encode("latin-1"))
    assert raised.value.message is None
    assert login.user is None


@pytest.mark.parametrize(
    "first",
    [
        b"y,,n=user,r=abc",
        b"p=tls-unique,,n=user,r=abc",
        b"n,n=user,r=abc",
        b"n,,r=abc,n=user",
        b"n,,n=us=er,r=abc",
        b"n,,n=,r=abc",
        b"n,,n=user,r=",
        b"n,,n=user,r=a b",
        b"n,,n=\xc3\xbclse,r=abc",
        b"",
    ],
)
def test_a_first_message_that_is_none_is_refused(first: bytes) -> None:
    with pytest.raises(LoginRefusedError):
        server(credential()).respond(first)


def test_extensions_and_the_own_name_as_authorization_id_are_taken() -> None:
    assert server(credential()).respond(b"n,a=user,m=later,n=user,r=abc,some=thing").startswith(b"r=abc")


def test_another_authorization_identity_is_refused() -> None:
    with pytest.raises(LoginRefusedError, match="authorization id that is different from username"):
        server(credential()).respond(b"n,a=root,n=user,r=abc")


def test_an_unknown_scram_user_gets_the_answers_for_a_wrong_password() -> None:
    """The same ones every time: otherwise two attempts would reveal which users exist."""
    firsts = {server(credential()).respond(b"n,,n=nobody,r=abc") for _ in range(2)}
    assert len(firsts) == 1
    login = server(credential())
    nonce, salt, iterations = login.respond(b"n,,n=nobody,r=abc").split(b",")
    assert salt != server().respond(b"n,,n=nobody2,r=abc").split(b",")[1]
    assert iterations == b"i=4096"
    with pytest.raises(LoginRefusedError) as raised:
        login.respond(b"c=biws," + nonce + f",p={PROOF}".encode())
    assert raised.value.message is None
