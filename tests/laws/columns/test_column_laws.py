"""Columns read what the classes read, of every version of every record, and fail where they fail."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from tests.kafka_logs.column_rows import check_columns_agree, row_of, same_rows, taken

from kafkawire.protocol.record_columns import RECORD_NAMES, record_columns
from kafkawire.wire.laws import damaged
from kafkawire.wire.strategies import messages

CASES = [(name, version) for name in RECORD_NAMES for version in record_columns(name).versions]
IDS = [f"{name}-{version}" for name, version in CASES]

every_version = pytest.mark.parametrize(("name", "version"), CASES, ids=IDS)


@every_version
@settings(max_examples=5)
@given(data=st.data(), head=st.binary(max_size=3))
def test_columns_hold_what_messages_hold(name: str, version: int, data: st.DataObject, head: bytes) -> None:
    columns = record_columns(name)
    drawn = data.draw(st.lists(messages(columns.message, version), max_size=4))
    rows = columns.rows()
    buffers = [head + message.encode(version) for message in drawn]
    assert rows.extend(version, buffers, len(head)) == len(rows) == len(drawn)
    found, bad_text = taken(rows, columns.schema.names)
    assert not bad_text
    assert same_rows(found, [row_of(message, version) for message in drawn])


@every_version
@settings(max_examples=10)
@given(data=st.data())
def test_columns_fail_where_classes_fail(name: str, version: int, data: st.DataObject) -> None:
    columns = record_columns(name)
    whole = data.draw(messages(columns.message, version)).encode(version)
    check_columns_agree(columns, version, data.draw(damaged(whole) | st.binary(max_size=40)))


@every_version
@settings(max_examples=5)
@given(data=st.data())
def test_rows_before_a_broken_one_are_whole(name: str, version: int, data: st.DataObject) -> None:
    columns = record_columns(name)
    drawn = data.draw(st.lists(messages(columns.message, version), max_size=3))
    broken = data.draw(messages(columns.message, version)).encode(version) + b"\0"
    rows = columns.rows()
    assert rows.extend(version, [*(message.encode(version) for message in drawn), broken], 0) == len(drawn)
    rows.extend_nulls(1)
    found, _ = taken(rows, columns.schema.names)
    assert same_rows(found, [*(row_of(message, version) for message in drawn), dict.fromkeys(columns.schema.names)])
