"""Names in text that newer brokers may extend."""

from __future__ import annotations

import copy
import pickle

import pytest

from kafkawire.model.groups.descriptions import GroupState, GroupType


def test_names_are_found_in_any_case() -> None:
    assert GroupState("Stable") is GroupState("STABLE") is GroupState("stable") is GroupState.STABLE
    assert GroupType("Consumer") is GroupType.CONSUMER
    assert not GroupType.CONSUMER.is_unknown


def test_a_word_that_is_not_known_is_kept_and_filters_may_send_it() -> None:
    state = GroupState("Hibernating")
    assert state.is_unknown
    assert state == "Hibernating" == str(state)
    assert state == GroupState("Hibernating") != GroupState("Sleeping")
    assert hash(state) == hash(GroupState("Hibernating"))
    assert isinstance(state, GroupState)
    assert copy.deepcopy(state) == state
    assert pickle.loads(pickle.dumps(state)) == state  # noqa: S301 our own bytes


def test_unknown_words_do_not_fill_the_memory() -> None:
    known = set(GroupState)
    assert GroupState("Hibernating") is not GroupState("Hibernating")
    assert set(GroupState) == known


def test_invalid_names_are_refused() -> None:
    with pytest.raises(ValueError, match="3 is not a valid GroupState"):
        GroupState(3)  # type: ignore[arg-type]  # what a caller without types may do
