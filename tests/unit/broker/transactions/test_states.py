"""The table of transactions has an answer for every event in every state, as Kafka's comments and code have it."""

from __future__ import annotations

import pytest

from kafkawire.broker.controller import Controller
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.transactions.coordinator import transaction_version
from kafkawire.broker.transactions.state import records_of_transactions
from kafkawire.broker.transactions.states import PRECEDING, STATES, TABLE, Event, Step
from kafkawire.model.transactions import TransactionState
from kafkawire.protocol import FeatureLevelRecord, TransactionLogValue
from kafkawire.protocol.error_codes import ErrorCode

REACHED = {
    Step.NEXT_EPOCH: {TransactionState.EMPTY},
    Step.FENCE: {TransactionState.PREPARE_ABORT},
    Step.ADD: {TransactionState.ONGOING},
    Step.PREPARE_COMMIT: {TransactionState.PREPARE_COMMIT},
    Step.PREPARE_ABORT: {TransactionState.PREPARE_ABORT},
    Step.ABORT_NOTHING: {TransactionState.PREPARE_ABORT},
    Step.COMPLETE: {TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT},
}
"""The states to which each step may lead."""


@pytest.mark.parametrize("event", Event)
def test_every_event_has_a_row(event: Event) -> None:
    assert set(TABLE[event]) == set(STATES)


@pytest.mark.parametrize("event", Event)
def test_a_step_leads_only_to_a_state_that_may_follow(event: Event) -> None:
    for state, step in TABLE[event].items():
        if isinstance(step, Step) and step in REACHED:
            assert any(state in PRECEDING[reached] for reached in REACHED[step]), (event, state)


def test_all_states_can_be_reached() -> None:
    assert set().union(*REACHED.values()) == set(STATES)


@pytest.mark.parametrize(
    ("state", "numbers"),
    [
        # The table in Kafka's TransactionCoordinator: abort again, abort, commit again, commit.
        (TransactionState.EMPTY, (90, Step.ABORT_NOTHING, 90, 48)),
        (TransactionState.COMPLETE_ABORT, (0, Step.ABORT_NOTHING, 48, 48)),
        (TransactionState.COMPLETE_COMMIT, (48, Step.ABORT_NOTHING, 0, 48)),
    ],
)
def test_ends_of_version_two_are_those_of_kafka(state: TransactionState, numbers: tuple[object, ...]) -> None:
    events = (Event.ABORT_V2_AGAIN, Event.ABORT_V2, Event.COMMIT_V2_AGAIN, Event.COMMIT_V2)
    assert tuple(TABLE[event][state] for event in events) == numbers


def test_nothing_changes_a_transaction_whose_end_is_decided_but_its_markers() -> None:
    for event in set(Event) - {Event.MARKERS_WRITTEN}:
        for state in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT):
            assert TABLE[event][state] is Step.NOTHING or isinstance(TABLE[event][state], ErrorCode)


@pytest.mark.parametrize(("level", "version"), [(0, 0), (1, 1), (2, 1), (3, 1)])
def test_records_have_the_version_that_all_coordinators_read(level: int, version: int) -> None:
    """As in Apache Kafka, flexible records come with version 1 of transactions (``TransactionVersion``, KIP-890)."""
    records = records_of_transactions(lambda: level)
    assert records.value_version(TransactionLogValue()) == version
    assert records.value_version(None) is None


def test_a_cluster_without_a_version_of_transactions_has_the_first() -> None:
    """Coordinators before Apache Kafka 4.0 have none, and read no flexible records."""
    controller = Controller(MetadataLog(), MetadataImage())
    assert transaction_version(controller) == 0
    controller.commit([FeatureLevelRecord("transaction.version", 1)])
    assert transaction_version(controller) == 1
