"""Histories use the user's definitions of Kafka's records, with newer versions and more fields."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kafka_logs.histories import history, time
from tests.made.logs import METADATA_LOG, OFFSETS_LOG, write_batches
from tests.made.packages import Json, field, write_definitions

from kafkawire.logs import Accounts, LogReadError, ReadMode, ReadOptions, RecordRegistry
from kafkawire.logs.own_definitions import own_definitions
from kafkawire.protocol import ClientQuotaRecord, OffsetCommitKey
from kafkawire.records.coordinator_records import encode_coordinator_record
from kafkawire.wire.batches import Record, encode_batch

SPECS = Path(__file__).parents[4] / "specs"


def test_a_newer_version_with_another_field(tmp_path: Path) -> None:
    registry = with_definitions(tmp_path, newer("ConfigRecord", field("Reason", "string", "1+")))
    config = registry.message("ConfigRecord")
    write_metadata(tmp_path, 4, config(2, "t", "retention.ms", "1").encode(0), 0)
    write_metadata(tmp_path, 4, config(2, "t", "retention.ms", "2", reason="why").encode(1), 1, at=1)

    rows = history("config_history", tmp_path / METADATA_LOG, options=ReadOptions(registry=registry))

    assert [(row["value"], row["valid_from"], row["valid_to"]) for row in rows] == [
        ("1", time(1), time(2)),
        ("2", time(2), None),
    ]


def test_structs_in_a_record(tmp_path: Path) -> None:
    registry = with_definitions(tmp_path, newer("ClientQuotaRecord", field("Burst", "float64", "1+")))
    quota = registry.message("ClientQuotaRecord")
    record = quota(
        entity=(ClientQuotaRecord.EntityData("user", "alice"),), key="producer_byte_rate", value=3.0, burst=4.0
    )
    write_metadata(tmp_path, 14, record.encode(1), 1)

    (row,) = history("quota_history", tmp_path / METADATA_LOG, options=ReadOptions(registry=registry))

    assert (row["user"], row["key"], row["value"]) == ("alice", "producer_byte_rate", 3.0)


def test_trailing_bytes_are_reported_and_the_values_are_kept(tmp_path: Path) -> None:
    registry = with_definitions(tmp_path, newer("ConfigRecord", field("Reason", "string", "1+")))
    write_metadata(tmp_path, 4, registry.message("ConfigRecord")(2, "t", "retention.ms", "1").encode(1) + b"more", 1)
    accounts = Accounts()

    (row,) = history("config_history", tmp_path, options=ReadOptions(registry=registry), accounts=accounts)

    assert (row["value"], accounts.errors) == ("1", {"trailing_bytes": 1})


@pytest.mark.parametrize("tail", [b"", b"more"])
def test_a_newer_version_of_a_coordinators_record(tmp_path: Path, tail: bytes) -> None:
    newer_value = newer("OffsetCommitValue", field("Rack", "string", "5+"))
    registry = with_definitions(tmp_path, newer_value, definition_of("OffsetCommitKey"))
    key, _ = encode_coordinator_record("__consumer_offsets", OffsetCommitKey("g", "t", 0), None)
    value = (5).to_bytes(2, "big") + registry.message("OffsetCommitValue")(offset=7, rack="r").encode(5) + tail
    write_batches(tmp_path / OFFSETS_LOG, 0, [encode_batch([Record(timestamp=1, key=key, value=value)])])

    (row,) = history("offset_commits", tmp_path / OFFSETS_LOG, options=ReadOptions(registry=registry))

    expected = "trailing_bytes" if tail else None
    assert (row["group_id"], row["committed_offset"], row["_error"]) == ("g", 7, expected)


def without_name(definition: dict[str, Any]) -> None:
    definition["fields"] = [each for each in definition["fields"] if each["name"] != "Name"]


def with_a_number_for_a_name(definition: dict[str, Any]) -> None:
    next(each for each in definition["fields"] if each["name"] == "Name")["type"] = "int32"


def with_a_name_that_may_be_null(definition: dict[str, Any]) -> None:
    next(each for each in definition["fields"] if each["name"] == "Name")["nullableVersions"] = "0+"


@pytest.mark.parametrize("spoil", [without_name, with_a_number_for_a_name, with_a_name_that_may_be_null])
def test_a_definition_without_the_needed_fields_adds_nothing(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], None]
) -> None:
    """Its records are not decoded, not even in versions that Kafka has."""
    definition = definition_of("ConfigRecord")
    spoil(definition)
    registry = with_definitions(tmp_path, definition)
    write_metadata(tmp_path, 4, registry.message("ConfigRecord")(2, "t").encode(0), 0)
    accounts = Accounts()

    assert history("config_history", tmp_path, options=ReadOptions(registry=registry), accounts=accounts) == []
    assert accounts.errors == {"unsupported_version": 1}
    with pytest.raises(LogReadError, match="its own definition does not have these fields of Kafka's: Name"):
        history("config_history", tmp_path, options=ReadOptions(registry=registry, mode=ReadMode.FAILFAST))


def definition_of(name: str) -> dict[str, Any]:
    """Kafka's definition of a message."""
    definition: dict[str, Any] = json.loads(next(SPECS.rglob(f"{name}.json")).read_text())
    return definition


def newer(name: str, added: Json) -> dict[str, Any]:
    """Kafka's definition of a message, with a new version that has a new field."""
    definition = definition_of(name)
    first, _, last = definition["validVersions"].rpartition("-")
    return definition | {
        "validVersions": f"{first or last}-{int(last) + 1}",
        "fields": [*definition["fields"], added],
    }


def with_definitions(folder: Path, *definitions: dict[str, Any]) -> RecordRegistry:
    return own_definitions(write_definitions(folder / "definitions", *definitions)).registry


def write_metadata(folder: Path, number: int, body: bytes, version: int, *, at: int = 0) -> None:
    """Write a segment of one record."""
    value = bytes((1, number, version)) + body
    write_batches(folder / METADATA_LOG, at, [encode_batch([Record(timestamp=1 + at, value=value)], base_offset=at)])
