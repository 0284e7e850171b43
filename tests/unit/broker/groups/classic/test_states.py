"""The table of a classic group has an answer for every event in every state."""

from __future__ import annotations

import pytest

from kafkawire.broker.groups.classic.states import PRECEDING, TABLE, Event, State, Step
from kafkawire.protocol.error_codes import ErrorCode


@pytest.mark.parametrize("event", Event)
def test_every_event_has_a_row(event: Event) -> None:
    assert set(TABLE[event]) == set(State)


@pytest.mark.parametrize("event", Event)
def test_a_rebalance_begins_only_where_it_may(event: Event) -> None:
    begins = {state for state, step in TABLE[event].items() if step is Step.REBALANCE}
    assert begins <= PRECEDING[State.PREPARING_REBALANCE]


@pytest.mark.parametrize("event", Event)
def test_a_dead_group_does_nothing(event: Event) -> None:
    assert TABLE[event][State.DEAD] in {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.GROUP_ID_NOT_FOUND}


def test_every_state_can_be_left_and_reached() -> None:
    assert set().union(*(PRECEDING[state] for state in State if state is not State.DEAD)) == set(State) - {State.DEAD}
    assert all(PRECEDING[state] for state in State)
