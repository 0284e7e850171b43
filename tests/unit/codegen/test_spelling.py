"""Hints for misspelt words."""

from __future__ import annotations

import pytest

from kafkawire.codegen.spelling import closest, did_you_mean


@pytest.mark.parametrize(
    ("word", "match"),
    [("verions", "versions"), ("Versions", "versions"), ("nullable", "nullableVersions"), ("colour", None), ("", None)],
)
def test_closest(word: str, match: str | None) -> None:
    assert closest(word, ["versions", "nullableVersions", "name"]) == match


def test_a_word_without_likeness_gives_no_hint() -> None:
    assert did_you_mean("colour", ["name"]) == ""
    assert did_you_mean("nam", ["name"]) == 'did you mean "name"?'


def test_a_huge_word_is_not_compared() -> None:
    assert closest("versions" * 100_000, ["versions"]) is None
