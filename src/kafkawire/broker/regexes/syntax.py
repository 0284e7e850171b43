"""The syntax of RE2: a text becomes nodes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import Final, NoReturn, TypeAlias

_DEEPEST: Final = 100
_LONGEST: Final = 10_000
_MOST_REPEATS: Final = 1_000
_LAST: Final = 0x10FFFF

Holds: TypeAlias = Callable[[str], bool]
"""Whether a character is in a class."""


class Place(Enum):
    """A place between two characters."""

    BEGIN = auto()
    END = auto()
    LINE_BEGIN = auto()
    LINE_END = auto()
    WORD_EDGE = auto()
    NO_WORD_EDGE = auto()


@dataclass(frozen=True, slots=True)
class One:
    """One character of a class."""

    holds: Holds


@dataclass(frozen=True, slots=True)
class Chain:
    """Nodes that follow each other."""

    nodes: Sequence[Node]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several nodes."""

    nodes: Sequence[Node]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A node several times; ``most`` is None for any number."""

    node: Node
    least: int
    most: int | None


Node: TypeAlias = One | Place | Chain | Choice | Repeat


def is_word(char: str) -> bool:
    """Whether a character is an ASCII letter, a digit or an underscore."""
    return char == "_" or (char.isascii() and char.isalnum())


_PERL: Final[Mapping[str, Holds]] = MappingProxyType(
    {"d": lambda char: "0" <= char <= "9", "s": lambda char: char in "\t\n\f\r ", "w": is_word}
)
_POSIX: Final[Mapping[str, Holds]] = MappingProxyType(
    {
        "alnum": lambda char: char.isascii() and char.isalnum(),
        "alpha": lambda char: char.isascii() and char.isalpha(),
        "ascii": str.isascii,
        "blank": lambda char: char in "\t ",
        "cntrl": lambda char: char < " " or char == "\x7f",
        "digit": _PERL["d"],
        "graph": lambda char: "!" <= char <= "~",
        "lower": lambda char: "a" <= char <= "z",
        "print": lambda char: " " <= char <= "~",
        "punct": lambda char: "!" <= char <= "~" and not char.isalnum(),
        "space": lambda char: char in "\t\n\v\f\r ",
        "upper": lambda char: "A" <= char <= "Z",
        "word": is_word,
        "xdigit": lambda char: char in "0123456789abcdefABCDEF",
    }
)
_CONTROLS: Final[Mapping[str, str]] = MappingProxyType(
    {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
)
_CATEGORIES: Final = frozenset("CLMNPSZ")
_PLACES: Final[Mapping[str, Place]] = MappingProxyType(
    {"A": Place.BEGIN, "z": Place.END, "b": Place.WORD_EDGE, "B": Place.NO_WORD_EDGE}
)
_FLAGS: Final = re.compile(r"\?([imsU]*)(?:-([imsU]+))?([:)])", re.ASCII)
_NAME: Final = re.compile(r"\?P?<([A-Za-z0-9_]+)>", re.ASCII)
_COUNTS: Final = re.compile(r"\{(\d{1,9})(,?)(\d{0,9})\}", re.ASCII)
_HEX: Final = re.compile(r"x(?:\{([0-9A-Fa-f]{1,8})\}|([0-9A-Fa-f]{2}))", re.ASCII)
_OCTAL: Final = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}", re.ASCII)
_POSIX_CLASS: Final = re.compile(r"\[:(\^?)([a-z]+):\]", re.ASCII)
_CATEGORY: Final = re.compile(r"[pP](?:\{(\^?)([A-Za-z]+)\}|([A-Za-z]))", re.ASCII)


def parsed(text: str) -> Node:
    """The nodes of a regular expression.

    Raises:
        ValueError: it is not valid, or uses something that RE2 does not have.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"the expression has {len(text)} characters, at most {_LONGEST} are allowed")
    return _Parser(text).parse()


