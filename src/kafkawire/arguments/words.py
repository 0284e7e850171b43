"""The words of an error about an argument: what came, and what to write instead.

A value is never shown, since it may be a secret; the exception is a text where a collection is due.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import msgspec

_LONGEST = 40
_MOST_MEMBERS = 16


def got(value: object) -> str:
    """What came: its type."""
    return "None" if value is None else type(value).__name__


def shortened(text: str) -> str:
    """A text in quotes, or its beginning."""
    return repr(text) if len(text) <= _LONGEST else f"{text[:_LONGEST]!r}..."


def one_of(names: Sequence[str]) -> str:
    """Alternatives in a row."""
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def hint_for_class(expected: type, value: object) -> str:
    """What to write where an instance of a class is due; begins with ``"; "``, or is empty."""
    if value is None:
        return ""
    if issubclass(expected, Enum):
        return f"; write {_member(expected, value)}"
    if expected is bool:
        return "; write True or False"
    if expected is str:
        return "; write it as text" if isinstance(value, (int, float)) else ""
    if expected in (int, float):
        return "; write it as a number" if isinstance(value, str) else ""
    if type(value).__name__ == expected.__name__:
        return f"; this one is of the module {type(value).__module__}"
    if issubclass(expected, msgspec.Struct):
        return f"; write {expected.__name__}({', '.join(_required(expected)) or '...'})"
    return ""


def _member(enumeration: type[Enum], value: object) -> str:
    names = [name for name in enumeration.__members__ if name != "UNKNOWN"]
    meant = [name for name in names if isinstance(value, str) and _letters(name) == _letters(value)]
    shown = [f"{enumeration.__name__}.{name}" for name in (meant or names)[:_MOST_MEMBERS]]
    return shown[0] if meant else f"one of {', '.join(shown)}"


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


def _required(struct: type[msgspec.Struct]) -> list[str]:
    return [field.name for field in msgspec.structs.fields(struct) if field.required]
