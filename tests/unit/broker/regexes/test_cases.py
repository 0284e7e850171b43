"""Letters that are the same if case is ignored."""

from __future__ import annotations

import pytest

from kafkawire.broker.regexes.cases import all_cases, in_any_case

YOUNGER = range(0x1C80, 0x1C89)
"""Cyrillic letters that the tables of RE2/J do not have."""


@pytest.mark.usefixtures("no_cover")
def test_each_letter_is_found_from_all_its_cases() -> None:
    letters = [chr(code) for code in range(0x20000) if code not in YOUNGER]
    assert [
        letter for letter in letters if any(all_cases(each) != all_cases(letter) for each in all_cases(letter))
    ] == []


@pytest.mark.parametrize(
    ("letter", "cases"),
    [
        ("k", "kK\u212a"),
        ("1", "1"),
        ("ß", "ßẞ"),
        ("İ", "İ"),
        ("\u0131", "\u0131"),
        ("ς", "ς\u03c3Σ"),
        ("ᾀ", "ᾀᾈ"),
        ("ǆ", "ǆǅǄ"),
    ],
)
def test_cases_are_single_letters(letter: str, cases: str) -> None:
    assert all_cases(letter) == frozenset(cases)


def test_a_letter_is_in_a_class_if_one_of_its_cases_is() -> None:
    holds = in_any_case(frozenset("ς").__contains__)
    assert [letter for letter in "ς\u03c3ΣsS" if holds(letter)] == ["ς", "\u03c3", "Σ"]
