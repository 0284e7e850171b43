"""Regular expressions match what RE2/J matches, which Apache Kafka uses, and are refused as there."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from tests.interop.broker.groups.kafkas_coordinator import Match, kafkas_coordinator

from kafkawire.broker.regexes.regex import Regex

pytestmark = pytest.mark.interop

NAMES = (
    "a",
    "b",
    "ab",
    "aab",
    "abc",
    "A",
    "Ab",
    "a.b",
    "a-b",
    "a_b",
    "orders",
    "orders-1",
    "orders.eu",
    "x1",
    "1",
    "_",
    "",
    "ä",
    "Ä",
    "aä",
    "äöü",
    "ς",
    "Σ",
    "\u03c3",
    "straße",
    "STRAẞE",
    "strasse",
    "\u017f",
    "s",
    "\u212a",
    "K",
    "k",
    "i",
    "I",
    "İ",
    "\u0131",
    "ǅ",
    "Ǆ",
    "ᾈ",
    "\u0412",
    "日本",
    "٣",
    "\u0378",
    "\xad",
    "\u0308",
    "😀",
    "a\nb",
    "a\n",
    "\n",
    "\nab",
)
PATTERNS = ("", *(Path(__file__).parent / "patterns.txt").read_text("utf-8").splitlines())
PIECES = (
    "a",
    "b",
    ".",
    "1",
    "-",
    "[a-c]",
    "[^a]",
    "(",
    ")",
    "|",
    "*",
    "+",
    "?",
    "{1,2}",
    r"\d",
    r"\b",
    "^",
    "$",
    "(?i)",
    "(?:",
    "(?m)",
    "(?s)",
    r"\n",
    r"\W",
    "ä",
    "[^ä]",
    "[à-ü]",
    r"\p{Lu}",
)
TOO_LARGE = {"(a{100}){100}": "at most"}
"""What Kafka takes, and this broker does not, with words of the reason."""


def _random_pattern(chance: random.Random) -> str:
    return "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 8)))


def test_matches_and_refusals_are_those_of_kafka() -> None:
    chance = random.Random(1)
    patterns = (*PATTERNS, *(_random_pattern(chance) for _ in range(3000)))
    with kafkas_coordinator() as kafka:
        lines = kafka.ask([Match(pattern, NAMES) for pattern in patterns])
    different = {}
    for pattern, line in zip(patterns, lines, strict=True):
        expected = msgspec.json.decode(line, type=list[str] | None)
        found = _matched(pattern)
        if pattern in TOO_LARGE:
            with pytest.raises(ValueError, match=TOO_LARGE[pattern]):
                Regex(pattern)
        elif found != expected:
            different[pattern] = (expected, found)
    assert not different


def _matched(pattern: str) -> list[str] | None:
    try:
        regex = Regex(pattern)
    except ValueError:
        return None
    return [name for name in NAMES if regex.matches(name)]
