"""Reads regular expressions in the syntax of RE2, as the library RE2/J of Apache Kafka does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kafkawire.broker.regexes.cases import all_cases, in_any_case
from kafkawire.broker.regexes.character_classes import PERL, POSIX, UNICODE
from kafkawire.broker.regexes.nodes import Characters, Choice, Holds, Node, Position, Repeat, Sequence

_MOST_REPEATS: Final = 1000
_DEEPEST: Final = 50
_COUNT: Final = re.compile(r"\{(\d{1,9})(?:(,)(\d{1,9})?)?\}", re.ASCII)
_GROUP: Final = re.compile(
    r"\(\?(?:P?<(?P<name>[A-Za-z0-9_]+)>|(?P<flags>[imsU]*(?:-[imsU]+)?)(?P<end>[:)]))", re.ASCII
)
_UNICODE: Final = re.compile(r"\{(\^?)([A-Za-z_]+)\}|([A-Z])")
_POSIX: Final = re.compile(r"\[:(\^?)([a-z]+):\]")
_PLAIN_ESCAPES: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_POSITIONS: Final = {
    "A": Position.START,
    "z": Position.END,
    "b": Position.WORD_BOUNDARY,
    "B": Position.NO_WORD_BOUNDARY,
}


class _Parser:
    """Reads one expression.

    Args:
        text: the expression.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._flags: frozenset[str] = frozenset()
        self._names: set[str] = set()

    def parsed(self) -> Node:
        """The expression.

        Raises:
            ValueError: it is not valid, or not supported; the message says why.
        """
        node = self._choice(0)
        if self._at < len(self._text):
            raise self._error("unexpected )")
        return node

    def _choice(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self._error(f"groups inside of each other: {_DEEPEST} at most")
        flags = self._flags
        parts = [self._sequence(depth)]
        while self._takes("|"):
            parts.append(self._sequence(depth))
        self._flags = flags
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            if self._text.startswith(r"\Q", self._at):
                parts += self._quoted()
            elif self._text[self._at] in "*+?" or _COUNT.match(self._text, self._at):
                self._repeat(parts)
            else:
                part = self._atom(depth)
                parts += [] if part is None else [part]
        return Sequence(tuple(parts))

    def _quoted(self) -> Iterator[Node]:
        text, _, _ = self._text[self._at + 2 :].partition(r"\E")
        self._at = min(self._at + len(text) + 4, len(self._text))
        return iter([self._literal(each) for each in text])

    def _repeat(self, parts: list[Node]) -> None:
        before = self._at
        if not parts:
            raise self._error("missing argument to repetition operator")
        least, most = self._bounds()
        self._takes("?")
        if self._at < len(self._text) and (self._text[self._at] in "*+?" or _COUNT.match(self._text, self._at)):
            raise self._error("invalid nested repetition operator", before)
        if max(least, most or 0) > _MOST_REPEATS or (most is not None and least > most):
            raise self._error("invalid repeat count", before)
        parts[-1] = Repeat(parts[-1], least, most)

    def _bounds(self) -> tuple[int, int | None]:
        simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        bounds = simple.get(self._text[self._at])
        if bounds is not None:
            self._at += 1
            return bounds
        count = _COUNT.match(self._text, self._at)
        if count is None:
            raise self._error("invalid repeat count")
        self._at = count.end()
        least, has_comma, most = int(count[1]), count[2], count[3]
        if not has_comma:
            return least, least
        return least, None if most is None else int(most)

    def _atom(self, depth: int) -> Node | None:
        match self._text[self._at]:
            case "(":
                return self._group(depth)
            case "[":
                return self._class()
            case "\\":
                return self._escape()
            case ".":
                self._at += 1
                return Characters((), is_negated=True) if "s" in self._flags else Characters(("\n".__eq__,), True)
            case "^":
                self._at += 1
                return Position.LINE_START if "m" in self._flags else Position.START
            case "$":
                self._at += 1
                return Position.LINE_END if "m" in self._flags else Position.END
            case character:
                self._at += 1
                return self._literal(character)

    def _group(self, depth: int) -> Node | None:
        begun, flags = self._at, self._flags
        if not self._text.startswith("(?", self._at):
            self._at += 1
        else:
            head = _GROUP.match(self._text, self._at)
            if head is None:
                raise self._error("invalid or unsupported Perl syntax; there is no lookaround in RE2")
            if head["name"] in self._names:
                raise self._error("duplicate capture group name")
            self._names |= {head["name"]} - {None}
            self._at = head.end()
            self._set_flags(head["flags"] or "")
            if head["end"] == ")":
                return None
        node = self._choice(depth + 1)
        if not self._takes(")"):
            raise self._error("missing closing )", begun)
        self._flags = flags
        return node

    def _set_flags(self, flags: str) -> None:
        switched_on, _, switched_off = flags.partition("-")
        self._flags = (self._flags | {*switched_on}) - {*switched_off}

    def _escape(self) -> Node:
        named = self._named_class()
        if named is not None:
            return Characters((named,))
        position = _POSITIONS.get(self._text[self._at + 1 : self._at + 2])
        if position is not None:
            self._at += 2
            return position
        return self._literal(self._escaped())

    def _named_class(self) -> Holds | None:
        """A class after a backslash, such as a digit; None if there is none."""
        letter = self._text[self._at + 1 : self._at + 2]
        if letter.lower() in PERL:
            self._at += 2
            return self._part(PERL[letter.lower()], is_negated=letter.isupper())
        if letter not in {"p", "P"}:
            return None
        named = _UNICODE.match(self._text, self._at + 2)
        name = "" if named is None else named[2] or named[3]
        if named is None or name not in UNICODE:
            raise self._error(f"invalid or unsupported character class {name}")
        self._at = named.end()
        return self._part(UNICODE[name], is_negated=(letter == "P") != bool(named[1]))

    def _escaped(self) -> str:
        """The character of an escape such as a point after a backslash."""
        begun, letter = self._at, self._text[self._at + 1 : self._at + 2]
        self._at += 2
        if letter in _PLAIN_ESCAPES:
            return _PLAIN_ESCAPES[letter]
        if letter == "x":
            return self._code(r"\{([0-9A-Fa-f]{1,8})\}|([0-9A-Fa-f]{2})", 16, begun)
        if letter == "0" or (letter in "1234567" and letter and self._text[self._at : self._at + 1] in set("01234567")):
            self._at = begun + 1
            return self._code(r"([0-7]{1,3})", 8, begun)
        if letter and not (letter.isascii() and letter.isalnum()):
            return letter
        if letter and letter in "123456789":
            raise self._error("there are no references to groups in RE2", begun)
        raise self._error("invalid escape sequence" if letter else "trailing backslash at end of expression", begun)

    def _code(self, pattern: str, base: int, begun: int) -> str:
        found = re.compile(pattern, re.ASCII).match(self._text, self._at)
        code = -1 if found is None else int(next(each for each in found.groups() if each is not None), base)
        if found is None or code > 0x10FFFF:
            raise self._error("invalid escape sequence", begun)
        self._at = found.end()
        return chr(code)

    def _class(self) -> Characters:
        begun = self._at
        self._at += 1
        is_negated = self._takes("^")
        parts: list[Holds] = []
        while not parts or not self._takes("]"):
            if self._at >= len(self._text):
                raise self._error("missing closing ]", begun)
            parts.append(self._class_part())
        return Characters(tuple(parts), is_negated)

    def _class_part(self) -> Holds:
        posix = _POSIX.match(self._text, self._at)
        if posix is not None:
            if posix[2] not in POSIX:
                raise self._error("invalid character class range")
            self._at = posix.end()
            return self._part(POSIX[posix[2]], is_negated=bool(posix[1]))
        if self._text.startswith("\\", self._at):
            named = self._named_class()
            if named is not None:
                return named
        begun = self._at
        low = high = self._class_character()
        is_range = self._text.startswith("-", self._at) and self._text[self._at + 1 : self._at + 2] not in {"", "]"}
        if is_range:
            self._at += 1
            high = self._class_character()
        if high < low:
            raise self._error("invalid character class range", begun)
        return self._part(lambda character: low <= character <= high)

    def _class_character(self) -> str:
        if self._at >= len(self._text):
            raise self._error("missing closing ]")
        if self._text[self._at] == "\\":
            return self._escaped()
        self._at += 1
        return self._text[self._at - 1]

    def _literal(self, character: str) -> Characters:
        same = all_cases(character) if "i" in self._flags else frozenset((character,))
        return Characters((same.__contains__,))

    def _part(self, holds: Holds, *, is_negated: bool = False) -> Holds:
        """Some characters, or all others; in both cases, if case is ignored."""
        found = in_any_case(holds) if "i" in self._flags else holds
        return (lambda character: not found(character)) if is_negated else found

    def _takes(self, character: str) -> bool:
        is_there = self._text.startswith(character, self._at)
        self._at += is_there
        return is_there

    def _error(self, reason: str, at: int | None = None) -> ValueError:
        where = self._at if at is None else at
        return ValueError(f"{quoted(self._text)} is not a valid regular expression: {reason}, at character {where}.")


def parsed(text: str) -> Node:
    """A regular expression.

    Args:
        text: the expression in the syntax of RE2.

    Raises:
        ValueError: it is not valid, or not supported; the message says why.
    """
    return _Parser(text).parsed()


def quoted(text: str) -> str:
    """The begin of an expression, as messages have it."""
    return f"`{text[:200]}`"
