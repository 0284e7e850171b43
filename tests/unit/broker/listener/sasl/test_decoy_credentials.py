"""Salts and iterations of users that do not exist look like those of the users that do."""

from __future__ import annotations

import os
import random
from base64 import b64decode
from collections import Counter
from pathlib import Path

import pytest
from tests.embedded.connection import connected_to

from kafkawire.admin import AdminClient, ScramMechanism, ScramUpsertion
from kafkawire.broker import EmbeddedBroker
from kafkawire.broker.image.scram_users import ScramImage, base_36
from kafkawire.broker.listener.sasl.decoy_credentials import DecoyCredentials
from kafkawire.protocol import (
    RemoveUserScramCredentialRecord,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    UserScramCredentialRecord,
)

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
NAMES = [f"user-{number}" for number in range(2000)]
SASL = {
    "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
}


def credential(user: str, salt: bytes, iterations: int = 4096) -> UserScramCredentialRecord:
    return UserScramCredentialRecord(user, SHA_256, salt, bytes(32), bytes(32), iterations)


def java_salt(rng: random.Random) -> bytes:
    """As ``new BigInteger(130, random).toString(Character.MAX_RADIX)``."""
    return base_36(rng.getrandbits(130))


def users(count: int) -> ScramImage:
    """Some made by Kafka's tools, some by this package with more iterations, some by librdkafka."""
    rng, scram = random.Random(1), ScramImage()
    for number in range(count):
        salt, iterations = rng.choice(
            [(java_salt(rng), 4096), (java_salt(rng), 4096), (os.urandom(32), 8192), (os.urandom(64), 16384)]
        )
        scram.apply(credential(f"real-{number}", salt, iterations))
    return scram


def shown(one: UserScramCredentialRecord) -> tuple[int, int, bool, bytes]:
    """What could distinguish decoys: all that a login shows, except the random part of salts."""
    is_text = one.salt.isalnum()
    return one.iterations, len(one.salt), is_text, one.salt[:1] if is_text and len(one.salt) == 26 else b""


def test_decoys_are_as_frequent_as_real_credentials_of_their_shape() -> None:
    scram = users(600)
    decoys = DecoyCredentials(b"secret", scram)
    real = Counter(shown(one[SHA_256]) for one in scram.by_user.values())
    made = Counter(shown(decoys.of(name, SHA_256)) for name in NAMES)
    for kind in {*real, *made}:
        assert made[kind] / len(NAMES) == pytest.approx(real[kind] / 600, abs=0.05), kind


def test_a_single_user_is_not_distinguished() -> None:
    scram = ScramImage()
    scram.apply(credential("alice", b"0123456789", 5000))
    decoys = DecoyCredentials(b"secret", scram)
    assert {(len(one.salt), one.iterations) for one in (decoys.of(name, SHA_256) for name in NAMES)} == {(10, 5000)}


def test_without_users_they_are_as_of_kafkas_tools() -> None:
    made = Counter(shown(DecoyCredentials(b"secret", ScramImage()).of(name, SHA_512)) for name in NAMES)
    assert set(made) == {(4096, 25, True, b""), (4096, 26, True, b"1")}


def test_a_name_has_the_same_every_time_and_others_have_others() -> None:
    first, again = (DecoyCredentials(b"secret", users(50)) for _ in range(2))
    assert [first.of(name, SHA_256).salt for name in NAMES] != [first.of(name, SHA_512).salt for name in NAMES]
    assert len({first.of(name, SHA_256).salt for name in NAMES}) == len(NAMES)
    assert first.of("nobody", SHA_256).salt == first.of("nobody", SHA_256).salt
    assert first.of("nobody", SHA_512).salt == again.of("nobody", SHA_512).salt
    assert first.of("nobody", SHA_512).salt != DecoyCredentials(b"another", users(50)).of("nobody", SHA_512).salt


def test_names_hardly_change_when_users_come_and_go() -> None:
    """Else who looks twice learns which names stay, and these are the users."""
    scram = users(200)
    decoys = DecoyCredentials(b"secret", scram)
    before = [decoys.of(name, SHA_256).salt for name in NAMES]
    scram.apply(credential("new", bytes(range(32)), 8192))
    scram.apply_remove(RemoveUserScramCredentialRecord("real-1", SHA_256))
    after = [decoys.of(name, SHA_256).salt for name in NAMES]
    assert sum(a != b for a, b in zip(before, after, strict=True)) < len(NAMES) * 0.03


def test_shapes_of_users_that_are_gone_or_changed_are_forgotten() -> None:
    scram = ScramImage()
    scram.apply(credential("a", bytes(10)))
    scram.apply(credential("a", bytes(12)))
    assert [shape.salt_size for shape in scram.shapes[SHA_256]] == [12]
    scram.apply_remove(RemoveUserScramCredentialRecord("a", SHA_256))
    scram.apply_remove(RemoveUserScramCredentialRecord("a", SHA_256))
    assert not scram.shapes[SHA_256]
    assert not scram.by_user


async def challenge(broker: EmbeddedBroker, user: str) -> tuple[bytes, bytes]:
    """Salt and iterations that a login of a user is shown."""
    async with connected_to(broker, listener="SASL_PLAINTEXT") as client:
        await client.ask(SaslHandshakeRequest("SCRAM-SHA-256"), 1, SaslHandshakeResponse)
        first = SaslAuthenticateRequest(f"n,,n={user},r=abc".encode())
        answer = await client.ask(first, 2, SaslAuthenticateResponse)
    _, salt, iterations = answer.auth_bytes.split(b",")
    return b64decode(salt[2:]), iterations


async def test_a_broker_shows_the_same_after_a_restart(tmp_path: Path) -> None:
    seen = []
    for restart in range(2):
        async with EmbeddedBroker(SASL, data_dir=tmp_path) as broker:
            if not restart:
                async with AdminClient(broker.bootstrap_servers) as admin:
                    (await admin.alter_user_scram_credentials([ScramUpsertion("alice", SHA_256, "x", 8192)])).all()
            seen.append([await challenge(broker, user) for user in ("alice", "nobody")])
    assert seen[0] == seen[1]
    (alice, alices), (nobody, nobodys) = seen[0]
    assert (len(alice), alices) == (len(nobody), nobodys) == (32, b"i=8192")
