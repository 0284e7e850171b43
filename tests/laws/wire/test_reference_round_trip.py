"""The reference codec reads what it writes, for every type, shape and kind of version."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given, strategies as st
from tests.made.example_messages import extreme_instances, random_instance
from tests.made.messages import Synthetic, everything, nullable_struct_message

from kafkawire.wire.errors import DecodeError
from kafkawire.wire.strategies import instances

MESSAGES = [*everything(), nullable_struct_message(0), nullable_struct_message(1)]
NAMES = [f"{synthetic.layout.name}-{synthetic.version}" for synthetic in MESSAGES]

every_message = pytest.mark.parametrize("synthetic", MESSAGES, ids=NAMES)


@every_message
@given(data=st.data())
def test_decode_of_encode_is_the_value(synthetic: Synthetic, data: st.DataObject) -> None:
    value = data.draw(instances(synthetic.cls, synthetic.layout))
    assert synthetic.decode(synthetic.encode(value)) == value


@every_message
@given(data=st.data())
def test_decoded_values_encode_to_the_same_value(synthetic: Synthetic, data: st.DataObject) -> None:
    """Also from bytes that no encoder writes: padded varints, defaults on the wire, odd markers."""
    octets = bytearray(synthetic.encode(data.draw(instances(synthetic.cls, synthetic.layout))))
    for at, byte in data.draw(st.lists(st.tuples(st.integers(0, len(octets)), st.integers(0, 255)), max_size=3)):
        octets[at : at + 1] = bytes([byte])
    try:
        value, end = synthetic.decode_from(bytes(octets))
    except DecodeError:
        return
    assert end <= len(octets)
    written = synthetic.encode(value)
    again = synthetic.decode(written)
    assert synthetic.encode(again) == written
    # As text, for NaN equals nothing; as plain values, for a view shows only where it is.
    assert str(msgspec.to_builtins(again, enc_hook=str)) == str(msgspec.to_builtins(value, enc_hook=str))


@every_message
def test_examples_come_back_equal(synthetic: Synthetic) -> None:
    values = list(extreme_instances(synthetic.cls, synthetic.layout).values())
    values += [random_instance(random.Random(seed), synthetic.cls, synthetic.layout) for seed in range(100)]
    for value in values:
        assert synthetic.decode(synthetic.encode(value)) == value


@every_message
def test_the_position_of_a_message_does_not_matter(synthetic: Synthetic) -> None:
    value = random_instance(random.Random(7), synthetic.cls, synthetic.layout)
    written = synthetic.encode(value)
    assert synthetic.decode_from(b"\xff" * 9 + written + b"\xff" * 9, 9) == (value, 9 + len(written))
