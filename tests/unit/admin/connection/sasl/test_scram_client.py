"""SCRAM against the vector of RFC 7677, against a server of our own, and against servers that are not honest."""

from __future__ import annotations

import base64

import pytest
from tests.stand_ins.sasl_server import LoginError, ScramServer

from kafkawire.admin.connection.sasl.credentials import ScramCredentials
from kafkawire.admin.connection.sasl.scram_client import ScramExchange
from kafkawire.protocol.errors import SaslAuthenticationFailedError

PASSWORD = "pencil"
NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
CLIENT_FINAL = (
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def exchange(
    username: str = "user", password: str = PASSWORD, *, nonce: str | None = NONCE, maximum_iterations: int = 20_000
) -> ScramExchange:
    credentials = ScramCredentials(username, password, "SCRAM-SHA-256")
    return ScramExchange(credentials, maximum_iterations=maximum_iterations, nonce=nonce)


def test_the_exchange_of_rfc_7677() -> None:
    client = exchange()
    assert client.first() == f"n,,n=user,r={NONCE}".encode()
    assert client.respond(SERVER_FIRST.encode()) == CLIENT_FINAL.encode()
    assert client.respond(SERVER_FINAL.encode()) is None


@pytest.mark.parametrize("algorithm", ["sha256", "sha512"])
@pytest.mark.parametrize("username", ["alice", "a=b,c", "=2C", "ülse", "日本"])
@pytest.mark.parametrize("password", ["secret", "ªK\xa0\u00ad", "p,=\"'\\"])
def test_both_sides_agree(algorithm: str, username: str, password: str) -> None:
    """Kafka takes the bytes of a password as they are: with SASLprep the second one would be another."""
    server = ScramServer(username, password, algorithm=algorithm)
    credentials = ScramCredentials(username, password, "SCRAM-SHA-256" if algorithm == "sha256" else "SCRAM-SHA-512")
    client = ScramExchange(credentials, maximum_iterations=4096)
    final = client.respond(server.respond(client.first()))
    assert final is not None
    assert client.respond(server.respond(final)) is None
    assert server.is_complete
    assert not server.is_token


def test_a_delegation_token_says_that_it_is_one() -> None:
    server = ScramServer("token-id", "aG1hYw==")
    credentials = ScramCredentials("token-id", "aG1hYw==", is_delegation_token=True)
    client = ScramExchange(credentials, maximum_iterations=4096, nonce=NONCE)
    assert client.first() == f"n,,n=token-id,r={NONCE},tokenauth=true".encode()
    final = client.respond(server.respond(client.first()))
    assert final is not None
    assert client.respond(server.respond(final)) is None
    assert server.is_token


def test_a_wrong_password_proves_nothing() -> None:
    server, client = ScramServer("user", PASSWORD, algorithm="sha256"), exchange(password="pen")
    final = client.respond(server.respond(client.first()))
    assert final is not None
    with pytest.raises(LoginError):
        server.respond(final)


def test_nonces_are_not_repeated() -> None:
    assert exchange(nonce=None).first() != exchange(nonce=None).first()


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("e=other-error", "the server says other-error"),
        ("", "is not r=..., s=..., i=..."),
        ("m=x,r=a,s=b,i=1", "is not r=..., s=..., i=..."),
        (SERVER_FIRST.replace(NONCE, NONCE[::-1]), "nonce does not go on"),
        (f"r={NONCE},s=c2FsdA==,i=4096", "nonce does not go on"),
        (f"r={NONCE}x,s=,i=4096", "salt is not base 64, or empty"),
        (f"r={NONCE}x,s=%%%,i=4096", "salt is not base 64, or empty"),
        (f"r={NONCE}x,s=c2FsdA==,i=", "iteration count is no number"),
        (f"r={NONCE}x,s=c2FsdA==,i=-4096", "iteration count is no number"),
        (f"r={NONCE}x,s=c2FsdA==,i=\u0664\u0660\u0669\u0666", "iteration count is no number"),
        (f"r={NONCE}x,s=c2FsdA==,i=1{'0' * 5000}", "iteration count is no number"),
        (f"r={NONCE}x,s=c2FsdA==,i=4095", "wants 4095 iterations, at least 4096"),
        (f"r={NONCE}x,s=c2FsdA==,i=0", "wants 0 iterations, at least 4096"),
        (f"r={NONCE}x,s=c2FsdA==,i=20001", "at most 20000 are allowed .maximum_scram_iterations."),
        (f"r={NONCE}{'x' * 20_000},s=c2FsdA==,i=4096", "message has 20040 bytes"),
    ],
)
def test_a_first_message_that_makes_no_sense_is_refused(message: str, told: str) -> None:
    client = exchange()
    client.first()
    with pytest.raises(SaslAuthenticationFailedError, match=told) as raised:
        client.respond(message.encode())
    assert not raised.value.retriable
    assert PASSWORD not in str(raised.value)


def test_iterations_at_the_bounds_are_accepted() -> None:
    for iterations in (4096, 5000):
        client = exchange(maximum_iterations=5000)
        assert client.respond(f"r={NONCE}x,s=c2FsdA==,i={iterations}".encode())


def test_invalid_text_is_refused() -> None:
    with pytest.raises(SaslAuthenticationFailedError, match="not UTF-8"):
        exchange().respond(b"r=\xff")


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("e=invalid-proof,x=y", "the server says invalid-proof$"),
        ("", "the server's final message is not v="),
        ("v=", "signature is not base 64, or empty"),
        ("v=&", "signature is not base 64, or empty"),
        ("v=AAAA", "signature is wrong: it does not know the password"),
        (SERVER_FINAL.replace("6rri", "7rri"), "signature is wrong"),
    ],
)
def test_a_server_that_does_not_prove_itself_is_refused(message: str, told: str) -> None:
    client = exchange()
    client.first()
    client.respond(SERVER_FIRST.encode())
    with pytest.raises(SaslAuthenticationFailedError, match=told):
        client.respond(message.encode())


def test_an_extension_after_the_signature_is_tolerated() -> None:
    client = exchange()
    client.respond(SERVER_FIRST.encode())
    assert client.respond(f"{SERVER_FINAL},ext=1".encode()) is None


def test_the_proof_covers_the_servers_message_with_its_extensions() -> None:
    client = exchange()
    with_extension = client.respond(f"{SERVER_FIRST},x=y".encode())
    assert with_extension is not None
    proof = with_extension.rpartition(b"p=")[2]
    assert len(base64.b64decode(proof)) == 32
    assert with_extension != CLIENT_FINAL.encode()
