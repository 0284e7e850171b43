"""A parsed regular expression."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple, TypeAlias

Holds: TypeAlias = Callable[[str], bool]
"""Whether a character is one of some."""


class Position(Enum):
    """What is asserted of a position."""

    START = auto()
    END = auto()
    LINE_START = auto()
    LINE_END = auto()
    WORD_BOUNDARY = auto()
    NO_WORD_BOUNDARY = auto()


class Characters(NamedTuple):
    """One character of those that a part has; or of all others, if ``is_negated``."""

    parts: tuple[Holds, ...]
    is_negated: bool = False

    def has(self, character: str) -> bool:
        """Whether a character is one of these."""
        return any(part(character) for part in self.parts) is not self.is_negated


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
