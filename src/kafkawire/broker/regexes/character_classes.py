"""The classes of characters that RE2 has by name; those of Perl and POSIX are ASCII."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.broker.regexes.nodes import Holds

_DIGITS: Final = frozenset(string.digits)
_LETTERS: Final = frozenset(string.ascii_letters)
_SPACES: Final = frozenset("\t\n\f\r ")
WORD: Final = _LETTERS | _DIGITS | {"_"}

PERL: Final[Mapping[str, Holds]] = MappingProxyType(
    {"d": _DIGITS.__contains__, "s": _SPACES.__contains__, "w": WORD.__contains__}
)
"""Those of Perl, by the letter after the backslash; the upper letter has all others."""

POSIX: Final[Mapping[str, Holds]] = MappingProxyType(
    {
        "alnum": (_LETTERS | _DIGITS).__contains__,
        "alpha": _LETTERS.__contains__,
        "ascii": str.isascii,
        "blank": frozenset("\t ").__contains__,
        "cntrl": frozenset(map(chr, (*range(32), 127))).__contains__,
        "digit": _DIGITS.__contains__,
        "graph": frozenset(map(chr, range(33, 127))).__contains__,
        "lower": frozenset(string.ascii_lowercase).__contains__,
        "print": frozenset(map(chr, range(32, 127))).__contains__,
        "punct": frozenset(string.punctuation).__contains__,
        "space": (_SPACES | {"\v"}).__contains__,
        "upper": frozenset(string.ascii_uppercase).__contains__,
        "word": WORD.__contains__,
        "xdigit": frozenset(string.hexdigits).__contains__,
    }
)
"""Those of POSIX, by the name between ``[:`` and ``:]``."""

_CATEGORIES: Final = (
    *("Cc", "Cf", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "No"),
    *("Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs"),
)


def _in_category(name: str) -> Holds:
    categories = frozenset(each for each in _CATEGORIES if each.startswith(name))
    return lambda character: unicodedata.category(character) in categories


UNICODE: Final[Mapping[str, Holds]] = MappingProxyType(
    {
        **{name: _in_category(name) for name in (*_CATEGORIES, *(each[0] for each in _CATEGORIES))},
        "Any": lambda _: True,
    }
)
"""The categories of Unicode, by name; there are no scripts, which Python does not know."""
