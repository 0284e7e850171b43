"""The record of a read option, from which commands, Spark's options and their documentation are made.

An option is a field of a dataclass that ``option`` declares. ``options_of`` returns the records of a class, ``parsed``
makes an instance from texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeVar, cast

from kafkawire.model.times import time_of

HISTORY_TABLES: Final = "histories"
"""In ``Option.only_for``: the tables with a row for each interval."""

_T = TypeVar("_T")
_RECORD: Final = "kafkawire.option"
_SIZE: Final = re.compile(r"(\d{1,19})\s*(?:([kmgt])i?)?b?", flags=re.ASCII | re.IGNORECASE)
_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
"""Units of sizes are powers of 1024, however they are written: ``m``, ``MB``, ``MiB``."""

_DURATION: Final = re.compile(r"(\d{1,9})\s*([smhd]?)", flags=re.ASCII | re.IGNORECASE)
_SECONDS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


class OptionError(ValueError):
    """An option that is missing, unknown or malformed, or does not fit the table.

    Attributes:
        reason: what is wrong, and what to do.
        option: spelling of the option, or None if the error is about several.
    """

    def __init__(self, reason: str, option: str | None = None) -> None:
        self.reason = reason
        self.option = option
        super().__init__(reason, option)

    def __str__(self) -> str:
        return self.reason if self.option is None else f"option {self.option!r}: {self.reason}"


class MalformedError(ValueError):
    """A text that is not a value; the message is the end of a sentence."""


@dataclass(frozen=True)
class ValueKind:
    """The values of an option as text.

    Attributes:
        metavar: represents the value in help texts.
        parse: the value of a text. It raises ``MalformedError`` with the end of a sentence: ``not a name``.
        show: the text of a default.
        type: ``bool``, an enumeration or ``Path`` where command lines have a form or completion for such values.
    """

    metavar: str
    parse: Callable[[str], Any]
    show: Callable[[Any], str] = str
    type: type = str


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes:
        name: of the field.
        default: its value if the option is not given.
        kind: of its values.
        help: what it does, in one sentence.
        spelling: its name in snake case, in which commands and Spark spell it in their own way.
        only_for: the table, or ``HISTORY_TABLES``, that it is for; None if it fits all tables.
        in_commands: whether commands have it too, not only Spark and Python.
        panel: heading of a group of options in the help of a command.
    """

    name: str
    default: object
    kind: ValueKind
    help: str
    spelling: str
    only_for: str | None = None
    in_commands: bool = True
    panel: str | None = None

    @property
    def flag(self) -> str:
        """As on a command line: ``--as-of``."""
        return f"--{self.spelling.replace('_', '-')}"

    @property
    def spark_name(self) -> str:
        """As an option of Spark: ``asOf``."""
        return re.sub(r"_(\w)", lambda found: found[1].upper(), self.spelling)

    @property
    def shown_default(self) -> str:
        """The default as text; empty if there is none."""
        return "" if self.default is None else self.kind.show(self.default)


def option(
    default: _T,
    kind: ValueKind,
    help: str,  # noqa: A002 as in typer and argparse
    *,
    spelling: str | None = None,
    only_for: str | None = None,
    in_commands: bool = True,
    panel: str | None = None,
) -> _T:
    """A field of a dataclass that is an option; see ``Option``."""

    def record(name: str) -> Option:
        return Option(name, default, kind, help, spelling or name, only_for, in_commands, panel)

    return field(default=default, metadata={_RECORD: record})


def options_of(kind: type[Any]) -> tuple[Option, ...]:
    """The options among the fields of a dataclass, in their order."""
    return tuple(each.metadata[_RECORD](each.name) for each in fields(kind) if _RECORD in each.metadata)


def parsed(kind: type[_T], texts: Mapping[str, str], **others: object) -> _T:
    """An instance of a dataclass from the texts of options.

    Args:
        kind: the dataclass.
        texts: by the spelling of the option. What has none keeps its default.
        others: values of fields that are not options.

    Raises:
        OptionError: a text is malformed.
    """
    given = {
        each.name: value_of(text, each.kind, each.spelling)
        for each in options_of(kind)
        if (text := texts.get(each.spelling)) is not None
    }
    return cast("Callable[..., _T]", kind)(**given, **others)


def value_of(text: str, kind: ValueKind, option: str) -> Any:  # noqa: ANN401 the kind decides
    """The value of a text.

    Raises:
        OptionError: the text is malformed; ``option`` is the spelling of the option in it.
    """
    try:
        return kind.parse(text)
    except MalformedError as error:
        raise OptionError(f"{text!r} is {error}", option) from None


def _name(text: str) -> str:
    if not text:
        raise MalformedError("not a name")
    return text


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise MalformedError("not a list of names separated by commas")
    return names


def _flag(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise MalformedError("neither true nor false")
    return text.lower() == "true"


def _offset(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text) >= 1 << 63:
        raise MalformedError("not an offset: give a whole number from 0 on")
    return int(text)


def _time(text: str) -> datetime:
    try:
        return time_of(text)
    except ValueError as error:
        raise MalformedError(str(error)) from None


def _size(text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    size = 0 if found is None else int(found[1]) * _UNITS[(found[2] or "").lower()]
    if not 0 < size < 1 << 63:
        raise MalformedError("not a size: give bytes, or a number with k, m, g or t, such as 65536, 64m, 64MiB or 1g")
    return size


def _shown_size(size: int) -> str:
    """In the largest unit that divides it."""
    unit = next(unit for unit in reversed(_UNITS) if size % _UNITS[unit] == 0)
    return f"{size // _UNITS[unit]}{unit}"


def _duration(text: str) -> int:
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise MalformedError("not a duration: give seconds, or a number with s, m, h or d, such as 30s, 10m or 7d")
    return int(found[1]) * _SECONDS[found[2].lower()]


def _shown_duration(seconds: int) -> str:
    return f"{seconds // 60}m" if seconds % 60 == 0 else f"{seconds}s"


def one_of(metavar: str, values: type[StrEnum]) -> ValueKind:
    """The values of an enumeration, in small or capital letters."""

    def parse(text: str) -> StrEnum:
        try:
            return values(text.upper())
        except ValueError:
            raise MalformedError(f"none of {', '.join(values)}") from None

    return ValueKind(metavar, parse, type=values)


DURATION: Final = ValueKind("DURATION", _duration, _shown_duration)
FLAG: Final = ValueKind("true|false", _flag, lambda flag: str(flag).lower(), bool)
NAME: Final = ValueKind("NAME", _name)
NAMES: Final = ValueKind("NAMES", _names, ",".join)
OFFSET: Final = ValueKind("N", _offset)
SIZE: Final = ValueKind("SIZE", _size, _shown_size)
TEXT: Final = ValueKind("TEXT", str)
TIME: Final = ValueKind("DATE", _time, datetime.isoformat)
