"""A regular expression, matched without going back, as RE2 does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from kafkawire.broker.regexes.syntax import Chain, Choice, Holds, Node, One, Place, Repeat, is_word, parsed

_MOST_STEPS: Final = 1_000
_MOST_VISITS: Final = 500_000  # about a second
_MOST_REMEMBERED: Final = 10_000

_States: TypeAlias = frozenset[int]


class _Step(NamedTuple):
    """A step of the automaton: a character to read, a place to be at, or nothing; and the steps that follow."""

    needs: Holds | Place | None
    following: tuple[int, ...]


class Regex:
    """A regular expression in the syntax of RE2, which Kafka uses for names that clients choose.

    The time for a match is at most the length of the text times that of the expression, and all matches together have
    about a second: a client cannot write one that takes forever. What was seen before takes almost no time.

    Args:
        text: the expression.

    Raises:
        ValueError: it is not valid, or too large.
    """

    def __init__(self, text: str) -> None:
        self._steps: list[_Step] = []
        self._visits = 0
        self._end = self._added(None)
        self._begin = self._compiled(parsed(text), self._end)
        self._known: dict[tuple[_States, str | None, str | None], _States] = {}
        self._has_edges = any(isinstance(step.needs, Place) for step in self._steps)

    def matches(self, text: str) -> bool:
        """Whether it matches all of a text.

        Raises:
            ValueError: the matches take too long.
        """
        states: _States = frozenset({self._begin})
        before: str | None = None
        for char in text:
            states = self._after(states, before, char)
            if not states:
                return False
            before = char if self._has_edges else ""
        return self._end in self._reached(states, before, None)

    def _after(self, states: _States, before: str | None, char: str) -> _States:
        """The states after a character, remembered, since most characters come again."""
        key = (states, before, char)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            found = self._known[key] = frozenset(self._read(states, before, char))
        return found

    def _read(self, states: _States, before: str | None, char: str) -> Iterable[int]:
        for number in self._reached(states, before, char):
            needs, following = self._steps[number]
            if callable(needs) and needs(char):
                yield from following

    def _reached(self, states: _States, before: str | None, after: str | None) -> set[int]:
        """The states that are reached without reading a character."""
        reached, left = set(states), [*states]
        while left:
            needs, following = self._steps[left.pop()]
            if needs is None or (isinstance(needs, Place) and _is_at(needs, before, after)):
                new = [number for number in following if number not in reached]
                reached.update(new)
                left += new
        self._visits += len(reached)
        if self._visits > _MOST_VISITS:
            raise ValueError("a regular expression that takes too long")
        return reached

    def _compiled(self, node: Node, end: int) -> int:
        """Add the steps of a node that go on at a step; returns where they begin."""
        match node:
            case One(holds):
                return self._added(holds, end)
            case Place():
                return self._added(node, end)
            case Chain(nodes):
                for each in reversed(nodes):
                    end = self._compiled(each, end)
                return end
            case Choice(nodes):
                return self._added(None, *(self._compiled(each, end) for each in nodes))
            case Repeat(inner, least, most):
                return self._repeated(inner, least, most, end)

    def _repeated(self, node: Node, least: int, most: int | None, end: int) -> int:
        begin = end
        if most is None:
            begin = self._added(None)
            self._steps[begin] = _Step(None, (self._compiled(node, begin), end))
        else:
            for _ in range(most - least):
                begin = self._added(None, self._compiled(node, begin), end)
        for _ in range(least):
            begin = self._compiled(node, begin)
        return begin

    def _added(self, needs: Holds | Place | None, *following: int) -> int:
        if len(self._steps) >= _MOST_STEPS:
            raise ValueError(f"a regular expression of more than {_MOST_STEPS} steps")
        self._steps.append(_Step(needs, following))
        return len(self._steps) - 1


def _is_at(place: Place, before: str | None, after: str | None) -> bool:
    match place:
        case Place.BEGIN:
            return before is None
        case Place.END:
            return after is None
        case Place.LINE_BEGIN:
            return before in {None, "\n"}
        case Place.LINE_END:
            return after in {None, "\n"}
    is_edge = (before is not None and is_word(before)) is not (after is not None and is_word(after))
    return is_edge is (place is Place.WORD_EDGE)
