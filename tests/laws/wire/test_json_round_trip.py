"""The JSON form reads what it writes, through JSON text, for every type and shape."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, strategies as st
from tests.made.example_messages import extreme_instances, random_instance
from tests.made.messages import Synthetic, everything, nullable_struct_message

from kafkawire.wire.errors import DecodeError
from kafkawire.wire.json_form import struct_from_json, struct_to_json, struct_writer
from kafkawire.wire.strategies import instances

MESSAGES = [*everything(), nullable_struct_message(0), nullable_struct_message(1)]
NAMES = [f"{synthetic.layout.name}-{synthetic.version}" for synthetic in MESSAGES]

every_message = pytest.mark.parametrize("synthetic", MESSAGES, ids=NAMES)


def through_text(synthetic: Synthetic, value: object) -> object:
    written = struct_to_json(value, synthetic.layout, message_name="M", version=0)  # type: ignore[arg-type]
    read = json.loads(json.dumps(written, allow_nan=False))
    return struct_from_json(synthetic.cls, synthetic.layout, read, message_name="M", version=0)


@every_message
def test_examples_come_back_equal_through_text(synthetic: Synthetic) -> None:
    values = list(extreme_instances(synthetic.cls, synthetic.layout).values())
    rng = random.Random(5)
    values += [random_instance(rng, synthetic.cls, synthetic.layout, unknown_tags=False) for _ in range(100)]
    for value in values:
        assert through_text(synthetic, value) == value


@every_message
def test_decoded_messages_are_written_the_same_without_validation(synthetic: Synthetic) -> None:
    rng, write = random.Random(7), struct_writer(synthetic.cls, synthetic.layout)
    values = list(extreme_instances(synthetic.cls, synthetic.layout).values())
    for value in (*values, *(random_instance(rng, synthetic.cls, synthetic.layout) for _ in range(100))):
        exact = struct_to_json(value, synthetic.layout, message_name="M", version=0)
        assert json.dumps(write(value)) == json.dumps(exact)


@every_message
@given(data=st.data())
def test_read_of_written_is_the_value(synthetic: Synthetic, data: st.DataObject) -> None:
    value = data.draw(instances(synthetic.cls, synthetic.layout, unknown_tags=False))
    assert through_text(synthetic, value) == value


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@every_message
@given(data=st.data())
def test_any_json_gives_a_value_or_a_decode_error(synthetic: Synthetic, data: st.DataObject) -> None:
    value = random_instance(random.Random(3), synthetic.cls, synthetic.layout, unknown_tags=False)
    written = struct_to_json(value, synthetic.layout, message_name="M", version=0)
    for key in data.draw(st.lists(st.sampled_from([*written, "other"]), max_size=3)):
        written[key] = data.draw(json_values)
    try:
        read = struct_from_json(synthetic.cls, synthetic.layout, written, message_name="M", version=0)
    except DecodeError as error:
        caught: DecodeError | None = error
    else:
        caught = None
        assert isinstance(read, synthetic.cls)
    assert caught is None or caught.kind == "json"
