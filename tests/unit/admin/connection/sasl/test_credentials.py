"""Credentials: which are refused, and that secrets are not shown."""

from __future__ import annotations

import pickle

import pytest

from kafkawire.admin.connection.sasl.credentials import (
    Credentials,
    OAuthBearerCredentials,
    PlainCredentials,
    ScramCredentials,
)

SECRET = "correct-horse"
ALL: list[Credentials] = [
    PlainCredentials("alice", SECRET),
    ScramCredentials("alice", SECRET, "SCRAM-SHA-256"),
    ScramCredentials("alice", SECRET),
    OAuthBearerCredentials(SECRET, {"tenant": SECRET}),
]


def test_mechanisms_have_kafkas_names() -> None:
    assert [one.mechanism for one in ALL] == ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]


@pytest.mark.parametrize("credentials", ALL, ids=lambda one: one.mechanism)
def test_secrets_are_in_no_representation(credentials: Credentials) -> None:
    assert SECRET not in repr(credentials)
    assert SECRET not in f"{credentials}"


@pytest.mark.parametrize("credentials", ALL, ids=lambda one: one.mechanism)
def test_they_are_values(credentials: Credentials) -> None:
    assert pickle.loads(pickle.dumps(credentials)) == credentials  # noqa: S301


@pytest.mark.parametrize("kind", [PlainCredentials, ScramCredentials])
def test_nothing_is_no_name_and_no_password(kind: type[PlainCredentials | ScramCredentials]) -> None:
    with pytest.raises(ValueError, match="username: is empty"):
        kind("", SECRET)
    with pytest.raises(ValueError, match="password: is empty"):
        kind("alice", "")


@pytest.mark.parametrize("field", ["username", "password", "authorization_id"])
def test_plain_refuses_nul_without_showing_it(field: str) -> None:
    values = {"username": "alice", "password": "p", "authorization_id": ""}
    with pytest.raises(ValueError, match=f"{field}: holds NUL") as raised:
        PlainCredentials(**{**values, field: f"{SECRET}\0{SECRET}"})
    assert SECRET not in str(raised.value)


def test_scram_has_two_mechanisms() -> None:
    with pytest.raises(ValueError, match="must be SCRAM-SHA-256 or SCRAM-SHA-512"):
        ScramCredentials("alice", SECRET, "SCRAM-SHA-1")  # type: ignore[arg-type]


@pytest.mark.parametrize("token", ["", "a b", f"{SECRET}\x01auth=Bearer x", "a=b", "ä"])
def test_a_token_cannot_break_out_of_its_place(token: str) -> None:
    with pytest.raises(ValueError, match="token: holds characters") as raised:
        OAuthBearerCredentials(token)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    "extensions", [{"auth": "x"}, {"": "x"}, {"a1": "x"}, {"a=b": "x"}, {"a": ""}, {"a": "\x01b=c"}, {"a": "ä"}]
)
def test_an_extension_cannot_break_out_of_its_place(extensions: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="extension"):
        OAuthBearerCredentials("t", extensions)
