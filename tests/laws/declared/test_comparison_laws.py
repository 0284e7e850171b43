"""A state differs from itself in nothing, from another in both directions alike; a plan after an export is empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec
from hypothesis import given
from tests.laws.declared.state_strategies import states

from kafkawire.declared.comparison import Difference, compare_states
from kafkawire.declared.documents.reading import read_texts
from kafkawire.declared.documents.writing import write_documents
from kafkawire.declared.planned import Action
from kafkawire.declared.planning import plan_of
from kafkawire.declared.selection import StateSelection
from kafkawire.declared.state import ClusterState

V = TypeVar("V")

OPPOSITE = {
    Difference.ADDED: Difference.REMOVED,
    Difference.REMOVED: Difference.ADDED,
    Difference.CHANGED: Difference.CHANGED,
}


def without_removals(state: ClusterState) -> ClusterState:
    """A state that a cluster can have: only documents have values that must not be set."""
    topics = {
        name: msgspec.structs.replace(topic, configs=known(topic.configs)) for name, topic in state.topics.items()
    }
    return msgspec.structs.replace(
        state,
        topics=topics,
        configs={resource: known(configs) for resource, configs in state.configs.items()},
        quotas={entity: known(values) for entity, values in state.quotas.items()},
    )


def known(values: Mapping[str, V | None]) -> dict[str, V]:
    return {name: value for name, value in values.items() if value is not None}


@given(states)
def test_a_state_differs_from_itself_in_nothing(state: ClusterState) -> None:
    assert compare_states(state, state, with_assignments=True) == ()


@given(states, states)
def test_the_other_direction_has_the_opposite_differences(one: ClusterState, other: ClusterState) -> None:
    there = {(each.kind, each.item): each for each in compare_states(one, other)}
    back = {(each.kind, each.item): each for each in compare_states(other, one)}
    assert there.keys() == back.keys()
    for key, item in there.items():
        assert back[key].difference is OPPOSITE[item.difference]
        assert {(each.name, each.after, each.before) for each in back[key].values} == {
            (each.name, each.before, each.after) for each in item.values
        }


@given(states, states)
def test_what_only_one_state_has_is_added_or_removed(one: ClusterState, other: ClusterState) -> None:
    found = compare_states(one, other)
    for difference, here, there in ((Difference.ADDED, other, one), (Difference.REMOVED, one, other)):
        of_kind = {each.item for each in found if each.difference is difference}
        assert of_kind == {
            *(here.topics.keys() - there.topics.keys()),
            *(here.configs.keys() - there.configs.keys()),
            *(here.acls - there.acls),
            *(here.quotas.keys() - there.quotas.keys()),
            *(here.credentials.keys() - there.credentials.keys()),
        }


@given(states)
def test_documents_of_a_state_differ_from_it_in_nothing(state: ClusterState) -> None:
    exported = StateSelection().of(state)
    declared = read_texts({"exported": write_documents(exported)})
    assert not declared.errors
    assert compare_states(declared.state, exported) == ()


@given(states)
def test_a_plan_after_an_export_is_empty(state: ClusterState) -> None:
    cluster = without_removals(state)
    declared = read_texts({"exported": write_documents(StateSelection().of(cluster))}).state
    plan = plan_of(declared, cluster, may_delete=lambda _kind, _item: True)
    assert {item.action for item in plan.items} <= {Action.UNCHANGED}
