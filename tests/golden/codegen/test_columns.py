"""Columns of a user's own records: they read what the classes read, for definitions of every odd shape."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest
from tests.golden.codegen.conftest import DEFINITIONS, GoldenPackage
from tests.kafka_logs.column_rows import check_columns
from tests.made.packages import Json, field, make_package, message

from kafkawire.columns import MessageColumns


def columns_of(package: ModuleType) -> dict[str, MessageColumns]:
    """All columns of a generated package by the name of their message."""
    table = importlib.import_module(f"{package.__name__}.record_columns")
    return {name: table.record_columns(name) for name in table.RECORD_NAMES}


def as_records(folder: Path) -> Iterator[Json]:
    """The data messages of a folder, as if they were records."""
    for number, path in enumerate(sorted(folder.glob("*.json"))):
        definition = json.loads(re.sub(r"(?m)^\s*//.*$", "", path.read_text()))
        yield definition | {"type": "metadata", "apiKey": number}


def test_records_of_a_package_have_columns(golden: GoldenPackage) -> None:
    columns = columns_of(golden.module)
    assert set(columns) == {"GroupKey", "GroupValue", "MixedRecord", "NoteRecord"}
    assert columns["NoteRecord"].schema == pa.schema([("note", pa.string())])
    assert sum(check_columns(each) for each in columns.values()) > 500


def test_columns_of_every_kind_of_field(tmp_path: Path) -> None:
    package = make_package(tmp_path, "columnar.protocol", *as_records(DEFINITIONS))
    columns = columns_of(package)
    assert len(columns) >= 7
    assert sum(check_columns(each) for each in columns.values()) > 2000


def test_data_messages_of_a_coordinator_are_records(tmp_path: Path) -> None:
    name = field("Name", "string")
    package = make_package(
        tmp_path,
        "coordinated.protocol",
        message("FirstKey", name, type="coordinator-key", apiKey=1, versions="0", flexible="none"),
        message("FirstValue", name, type="coordinator-value", apiKey=1),
        message("SecondKey", name),
        message("SecondValue", name),
        message("Lonely", name),
    )
    assert list(columns_of(package)) == ["FirstKey", "FirstValue", "SecondKey", "SecondValue"]


def test_a_package_without_records_has_no_columns(tmp_path: Path) -> None:
    package = make_package(tmp_path, "plain.protocol", message("Ping", field("SentMs", "int64")))
    root = Path(str(package.__file__)).parent
    assert not [path for path in root.rglob("*") if "columns" in path.name]
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("plain.protocol.record_columns")
