"""A parsed regular expression."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple, TypeAlias


class Position(Enum):
    """What is asserted of a position; a name has one line."""

    START = auto()
    END = auto()
    WORD_BOUNDARY = auto()
    NO_WORD_BOUNDARY = auto()


class Characters(NamedTuple):
    """One of these characters; those beyond ASCII are not in names, and so in no set."""

    allowed: frozenset[str]


class Sequence(NamedTuple):
    """One after the other."""

    parts: tuple[Node, ...]


class Choice(NamedTuple):
    """One of these."""

    parts: tuple[Node, ...]


class Repeat(NamedTuple):
    """A part several times; without an upper bound if ``most`` is None."""

    part: Node
    least: int
    most: int | None


Node: TypeAlias = Position | Characters | Sequence | Choice | Repeat

ASCII = frozenset(map(chr, range(128)))
EMPTY = Sequence(())
