"""The roles of columns: each table says what a reader needs first."""

from __future__ import annotations

import pickle

import pytest

from kafkawire.column_roles import ColumnRole
from kafkawire.logs import ReadOptions, table_named, table_names
from kafkawire.logs.history_tables import HISTORIES


def of_role(table: str, role: ColumnRole) -> list[str]:
    return [name for name, each in table_named(table).roles.items() if each is role]


@pytest.mark.parametrize("name", table_names())
def test_every_column_has_a_role(name: str) -> None:
    table = table_named(name, ReadOptions(corrupt_record_column="raw"))
    assert set(table.schema.names) <= set(table.roles)


@pytest.mark.parametrize("name", HISTORIES)
def test_the_time_of_a_history_is_its_interval(name: str) -> None:
    assert of_role(name, ColumnRole.TIME) == ["valid_from", "valid_to"]
    assert of_role(name, ColumnRole.KEY)
    assert of_role(name, ColumnRole.PLACE) == []


def test_columns_that_are_not_chosen_keep_their_roles() -> None:
    assert table_named("records", ReadOptions(columns=("json",))).roles == table_named("records").roles


def test_keys_of_coordinators_identify_their_rows() -> None:
    assert of_role("offset_commit", ColumnRole.KEY) == ["group", "topic", "partition"]


def test_numbers_beside_names_and_ids_beside_texts_are_details() -> None:
    assert of_role("access_control_entry", ColumnRole.DETAIL) == [
        *("record_version", "id", "resource_type_code", "pattern_type_code", "operation_code", "permission_type_code")
    ]
    assert "topic_id" not in of_role("partition", ColumnRole.DETAIL)


def test_roles_travel_with_a_table() -> None:
    table = table_named("acl_history")
    assert pickle.loads(pickle.dumps(table)).roles == table.roles  # noqa: S301 our own
