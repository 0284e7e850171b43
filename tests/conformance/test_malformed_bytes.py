"""Damaged bytes: what we accept Kafka accepts with the same meaning, and what we refuse it refuses.

The exceptions are deliberate deviations, and a difference that none of them explains fails the test.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from tests.apache_kafka.fixtures import Oracles
from tests.apache_kafka.oracle import Answer, Decode
from tests.conformance.trials import by_message
from tests.made.example_messages import random_instance

from kafkawire.codegen.merge.released_versions import ReleasedVersion
from kafkawire.protocol import message_class
from kafkawire.wire import DecodeError, Message

pytestmark = pytest.mark.conformance

DAMAGED = 12
"""Damaged encodings of each version."""


@pytest.mark.parametrize("rows", by_message())
def test_kafka_agrees_about_damaged_bytes(rows: Sequence[ReleasedVersion], oracles: Oracles) -> None:
    message = message_class(rows[0].merged_message)
    unexplained: list[str] = []
    for row in rows:
        rng = random.Random(f"damaged {message.NAME} {row.merged_version}")
        damaged = [_damaged(rng, _random_bytes(rng, message, row.merged_version)) for _ in range(DAMAGED)]
        answers = oracles(row.release).ask([Decode(row.message, row.version, octets.hex()) for octets in damaged])
        unexplained += [
            f"{row.message} {row.version} of {row.release}: {octets.hex()}: {difference}; Kafka says {answer}"
            for octets, answer in zip(damaged, answers, strict=True)
            if (difference := _unexplained_difference(message, row.merged_version, octets, answer))
        ]
    assert not unexplained, "\n".join(unexplained)


def _unexplained_difference(message: type[Message], version: int, octets: bytes, answer: Answer) -> str | None:
    kafka_reads = answer.error is None or answer.error.stage != "read"
    try:
        value, end = message.decode_from(octets, 0, version)
    except DecodeError as error:
        return f"we refuse it ({error})" if kafka_reads and not _is_stricter_on_purpose(error) else None
    if answer.error is not None:
        return None if _is_a_tag_of_another_version(answer) else f"we read {value}"
    written = value.encode(version).hex()
    return None if (written, end) == (answer.hex, answer.read) else f"we read {value} and write {written}"


def _is_stricter_on_purpose(error: DecodeError) -> bool:
    """Text that is not UTF-8, lengths above 2^31, sizes and order of tagged fields: Kafka lets them pass."""
    size_beyond_the_end = error.kind == "truncated" and error.reason.startswith("tagged field")
    return error.kind in ("utf8", "varint", "tag") or size_beyond_the_end


def _is_a_tag_of_another_version(answer: Answer) -> bool:
    """tagged-read-wrong-version: a tag that the struct has in another version is an unknown one to us."""
    failure = answer.error
    return failure is not None and failure.stage == "read" and "is not valid for version" in (failure.message or "")


def _random_bytes(rng: random.Random, message: type[Message], version: int) -> bytes:
    return random_instance(rng, message, message.layouts().of_version(version)).encode(version)


def _damaged(rng: random.Random, octets: bytes) -> bytes:
    """The bytes cut short, or with one byte added, taken out, replaced or with one bit flipped."""
    if not octets:
        return rng.randbytes(1)
    place = rng.randrange(len(octets))
    before, byte, after = octets[:place], octets[place], octets[place + 1 :]
    middle = rng.choice((
        None, rng.randbytes(1) + bytes([byte]), b"", bytes([rng.choice((0, 1, 0x7F, 0x80, 0xFF))]),
        bytes([byte ^ 1 << rng.randrange(8)]),
    ))  # fmt: skip
    return before if middle is None else before + middle + after
