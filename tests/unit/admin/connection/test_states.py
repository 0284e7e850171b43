"""The table of states is complete, and every transition follows it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from kafkawire.admin.connection.states import (
    HOLDING,
    SENDING,
    TRANSITIONS,
    ImpossibleTransitionError,
    State,
    Trigger,
    after,
)


def reachable(start: State) -> set[State]:
    found, fresh = {start}, [start]
    while fresh:
        following = set(TRANSITIONS[fresh.pop()].values()) - found
        found |= following
        fresh += following
    return found


def test_every_state_has_its_row_and_can_be_reached() -> None:
    assert set(TRANSITIONS) == set(State) == reachable(State.NEW)


def test_the_page_shows_the_table() -> None:
    page = Path(__file__).parents[4] / "docs" / "how-to" / "log-in.md"
    lines = page.read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| `") and line.split("`")[1] in State.__members__]
    assert rows == [
        f"| `{state.name}` | {trigger.name.lower().replace('_', ' ')} | `{following.name}` |"
        for state, row in TRANSITIONS.items()
        for trigger, following in row.items()
        if trigger is not Trigger.ENDED
    ]


def test_every_trigger_occurs() -> None:
    assert {trigger for row in TRANSITIONS.values() for trigger in row} == set(Trigger)


@pytest.mark.parametrize("state", set(State) - {State.CLOSED})
def test_every_state_can_end(state: State) -> None:
    assert after(state, Trigger.ENDED) is State.CLOSED


def test_nothing_follows_the_end() -> None:
    assert reachable(State.CLOSED) == {State.CLOSED}


def test_every_state_but_the_last_can_become_ready_again() -> None:
    assert all(State.READY in reachable(state) for state in set(State) - {State.CLOSED})


def test_requests_are_taken_from_ready_on_and_nowhere_before() -> None:
    assert reachable(State.READY) - {State.CLOSED} == SENDING | HOLDING


@pytest.mark.parametrize(
    ("state", "trigger"),
    [pair for pair in itertools.product(State, Trigger) if pair[1] not in TRANSITIONS[pair[0]]],
    ids=lambda value: value.name,
)
def test_transitions_that_the_table_lacks_are_refused(state: State, trigger: Trigger) -> None:
    with pytest.raises(ImpossibleTransitionError, match=f"{trigger.name} cannot happen .* {state.name}"):
        after(state, trigger)
