"""SARIF 2.1.0 as kafkawire writes it: what the format asks for, held by types that know no other key."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

Positive = Annotated[int, msgspec.Meta(ge=1)]
Text = Annotated[str, msgspec.Meta(min_length=1)]


class Strict(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What has no other keys than these; those with a default may be missing."""


class Message(Strict):
    text: Text


class ReportingDescriptor(Strict):
    id: Text
    short_description: Message
    help: Message | None = None


class Driver(Strict):
    name: Literal["kafkawire"]
    version: Text
    rules: list[ReportingDescriptor]


class Tool(Strict):
    driver: Driver


class Region(Strict):
    start_line: Positive
    start_column: Positive
    end_line: Positive
    end_column: Positive


class ArtifactLocation(Strict):
    uri: Text
    uri_base_id: str | None = None


class PhysicalLocation(Strict):
    artifact_location: ArtifactLocation
    region: Region | None = None


class LogicalLocation(Strict):
    fully_qualified_name: Text


class Location(Strict):
    physical_location: PhysicalLocation | None = None
    logical_locations: list[LogicalLocation] = []


class Result(Strict):
    rule_id: Text
    rule_index: Annotated[int, msgspec.Meta(ge=0)]
    level: Literal["none", "note", "warning", "error"]
    message: Message
    locations: Annotated[list[Location], msgspec.Meta(min_length=1)]
    properties: dict[str, Any] = {}


class Run(Strict):
    tool: Tool
    column_kind: Literal["unicodeCodePoints", "utf16CodeUnits"]
    results: list[Result]


class Log(Strict):
    version: Literal["2.1.0"]
    runs: Annotated[list[Run], msgspec.Meta(min_length=1, max_length=1)]
    schema: str = msgspec.field(name="$schema")


def run_of(text: str) -> Run:
    """The one run of a log."""
    return msgspec.json.decode(text, type=Log).runs[0]
