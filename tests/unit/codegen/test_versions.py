"""Version ranges: their text, and examples of their algebra."""

from __future__ import annotations

import pytest

from kafkawire.codegen.versions import (
    ALL_VERSIONS,
    NO_VERSIONS,
    Versions,
    VersionsSyntaxError,
    parse_versions,
    versions_text,
)


@pytest.mark.parametrize(
    ("text", "lowest", "highest"),
    [
        ("3", 3, 3),
        ("0-3", 0, 3),
        ("2+", 2, 32767),
        ("none", 0, -1),
        (" 2+\t", 2, 32767),
        ("0-32767", 0, 32767),
        ("5-3", 0, -1),
        ("007", 7, 7),
    ],
)
def test_versions_text(text: str, lowest: int, highest: int) -> None:
    assert parse_versions(text) == Versions(lowest, highest)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("3-3", "3"), ("0-32767", "0+"), ("4-2", "none"), ("1-2", "1-2"), ("32767", "32767+")],
)
def test_versions_canonical_text(text: str, canonical: str) -> None:
    assert str(parse_versions(text)) == canonical


@pytest.mark.parametrize(
    "text",
    ["", " ", "None", "a", "1 - 2", "2 +", "1-2-3", "+", "-", "1-", "+2", "1.0", "32768", "9" * 5000, "٣", "0x1"],
)
def test_versions_not_a_number(text: str) -> None:
    with pytest.raises(VersionsSyntaxError) as caught:
        parse_versions(text)
    assert caught.value.rule == ("versions-negative" if text.startswith("-") else "versions-not-a-number")


@pytest.mark.parametrize("text", ["-1", "-5+", "-1-2", "0--1"])
def test_versions_negative(text: str) -> None:
    with pytest.raises(VersionsSyntaxError) as caught:
        parse_versions(text)
    assert caught.value.rule == "versions-negative"


@pytest.mark.parametrize(
    ("minuend", "subtrahend", "difference"),
    [
        ("1-4", "1-2", "3-4"),
        ("3+", "4+", "3"),
        ("4+", "3+", "none"),
        ("1-5", "2-4", None),
        ("1-4", "none", "1-4"),
        ("1-4", "7+", "1-4"),
        ("1-4", "3-9", "1-2"),
    ],
)
def test_versions_subtract(minuend: str, subtrahend: str, difference: str | None) -> None:
    made = parse_versions(minuend).subtract(parse_versions(subtrahend))
    assert (None if made is None else str(made)) == difference


def test_versions_outside_int16_are_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 32767"):
        Versions(-1, 3)
    with pytest.raises(ValueError, match="between 0 and 32767"):
        Versions(0, 32768)


def test_the_empty_range_is_in_every_range_and_holds_nothing() -> None:
    assert ALL_VERSIONS.contains(NO_VERSIONS)
    assert Versions(2, 3).contains(NO_VERSIONS)
    assert not NO_VERSIONS.contains(Versions(0, 0))
    assert not NO_VERSIONS
    assert 0 not in NO_VERSIONS
    assert list(NO_VERSIONS) == []


def test_text_of_versions_with_gaps() -> None:
    assert versions_text({5, 0, 1, 2}) == "0-2, 5"
    assert versions_text(set()) == ""