class _Parser:
    """Reads an expression from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._flags: frozenset[str] = frozenset()
        self._names: set[str] = set()

    def parse(self) -> Node:
        node = self._choice(0)
        if self._at < len(self._text):
            self._fail("unexpected )")
        return node

    def _choice(self, depth: int) -> Node:
        if depth > _DEEPEST:
            self._fail("too many groups in each other")
        nodes = [self._chain(depth)]
        while self._takes("|"):
            nodes.append(self._chain(depth))
        return nodes[0] if len(nodes) == 1 else Choice(nodes)

    def _chain(self, depth: int) -> Node:
        nodes: list[Node] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            nodes += self._quoted() if self._takes("\\Q") else self._repeated(self._atom(depth))
        return Chain(nodes)

    def _quoted(self) -> list[Node]:
        end = self._text.find("\\E", self._at)
        chars = self._text[self._at : end if end >= 0 else len(self._text)]
        self._at = end + 2 if end >= 0 else len(self._text)
        return [One(self._literal(char)) for char in chars]

    def _repeated(self, node: Node | None) -> list[Node]:
        """A node with the quantifier after it; at most one, as in RE2."""
        if node is None:
            return []
        bounds = self._quantifier()
        if bounds is None:
            return [node]
        self._takes("?")
        if self._at < len(self._text) and self._quantifier() is not None:
            self._fail("two quantifiers after each other")
        return [Repeat(node, *bounds)]

    def _quantifier(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._takes(sign):
                return bounds
        counts = _COUNTS.match(self._text, self._at)
        if counts is None:
            return None
        self._at = counts.end()
        least = int(counts[1])
        most = least if not counts[2] else int(counts[3]) if counts[3] else None
        if least > _MOST_REPEATS or (most is not None and not least <= most <= _MOST_REPEATS):
            self._fail("a wrong number of repetitions")
        return least, most

    def _atom(self, depth: int) -> Node | None:
        char = self._text[self._at]
        self._at += 1
        match char:
            case "(":
                return self._group(depth)
            case "[":
                return One(self._folded(self._char_class()))
            case ".":
                return One((lambda _: True) if "s" in self._flags else lambda found: found != "\n")
            case "^":
                return Place.LINE_BEGIN if "m" in self._flags else Place.BEGIN
            case "$":
                return Place.LINE_END if "m" in self._flags else Place.END
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                self._fail("nothing to repeat")
        return One(self._literal(char))

    def _group(self, depth: int) -> Node | None:
        before = self._flags
        if (name := _NAME.match(self._text, self._at)) is not None:
            if name[1] in self._names:
                self._fail("a name twice")
            self._names.add(name[1])
            self._at = name.end()
        elif self._text.startswith("?", self._at):
            flags = _FLAGS.match(self._text, self._at)
            if flags is None or not (flags[1] or flags[2] or flags[3] == ":"):
                self._fail("an unknown group")
            self._at = flags.end()
            self._flags = (self._flags | {*flags[1]}) - {*(flags[2] or "")}
            if flags[3] == ")":
                return None
        node = self._choice(depth + 1)
        if not self._takes(")"):
            self._fail("a missing )")
        self._flags = before
        return node

    def _escape(self) -> Node:
        place = _PLACES.get(self._text[self._at : self._at + 1])
        if place is not None:
            self._at += 1
            return place
        holds = self._class_escape()
        return One(self._literal(self._char_escape()) if holds is None else self._folded(holds))

    def _class_escape(self) -> Holds | None:
        """A class after a backslash; None if there is a character."""
        char = self._text[self._at : self._at + 1]
        if char.lower() in _PERL and char:
            self._at += 1
            found = _PERL[char.lower()]
            return found if char.islower() else lambda one: not found(one)
        category = _CATEGORY.match(self._text, self._at)
        if category is None:
            return None
        self._at = category.end()
        name = category[2] or category[3]
        if name != "Any" and (name[0] not in _CATEGORIES or len(name) > 2):
            self._fail("an unknown category of characters")
        is_inverted = (category[0][0] == "P") is not bool(category[1])
        return lambda one: (name == "Any" or unicodedata.category(one).startswith(name)) is not is_inverted

    def _char_escape(self) -> str:
        char = self._text[self._at : self._at + 1]
        number = _HEX.match(self._text, self._at) or _OCTAL.match(self._text, self._at)
        if number is not None:
            self._at = number.end()
            code = int(number[1] or number[2], 16) if number.re is _HEX else int(number[0], 8)
            return chr(code) if code <= _LAST else self._fail("a character that does not exist")
        self._at += 1
        if char in _CONTROLS and char:
            return _CONTROLS[char]
        if not char or is_word(char) or not char.isascii():
            self._fail("an unknown escape")
        return char

    def _char_class(self) -> Holds:
        is_inverted = self._takes("^")
        parts: list[Holds] = []
        while not parts or not self._takes("]"):
            if self._at >= len(self._text):
                self._fail("a missing ]")
            parts.append(self._class_part())
        return lambda char: any(part(char) for part in parts) is not is_inverted

    def _class_part(self) -> Holds:
        posix = _POSIX_CLASS.match(self._text, self._at)
        if posix is not None and posix[2] in _POSIX:
            self._at = posix.end()
            found = _POSIX[posix[2]]
            return (lambda char: not found(char)) if posix[1] else found
        if self._takes("\\"):
            holds = self._class_escape()
            if holds is not None:
                return holds
            first = self._char_escape()
        else:
            first = self._text[self._at]
            self._at += 1
        last = self._range_end() or first
        if last < first:
            self._fail("a range that ends before it begins")
        return lambda char: first <= char <= last

    def _range_end(self) -> str | None:
        is_range = self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at)
        if not is_range or self._at + 1 >= len(self._text):
            return None
        self._at += 1
        if self._takes("\\"):
            return self._char_escape()
        self._at += 1
        return self._text[self._at - 1]

    def _literal(self, wanted: str) -> Holds:
        return self._folded(lambda char: char == wanted)

    def _folded(self, holds: Holds) -> Holds:
        if "i" not in self._flags:
            return holds
        return lambda char: holds(char) or holds(char.lower()) or holds(char.upper())

    def _takes(self, text: str) -> bool:
        is_next = self._text.startswith(text, self._at)
        self._at += len(text) * is_next
        return is_next

    def _fail(self, reason: str) -> NoReturn:
        raise ValueError(f"a regular expression with {reason} at character {self._at}")
