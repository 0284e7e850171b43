"""Bytes from strangers: the reference codec gives a value or a DecodeError, and no more memory than they earn."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, strategies as st
from tests.made.example_messages import random_instance
from tests.made.messages import Synthetic, everything, field, message, nullable_struct_message
from tests.traced_memory import takes_less

from kafkawire.layout import STRUCT
from kafkawire.wire.errors import DecodeError

MESSAGES = [*everything(), nullable_struct_message(0), nullable_struct_message(1)]
NAMES = [f"{synthetic.layout.name}-{synthetic.version}" for synthetic in MESSAGES]

every_message = pytest.mark.parametrize("synthetic", MESSAGES, ids=NAMES)

KINDS = {"truncated", "length", "null", "utf8", "varint", "tag"}


def error_of(synthetic: Synthetic, octets: bytes) -> DecodeError | None:
    """The error that the bytes give; None if they decode. Anything but a DecodeError escapes and fails the test."""
    try:
        _, end = synthetic.decode_from(octets)
    except DecodeError as error:
        caught = error
    else:
        assert end <= len(octets)
        return None
    assert caught.kind in KINDS
    assert caught.offset is not None
    assert 0 <= caught.offset <= len(octets)
    return caught


@every_message
@given(octets=st.binary(max_size=80))
def test_any_bytes_give_a_value_or_a_decode_error(synthetic: Synthetic, octets: bytes) -> None:
    error_of(synthetic, octets)


@every_message
def test_truncation_at_each_byte_is_an_error(synthetic: Synthetic) -> None:
    for seed in range(5):
        written = synthetic.encode(random_instance(random.Random(seed), synthetic.cls, synthetic.layout))
        for end in range(0, len(written), 1 + len(written) // 150):
            error = error_of(synthetic, written[:end])
            assert error is not None
            assert error.kind == "truncated"


@every_message
def test_flipped_bits_give_a_value_or_a_decode_error(synthetic: Synthetic) -> None:
    rng = random.Random(11)
    for seed in range(10):
        written = synthetic.encode(random_instance(random.Random(seed), synthetic.cls, synthetic.layout))
        for _ in range(30):
            broken = bytearray(written or b"\x00")
            broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
            error_of(synthetic, bytes(broken))


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("type_", ["int8", "int64", "uuid", "string", "bytes", STRUCT])
def test_a_few_bytes_that_claim_billions_of_elements_fail_at_once(type_: str, compact: bool) -> None:
    empty = message(flexible=compact)
    shape = field(type_, array=True, compact=compact, struct=empty.layout if type_ == STRUCT else None)
    claimant = message(shape, flexible=compact, M=empty.cls)
    octets = bytes.fromhex("ffffffff07" if compact else "7fffffff") + bytes(6)
    error = error_of(claimant, octets)
    assert error is not None
    assert error.offset == 0
    assert takes_less(lambda: error_of(claimant, octets), 20_000)


def test_memory_is_proportional_to_the_input() -> None:
    """Counts that lie stop at the end of the input, however deep they stand."""
    leaf = message(field("int8", "Numbers", array=True))
    top = message(field(STRUCT, "Leaves", array=True, struct=leaf.layout), M=leaf.cls)
    octets = (5000).to_bytes(4) + ((10).to_bytes(4) + bytes(10)) * 4000 + (5000).to_bytes(4) + bytes(4000)
    error = error_of(top, octets)
    assert error is not None
    assert error.path == "leaves[4000].numbers"
    assert takes_less(lambda: error_of(top, octets), 50 * len(octets))
