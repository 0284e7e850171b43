"""Columns hold what the messages hold, in every version of every record."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.kafka_logs.column_rows import RECORD_NAMES, check_messages

from kafkawire.columns import MessageColumns
from kafkawire.protocol import message_class
from kafkawire.wire.strategies import messages

CASES = [(name, version) for name in RECORD_NAMES for version in message_class(name).VERSIONS]


@pytest.mark.parametrize(("name", "version"), CASES, ids=[f"{name}-{version}" for name, version in CASES])
@settings(max_examples=scaled(5))
@given(data=st.data())
def test_columns_have_the_values_of_messages(name: str, version: int, data: st.DataObject) -> None:
    columns = MessageColumns(message_class(name))
    check_messages(columns, version, data.draw(st.lists(messages(columns.message, version), max_size=4)))
