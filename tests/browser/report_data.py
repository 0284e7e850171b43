"""The data of a report's page, as its tests read it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final, TypedDict, cast


class PackedCount(TypedDict):
    """A count over time."""

    before: int
    width: int
    steps: list[int]


class PackedNumbers(TypedDict):
    """Numbers of a section in one cluster."""

    rows: int
    shown: int
    completeFrom: int | None
    things: int
    holding: dict[str, PackedCount]
    holders: PackedCount
    changes: PackedCount


class PackedSection(TypedDict):
    """A section."""

    fields: list[str]
    texts: list[str]
    rows: list[list[int | float | None]]
    numbers: list[PackedNumbers]


PageData = TypedDict(
    "PageData",
    {
        "title": str,
        "asOf": int | None,
        "from": int,
        "to": int,
        "clusters": list[str | None],
        "logs": list[str],
        "copies": list[str],
        "notes": list[str],
        "alertRules": dict[str, dict[str, str]],
        "evidence": dict[str, object],
        "texts": list[str],
        "sections": dict[str, PackedSection],
        "accounts": list[dict[str, object]],
        "ends": list[list[int]],
        "commitTimes": list[list[list[int]]],
    },
)
"""The whole."""

_DATA: Final = re.compile(r'<script type="application/json" id="data">(.*?)</script>')


def data_of(page: Path) -> PageData:
    """What is in a page that was written."""
    found = _DATA.search(page.read_text("utf-8"))
    assert found is not None
    return cast(PageData, json.loads(found[1]))


def rows_of(data: PageData, name: str) -> list[dict[str, object]]:
    """The rows of a section, each by its fields."""
    section = data["sections"][name]

    def cell(field: str, value: float | None) -> object:
        return data["texts"][int(value)] if field in section["texts"] and value is not None else value

    return [
        {field: cell(field, value) for field, value in zip(section["fields"], row, strict=True)}
        for row in section["rows"]
    ]


def number_at(count: PackedCount, time: int) -> int:
    """A count at a time, which is exact."""
    assert count["width"] == 1
    number, at = count["before"], 0
    for later, change in zip(count["steps"][::2], count["steps"][1::2], strict=True):
        at += later
        if at > time:
            break
        number += change
    return number
