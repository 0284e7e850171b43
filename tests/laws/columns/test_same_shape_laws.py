"""Messages of the same shape have the same values read together and alone; malformed messages are never among them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from tests.kafka_logs.column_rows import RECORD_NAMES, check_same_shape

from kafkawire.columns import MessageColumns
from kafkawire.protocol import message_class
from kafkawire.wire.strategies import messages

CASES = [(name, version) for name in RECORD_NAMES for version in message_class(name).VERSIONS]


@pytest.mark.parametrize(("name", "version"), CASES, ids=[f"{name}-{version}" for name, version in CASES])
@settings(max_examples=5)
@given(data=st.data(), head=st.binary(max_size=3))
def test_messages_and_their_damaged_copies_are_read_as_by_the_class(
    name: str, version: int, data: st.DataObject, head: bytes
) -> None:
    columns = MessageColumns(message_class(name))
    whole = head + data.draw(messages(columns.message, version)).encode(version)
    flips = data.draw(st.lists(st.tuples(st.integers(0, len(whole)), st.integers(1, 255)), max_size=20))
    check_same_shape(columns, version, [whole, *(_flipped(whole, at, bits) for at, bits in flips)], len(head))


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("OffsetCommitValue", 4),
        ("OffsetCommitKey", 0),
        ("ConfigRecord", 0),
        ("AccessControlEntryRecord", 0),
        ("NoOpRecord", 0),
        ("UserScramCredentialRecord", 0),
        ("PartitionRecord", 2),
    ],
)
@settings(max_examples=20)
@given(data=st.data())
def test_messages_of_plain_fields_have_a_shape(name: str, version: int, data: st.DataObject) -> None:
    columns = MessageColumns(message_class(name))
    whole = data.draw(messages(columns.message, version)).encode(version)
    assert check_same_shape(columns, version, [whole] * 3, 0) == 3


def _flipped(octets: bytes, at: int, bits: int) -> bytes:
    if at == len(octets):
        return octets[:-1]
    return octets[:at] + bytes((octets[at] ^ bits,)) + octets[at + 1 :]
