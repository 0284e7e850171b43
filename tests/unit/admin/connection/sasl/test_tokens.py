"""PLAIN and OAUTHBEARER as bytes."""

from __future__ import annotations

from kafkawire.admin.connection.sasl.credentials import OAuthBearerCredentials, PlainCredentials
from kafkawire.admin.connection.sasl.exchanges import Exchange, OAuthBearerExchange, PlainExchange


def test_plain_is_one_token() -> None:
    client: Exchange = PlainExchange(PlainCredentials("tim", "tänstaaftan"))
    assert client.first() == "\0tim\0tänstaaftan".encode()
    assert client.respond(b"") is None


def test_plain_with_an_authorization_id() -> None:
    assert PlainExchange(PlainCredentials("kurt", "x", authorization_id="ursel")).first() == b"ursel\0kurt\0x"


def test_oauthbearer_is_one_token() -> None:
    client = OAuthBearerExchange(OAuthBearerCredentials("vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg=="))
    assert client.first() == b"n,,\x01auth=Bearer vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==\x01\x01"
    assert client.respond(b"") is None
    assert client.refusal == ""


def test_oauthbearer_with_extensions_and_an_authorization_id() -> None:
    credentials = OAuthBearerCredentials("t", {"traceId": "123", "logicalCluster": "lkc 1"}, authorization_id="a=b,c")
    expected = b"n,a=a=3Db=2Cc,\x01auth=Bearer t\x01traceId=123\x01logicalCluster=lkc 1\x01\x01"
    assert OAuthBearerExchange(credentials).first() == expected


def test_oauthbearer_confirms_a_refusal_and_keeps_what_the_server_says() -> None:
    client = OAuthBearerExchange(OAuthBearerCredentials("t"))
    client.first()
    assert client.respond(b'{"status":"invalid_token","scope":"kafka"}') == b"\x01"
    assert client.refusal == '{"status":"invalid_token","scope":"kafka"}'


def test_oauthbearer_keeps_no_endless_refusal() -> None:
    client = OAuthBearerExchange(OAuthBearerCredentials("t"))
    assert client.respond(b"\xff" * 1_000_000) == b"\x01"
    assert len(client.refusal) <= 8_000
