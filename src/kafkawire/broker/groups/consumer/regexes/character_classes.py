"""The classes of characters that RE2 has by name, as far as ASCII goes."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.broker.groups.consumer.regexes.nodes import ASCII

_DIGITS: Final = frozenset(string.digits)
_LETTERS: Final = frozenset(string.ascii_letters)
_SPACES: Final = frozenset("\t\n\f\r ")
WORD: Final = _LETTERS | _DIGITS | {"_"}

PERL: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "d": _DIGITS,
        "D": ASCII - _DIGITS,
        "s": _SPACES,
        "S": ASCII - _SPACES,
        "w": WORD,
        "W": ASCII - WORD,
    }
)
"""Those of Perl, by the letter after the backslash."""

POSIX: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "alnum": _LETTERS | _DIGITS,
        "alpha": _LETTERS,
        "ascii": ASCII,
        "blank": frozenset("\t "),
        "cntrl": frozenset(map(chr, (*range(32), 127))),
        "digit": _DIGITS,
        "graph": frozenset(map(chr, range(33, 127))),
        "lower": frozenset(string.ascii_lowercase),
        "print": frozenset(map(chr, range(32, 127))),
        "punct": frozenset(string.punctuation),
        "space": _SPACES | {"\v"},
        "upper": frozenset(string.ascii_uppercase),
        "word": WORD,
        "xdigit": frozenset(string.hexdigits),
    }
)
"""Those of POSIX, by the name between ``[:`` and ``:]``."""

_CATEGORIES: Final = (
    *("C", "Cc", "Cf", "Co", "Cs", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl", "No"),
    *("P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs"),
)

UNICODE: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        **{
            name: frozenset(each for each in ASCII if unicodedata.category(each).startswith(name))
            for name in _CATEGORIES
        },
        "Any": ASCII,
        "Common": ASCII - _LETTERS,
        "Latin": _LETTERS,
    }
)
"""The categories of Unicode, and the scripts that ASCII has, by name."""
