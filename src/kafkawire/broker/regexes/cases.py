"""Which characters are one letter if case is ignored, by Unicode's simple case folding."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.broker.regexes.nodes import Holds

_IRREGULAR: Final = (
    *("Kk\u212a", "Ss\u017f", "\xc5\xe5\u212b", "\xdf\u1e9e", "\u1e60\u1e61\u1e9b", "\u0131"),
    # Greek.
    *("\xb5\u039c\u03bc", "\u0345\u0399\u03b9\u1fbe", "\u0392\u03b2\u03d0", "\u0395\u03b5\u03f5"),
    *("\u0398\u03b8\u03d1\u03f4", "\u039a\u03ba\u03f0", "\u03a0\u03c0\u03d6", "\u03a1\u03c1\u03f1"),
    *("\u03a3\u03c2\u03c3", "\u03a6\u03c6\u03d5", "\u03a9\u03c9\u2126"),
)
"""Those that Python's methods of a character do not find from each of them (CaseFolding.txt of Unicode).

Letters that are younger than the tables of RE2/J are left out.
"""

_CASES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {character: frozenset(cases) for cases in _IRREGULAR for character in cases}
)


def all_cases(character: str) -> frozenset[str]:
    """The characters that are the same as one if case is ignored."""
    cases = (character, character.lower(), character.upper(), character.title())
    return _CASES.get(character) or frozenset(each for each in cases if len(each) == 1)


def in_any_case(holds: Holds) -> Holds:
    """Whether a character is one of some if case is ignored."""
    return lambda character: any(holds(each) for each in all_cases(character))
