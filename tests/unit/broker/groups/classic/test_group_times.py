"""When a classic group removes members and ids that no client uses, to the millisecond."""

from __future__ import annotations

import pytest
from tests.embedded.driven_group import Driven, stable

from kafkawire.broker.groups.classic.group import ClassicGroup
from kafkawire.broker.groups.classic.settings import GroupSettings
from kafkawire.broker.groups.classic.states import State
from kafkawire.protocol.error_codes import ErrorCode

SESSION_MS, REBALANCE_MS, DELAY_MS = 10_001, 20_001, 1501


def move_to(driven: Driven, ms: int) -> None:
    """Let time pass, to milliseconds since the beginning."""
    driven.seconds = ms / 1000
    driven.wait(0.0)


@pytest.mark.parametrize("begins", ["syncs", "beats", "joins", "is read"])
def test_a_session_ends_to_the_millisecond(begins: str) -> None:
    driven = stable(members=1, session_ms=SESSION_MS)
    at = round(driven.seconds * 1000)
    if begins != "syncs":
        at += 7
        move_to(driven, at)
    if begins == "beats":
        assert driven.beat("c-1") is ErrorCode.NONE
    elif begins == "joins":
        driven.joined(driven.join("c-1", session_ms=SESSION_MS))
        driven.sync("c-1", {"c-1": b"1"})
    elif begins == "is read":
        driven.group = ClassicGroup("g", driven.values[-1], GroupSettings(), driven.now, lambda: "")
    move_to(driven, at + SESSION_MS - 1)
    assert [*driven.group.roster.members] == ["c-1"]
    move_to(driven, at + SESSION_MS)
    assert driven.group.state is State.EMPTY


def test_the_first_member_waits_for_others_to_the_millisecond() -> None:
    driven = Driven(GroupSettings(initial_delay_ms=DELAY_MS))
    ticket = driven.join()
    move_to(driven, DELAY_MS - 1)
    assert ticket not in driven.answers
    move_to(driven, DELAY_MS)
    assert driven.joined(ticket).generation_id == 1


def test_the_time_to_sync_ends_to_the_millisecond() -> None:
    driven = Driven()
    for _ in range(2):
        driven.join(session_ms=60_000, rebalance_ms=REBALANCE_MS)
    driven.wait(3)
    driven.wait(3)
    at = round(driven.seconds * 1000)
    waits = driven.sync("c-2")
    move_to(driven, at + REBALANCE_MS - 1)
    assert waits not in driven.answers
    assert {*driven.group.roster.members} == {"c-1", "c-2"}
    move_to(driven, at + REBALANCE_MS)
    assert waits in driven.answers
    assert {*driven.group.roster.members} == {"c-2"}


@pytest.mark.parametrize("session_ms", [SESSION_MS, 6001])
def test_an_id_that_no_client_uses_is_forgotten_to_the_millisecond(session_ms: int) -> None:
    driven = Driven()
    ticket = driven.join(version=4, session_ms=session_ms)
    member_id = driven.joined(ticket).member_id
    move_to(driven, session_ms - 1)
    assert [*driven.group.roster.pending] == [member_id]
    move_to(driven, session_ms)
    assert not driven.group.roster.pending
