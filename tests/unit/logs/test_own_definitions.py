"""Classes for the user's record definitions are generated in memory and can be sent to other processes."""

from __future__ import annotations

import pickle
import subprocess
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.made.packages import field, message, write_definitions

from kafkawire.logs.own_definitions import OwnDefinitionsError, own_definitions
from kafkawire.logs.registry import BUILT_IN
from kafkawire.wire import DecodeError

Json = Mapping[str, object]

GREETING = message("GreetingRecord", field("Text", "string"), type="metadata", apiKey=900)
WISH_KEY = message(
    "WishKey", field("Who", "string", "0"), type="coordinator-key", apiKey=77, versions="0", flexible="none"
)
WISH_VALUE = message("WishValue", field("What", "string"), type="coordinator-value", apiKey=77)


def test_a_new_metadata_record_is_added_to_the_records_of_kafka(tmp_path: Path) -> None:
    registry = own_definitions(write_definitions(tmp_path, GREETING)).registry
    assert registry.metadata == {**BUILT_IN.metadata, 900: "GreetingRecord"}
    assert registry.coordinators == BUILT_IN.coordinators
    greeting = registry.message("GreetingRecord")
    assert greeting.decode(greeting(text="hello").encode(1), 1) == greeting(text="hello")
    assert registry.message("TopicRecord") is BUILT_IN.message("TopicRecord")


def test_a_record_of_kafka_gets_the_versions_that_the_user_defines(tmp_path: Path) -> None:
    topic = message("TopicRecord", field("Name", "string"), field("Owner", "string", "1+"), type="metadata", apiKey=2)
    registry = own_definitions(write_definitions(tmp_path, topic)).registry
    assert registry.metadata == BUILT_IN.metadata
    found = registry.message("TopicRecord")
    assert found.decode(found(name="a", owner="b").encode(1), 1) == found(name="a", owner="b")


def test_coordinator_records_belong_to_the_coordinator_that_their_folder_names(tmp_path: Path) -> None:
    write_definitions(tmp_path / "share-coordinator", WISH_KEY, WISH_VALUE)
    registry = own_definitions(tmp_path).registry
    added = registry.coordinators["__share_group_state"][77]
    assert (added.number, added.name, added.key, added.key_version, added.value) == (
        77,
        "Wish",
        "WishKey",
        0,
        "WishValue",
    )
    assert registry.coordinators["__consumer_offsets"] == BUILT_IN.coordinators["__consumer_offsets"]


def test_coordinator_records_of_kafka_are_known_by_their_names(tmp_path: Path) -> None:
    key = message(
        *("OffsetCommitKey", field("Group", "string", "0")),
        type="coordinator-key",
        apiKey=1,
        versions="0",
        flexible="none",
    )
    value = message("OffsetCommitValue", field("Offset", "int64"), type="coordinator-value", apiKey=1)
    registry = own_definitions(write_definitions(tmp_path, key, value)).registry
    assert registry.coordinators == BUILT_IN.coordinators
    assert registry.message("OffsetCommitValue")(offset=3).encode(0) == bytes(7) + b"\x03"


@pytest.mark.parametrize(
    ("definitions", "complaint"),
    [
        ([], "no *.json file in this folder or below"),
        (
            [message("Order", field("Id", "int32"))],
            "defines no records: types metadata, coordinator-key, coordinator-value",
        ),
        ([WISH_KEY, WISH_VALUE], "unknown coordinator; put the file into one of the folders group-coordinator, "),
    ],
)
def test_definitions_without_a_record_are_refused(tmp_path: Path, definitions: list[Json], complaint: str) -> None:
    with pytest.raises(OwnDefinitionsError) as refused:
        own_definitions(write_definitions(tmp_path, *definitions))
    assert complaint in str(refused.value)


def test_errors_are_reported_as_lint_reports_them(tmp_path: Path) -> None:
    folder = write_definitions(tmp_path, message("Wrong", field("Text", "strin"), type="metadata", apiKey=900))
    with pytest.raises(OwnDefinitionsError) as refused:
        own_definitions(folder)
    lint = subprocess.run(
        [Path(sys.executable).with_name("kafkawire"), "schema", "lint", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    finding = lint.stdout.splitlines()[0]
    assert "Wrong.json:" in finding
    assert finding in str(refused.value)


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(OwnDefinitionsError, match="nowhere is not a folder of definitions"):
        own_definitions(tmp_path / "nowhere")


def test_other_definitions_are_another_package(tmp_path: Path) -> None:
    first = own_definitions(write_definitions(tmp_path / "a", GREETING))
    again = own_definitions(write_definitions(tmp_path / "a", GREETING))
    other = own_definitions(write_definitions(tmp_path / "b", message("GreetingRecord", type="metadata", apiKey=900)))
    assert first.modules.package == again.modules.package != other.modules.package
    assert first.registry.message("GreetingRecord") is again.registry.message("GreetingRecord")
    assert first.registry.message("GreetingRecord") is not other.registry.message("GreetingRecord")


def test_a_process_without_the_folder_decodes_with_an_unpickled_registry(tmp_path: Path) -> None:
    own = own_definitions(write_definitions(tmp_path, GREETING))
    encoded = own.registry.message("GreetingRecord")(text="hello").encode(1)
    code = (
        "import pickle, sys; registry, encoded = pickle.load(sys.stdin.buffer);"
        "registry.modules.install();"  # once more
        "print(registry.message('GreetingRecord').decode(encoded, 1).text,"
        "sum(type(finder).__module__ == 'kafkawire.logs.generated_modules' for finder in sys.meta_path))"
    )
    (tmp_path / "GreetingRecord.json").unlink()
    worker = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps((own.registry, encoded)), capture_output=True, check=True
    )
    assert worker.stdout.split() == [b"hello", b"1"]


def test_tracebacks_show_the_lines_of_generated_modules(tmp_path: Path) -> None:
    greeting = own_definitions(write_definitions(tmp_path, GREETING)).registry.message("GreetingRecord")
    with pytest.raises(DecodeError) as failed:
        greeting.decode(b"\x05a", 1)
    lines = [frame.line for frame in traceback.extract_tb(failed.tb) if frame.filename.startswith("<")]
    assert all(lines)
