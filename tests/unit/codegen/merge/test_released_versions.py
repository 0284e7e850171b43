"""The record of releases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafkawire.codegen.merge.difference import Difference
from kafkawire.codegen.merge.released_versions import (
    ReleasedVersion,
    ReleasedVersionsError,
    format_released_versions,
    parse_released_versions,
)

PLAIN = ReleasedVersion("1.0", "clients", "A", 0, "00ff", "A", 0, "same", ())
RECORD = (
    PLAIN,
    replace(PLAIN, release="2.0", version=-1, merged_version=-1, layout=""),
    replace(
        PLAIN,
        version=1,
        relation="renamed",
        differences=(Difference("renamed", "S.Old", "Old", "New"), Difference("added-tag", "T", "", "tag 0")),
    ),
    replace(
        PLAIN, version=2, relation="replaced", differences=(Difference("wire", "fields", "A, B", "A"),)
    ),
)  # fmt: skip


def test_the_record_reads_back_as_written() -> None:
    assert parse_released_versions(format_released_versions(RECORD), "releases.csv") == RECORD


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("release,", "what,", "releases.csv:1: the heading must be release,"),
        ("A,0,same,\n", "A,0,same\n", "releases.csv:2: 9 values are needed, found 8"),
        ("A,0,same,\n", "A,0,alike,\n", "releases.csv:2: 'alike' is not a relation"),
        ("A,0,same,\n", "A,x,same,\n", "releases.csv:2: invalid literal"),
        ("A,0,same,\n", "A,0,same,something\n", "releases.csv:2: 'something' is not a difference"),
    ],
)
def test_errors_name_place_and_problem(old: str, new: str, message: str) -> None:
    text = format_released_versions(RECORD)
    assert old in text
    with pytest.raises(ReleasedVersionsError) as refused:
        parse_released_versions(text.replace(old, new, 1), "releases.csv")
    assert str(refused.value).startswith(message)
