"""Logins under any frames: no login succeeds without the password, and no error is unexpected."""

from __future__ import annotations

import hashlib
import struct
from functools import partial

from hypothesis import given, strategies as st

from kafkawire.broker.image.scram_users import ScramImage
from kafkawire.broker.listener.sasl.decoy_credentials import DecoyCredentials
from kafkawire.broker.listener.sasl.login import Login, OfferedMechanism
from kafkawire.broker.listener.sasl.mechanism import LoginRefusedError
from kafkawire.broker.listener.sasl.plain import PlainMechanism
from kafkawire.broker.listener.sasl.scram_server import ScramMechanismServer
from kafkawire.broker.requests import RefusedRequestError
from kafkawire.broker.sessions import ANONYMOUS
from kafkawire.model.scram import ScramMechanism, derived_keys
from kafkawire.protocol import (
    ApiVersionsRequest,
    MetadataRequest,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
    UserScramCredentialRecord,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.rpc import encode_request
from kafkawire.wire import Message

VERSIONS = struct.pack(">h", ApiKey.API_VERSIONS)
SHA_256 = ScramMechanism.SCRAM_SHA_256
KEYS = derived_keys(SHA_256, hashlib.sha256(b"not in any frame").digest())
DECOY = partial(DecoyCredentials(b"secret", ScramImage()).of, mechanism=SHA_256)
CREDENTIAL = UserScramCredentialRecord("alice", SHA_256, b"salt", *KEYS, 4096)


def scram() -> ScramMechanismServer:
    return ScramMechanismServer(SHA_256, {"alice": CREDENTIAL}.get, DECOY)


def login() -> Login:
    return Login(
        {
            "PLAIN": OfferedMechanism(lambda: PlainMechanism({"alice": "not in any frame"}), 60_000),
            "SCRAM-SHA-256": OfferedMechanism(lambda: ScramMechanismServer(SHA_256, {"alice": CREDENTIAL}.get, DECOY)),
        },
        {},
    )


def frame(request: Message, version: int) -> bytes:
    return encode_request(request, version, correlation_id=1, client_id="test")[4:]


guesses = st.text(max_size=12).filter(lambda text: "knows" not in text)
scram_texts = st.sampled_from(("n,,n=alice,r=abc", "c=biws,r=abc,p=AAAA", "n,a=alice,n=alice,r=a,x=y", "n,,"))
tokens = (
    st.binary(max_size=40)
    | guesses.map(lambda guess: f"\0alice\0{guess}".encode("utf-8", "surrogatepass"))
    | (scram_texts | st.text("nracp=,biwsAB\0", max_size=30)).map(str.encode)
)
requests = st.one_of(
    st.tuples(st.just(ApiVersionsRequest("a", "1")), st.integers(0, 4)),
    st.tuples(st.sampled_from(["PLAIN", "SCRAM-SHA-256", "NONE"]).map(SaslHandshakeRequest), st.integers(0, 1)),
    st.tuples(tokens.map(SaslAuthenticateRequest), st.integers(0, 2)),
    st.tuples(st.just(MetadataRequest()), st.integers(0, 12)),
)
frames = st.one_of(
    requests.map(lambda request: frame(*request)),
    tokens,
    st.builds(
        lambda key, rest: struct.pack(">h", key) + rest, st.sampled_from([17, 18, 36, 3]), st.binary(max_size=30)
    ),
)
shaken = st.sampled_from(["PLAIN", "SCRAM-SHA-256"]).map(lambda name: [frame(SaslHandshakeRequest(name), 1)])


@given(st.one_of(st.just([]), shaken), st.lists(frames, max_size=8))
def test_no_login_succeeds_without_the_password(first: list[bytes], then: list[bytes]) -> None:
    made = login()
    for sent in (*first, *then):
        try:
            step = made.receive(sent, 0.0)
        except RefusedRequestError:
            break
        assert not step.is_served or sent[:2] == VERSIONS
        if step.closes:
            break
    assert made.principal == ANONYMOUS
    assert not made.is_complete


@given(st.lists(tokens | scram_texts.map(str.encode), min_size=1, max_size=4))
def test_scram_refuses_every_wrong_proof(sent: list[bytes]) -> None:
    mechanism = scram()
    for token in sent:
        try:
            mechanism.respond(token)
        except LoginRefusedError:
            break
    assert mechanism.user is None
