"""Matches names with a regular expression by following all its states at once, so that no name takes long."""

from __future__ import annotations

from typing import Final, NamedTuple

from kafkawire.broker.groups.consumer.regexes.character_classes import WORD
from kafkawire.broker.groups.consumer.regexes.nodes import Characters, Choice, Node, Position, Repeat, Sequence
from kafkawire.broker.groups.consumer.regexes.parsing import parsed

_LONGEST: Final = 4096
_MOST_STATES: Final = 2000
_MOST_REMEMBERED: Final = 10_000


class _State(NamedTuple):
    """What is possible in a state.

    Attributes:
        allowed: the characters that lead to the next state; None if no character is read.
        position: what must hold to go on; None for nothing.
        following: the next states.
    """

    allowed: frozenset[str] | None
    position: Position | None
    following: tuple[int, ...]


class Regex:
    """A regular expression in the syntax of RE2.

    Args:
        text: the expression.

    Raises:
        ValueError: it is not valid, not supported, or too large; the message says why.
    """

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise ValueError(f"SubscribedTopicRegex has {len(text)} characters; this broker takes {_LONGEST} at most.")
        self._states: list[_State] = [_State(None, None, ())]
        self._first = self._added(parsed(text), 0)
        self._steps: dict[tuple[frozenset[int], str, str], frozenset[int]] = {}

    def matches(self, name: str) -> bool:
        """Whether it matches all of a name."""
        current = frozenset((self._first,))
        before = ""
        for character in name:
            current = self._step(current, before, character)
            if not current:
                return False
            before = character
        return 0 in self._reachable(current, before, "")

    def _step(self, current: frozenset[int], before: str, character: str) -> frozenset[int]:
        key = (current, before, character)
        following = self._steps.get(key)
        if following is None:
            reachable = [self._states[state] for state in self._reachable(current, before, character)]
            matching = (state for state in reachable if state.allowed is not None and character in state.allowed)
            following = frozenset(each for state in matching for each in state.following)
            if len(self._steps) >= _MOST_REMEMBERED:
                self._steps.clear()
            self._steps[key] = following
        return following

    def _reachable(self, current: frozenset[int], before: str, after: str) -> set[int]:
        """The states that are reached between two characters; an empty one is an end of the name."""
        seen, open_states = set(current), [*current]
        while open_states:
            state = self._states[open_states.pop()]
            if state.allowed is None and _holds(state.position, before, after):
                new = [each for each in state.following if each not in seen]
                seen.update(new)
                open_states += new
        return seen

    def _added(self, node: Node, following: int) -> int:
        """Add the states of a part; returns the first."""
        match node:
            case Characters(allowed):
                return self._state(_State(allowed, None, (following,)))
            case Position():
                return self._state(_State(None, node, (following,)))
            case Sequence(parts):
                for part in reversed(parts):
                    following = self._added(part, following)
                return following
            case Choice(parts):
                return self._state(_State(None, None, tuple(self._added(part, following) for part in parts)))
            case Repeat():
                return self._repeated(node, following)

    def _repeated(self, node: Repeat, following: int) -> int:
        if node.most is None:
            again = self._state(_State(None, None, ()))
            inner = self._added(node.part, again)
            self._states[again] = _State(None, None, (inner, following))
            following = again
        else:
            last = following
            for _ in range(node.most - node.least):
                following = self._state(_State(None, None, (self._added(node.part, following), last)))
        for _ in range(node.least):
            following = self._added(node.part, following)
        return following

    def _state(self, state: _State) -> int:
        if len(self._states) >= _MOST_STATES:
            raise ValueError(f"SubscribedTopicRegex is too large: this broker takes {_MOST_STATES} states at most.")
        self._states.append(state)
        return len(self._states) - 1


def _holds(position: Position | None, before: str, after: str) -> bool:
    match position:
        case None:
            return True
        case Position.START:
            return not before
        case Position.END:
            return not after
    is_boundary = (before in WORD) != (after in WORD)
    return is_boundary == (position is Position.WORD_BOUNDARY)
