"""Matches names with a regular expression by following all its states at once, so that no name takes long."""

from __future__ import annotations

from typing import Final, NamedTuple

from kafkawire.broker.regexes.character_classes import WORD
from kafkawire.broker.regexes.nodes import Characters, Choice, Node, Position, Repeat, Sequence
from kafkawire.broker.regexes.parsing import parsed, quoted

_LONGEST: Final = 4096
_MOST_STATES: Final = 2000
_MOST_PARTS: Final = 20_000
_MOST_VISITS: Final = 500_000  # about a second
_MOST_REMEMBERED: Final = 10_000


class _State(NamedTuple):
    """What is possible in a state.

    Attributes:
        needs: the characters of which one is read to go on, or the position to be at; None for nothing.
        following: the next states.
    """

    needs: Characters | Position | None
    following: tuple[int, ...]


class Regex:
    """A regular expression in the syntax of RE2, in which Apache Kafka takes those of clients.

    All matches together take about a second at most: a client cannot write an expression that takes forever. What
    came before takes almost no time.

    Args:
        text: the expression.

    Raises:
        ValueError: it is not valid, not supported, or too large. The message begins with the expression in
            backquotes and says why, and so goes on after the name of a field.
    """

    def __init__(self, text: str) -> None:
        self._quoted = quoted(text)
        if len(text) > _LONGEST:
            raise ValueError(f"{self._quoted} has {len(text)} characters; this broker takes {_LONGEST} at most.")
        self._parts = 0
        self._visits = 0
        self._states: list[_State] = [_State(None, ())]
        self._first = self._added(parsed(text), 0)
        self._has_positions = any(isinstance(state.needs, Position) for state in self._states)
        self._steps: dict[tuple[frozenset[int], str, str], frozenset[int]] = {}

    def matches(self, name: str) -> bool:
        """Whether it matches all of a name.

        Raises:
            ValueError: the matches take too long.
        """
        current = frozenset((self._first,))
        before = ""
        for character in name:
            current = self._step(current, before, character)
            if not current:
                return False
            before = character if self._has_positions else ""
        return bool(self._step(current, before, ""))

    def _step(self, current: frozenset[int], before: str, after: str) -> frozenset[int]:
        """The states after a character; an empty one is the end of the name, where only the last state is left."""
        key = (current, before, after)
        following = self._steps.get(key)
        if following is None:
            reachable = self._reachable(current, before, after)
            following = self._read(reachable, after) if after else frozenset(reachable & {0})
            if len(self._steps) >= _MOST_REMEMBERED:
                self._steps.clear()
            self._steps[key] = following
        return following

    def _reachable(self, current: frozenset[int], before: str, after: str) -> set[int]:
        """The states that are reached between two characters; an empty one is an end of the name."""
        seen, open_states = set(current), [*current]
        while open_states:
            needs, following = self._states[open_states.pop()]
            if needs is None or (isinstance(needs, Position) and _holds(needs, before, after)):
                new = [each for each in following if each not in seen]
                seen.update(new)
                open_states += new
        self._spend(len(seen))
        return seen

    def _read(self, reachable: set[int], character: str) -> frozenset[int]:
        reading = [
            (needs, following)
            for needs, following in map(self._states.__getitem__, reachable)
            if isinstance(needs, Characters)
        ]
        self._spend(sum(len(needs.parts) for needs, _ in reading))
        return frozenset(each for needs, following in reading if needs.has(character) for each in following)

    def _spend(self, visits: int) -> None:
        self._visits += visits
        if self._visits > _MOST_VISITS:
            raise ValueError(f"{self._quoted} takes too long.")

    def _added(self, node: Node, following: int) -> int:
        """Add the states of a part; returns the first."""
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise ValueError(f"{self._quoted} is too large: this broker takes {_MOST_PARTS} parts at most.")
        match node:
            case Characters() | Position():
                return self._state(_State(node, (following,)))
            case Sequence(parts):
                for part in reversed(parts):
                    following = self._added(part, following)
                return following
            case Choice(parts):
                firsts = dict.fromkeys(self._added(part, following) for part in parts)
                return self._state(_State(None, tuple(firsts)))
            case Repeat():
                return self._repeated(node, following)

    def _repeated(self, node: Repeat, following: int) -> int:
        if node.most is None:
            again = self._state(_State(None, ()))
            inner = self._added(node.part, again)
            self._states[again] = _State(None, (inner, following))
            following = again
        else:
            last = following
            for _ in range(node.most - node.least):
                following = self._state(_State(None, (self._added(node.part, following), last)))
        for _ in range(node.least):
            following = self._added(node.part, following)
        return following

    def _state(self, state: _State) -> int:
        if len(self._states) >= _MOST_STATES:
            raise ValueError(f"{self._quoted} is too large: this broker takes {_MOST_STATES} states at most.")
        self._states.append(state)
        return len(self._states) - 1


def _holds(position: Position, before: str, after: str) -> bool:
    match position:
        case Position.START:
            return not before
        case Position.END:
            return not after
        case Position.LINE_START:
            return before in {"", "\n"}
        case Position.LINE_END:
            return after in {"", "\n"}
    is_boundary = (before in WORD) != (after in WORD)
    return is_boundary == (position is Position.WORD_BOUNDARY)
