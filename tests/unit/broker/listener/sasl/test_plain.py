"""The server's side of PLAIN, with Kafka's refusals."""

from __future__ import annotations

import pytest

from kafkawire.broker.listener.sasl.mechanism import LoginRefusedError
from kafkawire.broker.listener.sasl.plain import PlainMechanism

PASSWORDS = {"alice": "alice-secret", "ülse": "pässword"}


@pytest.mark.parametrize(
    ("token", "user"),
    [
        ("\0alice\0alice-secret", "alice"),
        ("alice\0alice\0alice-secret", "alice"),
        ("\0ülse\0pässword", "ülse"),
    ],
)
def test_a_user_with_the_password_is_accepted(token: str, user: str) -> None:
    login = PlainMechanism(PASSWORDS)
    assert login.respond(token.encode()) == b""
    assert login.user == user


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (b"\0alice\0wrong", "Authentication failed: Invalid username or password"),
        (b"\0nobody\0alice-secret", "Authentication failed: Invalid username or password"),
        (b"\0alice\0\xff", "Authentication failed: Invalid username or password"),
        (b"\0\0alice-secret", "Authentication failed: username not specified"),
        (b"\0alice\0", "Authentication failed: password not specified"),
        (b"", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (b"\0alice", "Invalid SASL/PLAIN response: expected 3 tokens, got 2"),
        (b"\0alice\0alice-secret\0", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (b"\0a\0b\0c\0d\0e", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (
            b"bob\0alice\0alice-secret",
            "Authentication failed: Client requested an authorization id that is different from username",
        ),
    ],
)
def test_others_are_refused_in_kafkas_words(token: bytes, reason: str) -> None:
    login = PlainMechanism(PASSWORDS)
    with pytest.raises(LoginRefusedError) as raised:
        login.respond(token)
    assert raised.value.message == reason
    assert login.user is None
