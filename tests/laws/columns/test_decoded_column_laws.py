"""Columns of encoded messages have what the class reads in each; malformed messages become nulls."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.kafka_logs.column_rows import RECORD_NAMES, check_decoded

from kafkawire.columns import MessageColumns
from kafkawire.protocol import message_class
from kafkawire.wire.strategies import messages

CASES = [(name, version) for name in RECORD_NAMES for version in message_class(name).VERSIONS]


@pytest.mark.parametrize(("name", "version"), CASES, ids=[f"{name}-{version}" for name, version in CASES])
@settings(max_examples=scaled(5))
@given(data=st.data(), head=st.binary(max_size=3))
def test_messages_and_their_damaged_copies_are_read_as_by_the_class(
    name: str, version: int, data: st.DataObject, head: bytes
) -> None:
    columns = MessageColumns(message_class(name))
    whole = head + data.draw(messages(columns.message, version)).encode(version)
    flips = data.draw(st.lists(st.tuples(st.integers(0, len(whole)), st.integers(1, 255)), max_size=20))
    check_decoded(
        columns, version, [whole, None, whole + b"more", *(_flipped(whole, at, bits) for at, bits in flips)], len(head)
    )


def _flipped(octets: bytes, at: int, bits: int) -> bytes:
    if at == len(octets):
        return octets[:-1]
    return octets[:at] + bytes((octets[at] ^ bits,)) + octets[at + 1 :]
