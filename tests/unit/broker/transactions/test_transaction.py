"""The epochs and producer ids of a transactional id, step by step (KIP-360, KIP-890)."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.transactions.states import Event, Step
from kafkawire.broker.transactions.transaction import (
    Ending,
    Initialization,
    Transaction,
    completed,
    ending_event,
    fenced,
    initialized,
    is_fenced,
    new_transaction,
    prepared,
    producer_error,
    with_partitions,
)
from kafkawire.model.transactions import TransactionState
from kafkawire.protocol.error_codes import ErrorCode

LAST = (1 << 15) - 2
PLACES = [("t", 0), ("t", 1), ("u", 7)]


@pytest.fixture
def new_id() -> Callable[[], int]:
    return itertools.count(100).__next__


def begun(
    new_id: Callable[[], int], transaction: Transaction | None = None, expected: Producer | None = None
) -> Transaction:
    found = initialized(transaction or new_transaction(7, 1000), Initialization(1000, expected), new_id, 5)
    assert isinstance(found, Transaction)
    return found


def test_a_new_producer_has_the_next_epoch(new_id: Callable[[], int]) -> None:
    first = begun(new_id)
    assert (first.producer, first.last_epoch, first.state) == ((7, 0), -1, TransactionState.EMPTY)
    second = begun(new_id, first)
    assert (second.producer, second.last_epoch) == ((7, 1), -1)


def test_a_transactional_id_has_no_version_before_its_first_transaction(new_id: Callable[[], int]) -> None:
    first = begun(new_id).value()
    assert (first.client_transaction_version, first.transaction_partitions) == (0, None)
    assert (first.previous_producer_id, first.next_producer_id, first.transaction_start_timestamp_ms) == (7, -1, -1)


def test_a_producer_that_goes_on_may_ask_again(new_id: Callable[[], int]) -> None:
    """KIP-360: the answer may have been lost."""
    transaction = begun(new_id)
    bumped = begun(new_id, transaction, transaction.producer)
    assert (bumped.producer, bumped.last_epoch) == ((7, 1), 0)
    assert begun(new_id, bumped, transaction.producer).producer == (7, 1)
    other = begun(new_id, bumped)
    assert initialized(other, Initialization(1, Producer(7, 0)), new_id, 5) is ErrorCode.PRODUCER_FENCED


def test_another_producer_id_is_fenced(new_id: Callable[[], int]) -> None:
    transaction = begun(new_id)
    assert is_fenced(transaction, Producer(8, 0))
    assert not is_fenced(transaction, Producer(7, 99))
    assert not is_fenced(transaction, None)
    assert not is_fenced(new_transaction(7, 1), Producer(8, 3))


def test_exhausted_epochs_give_another_producer_id(new_id: Callable[[], int]) -> None:
    transaction = replace(begun(new_id), producer_epoch=LAST)
    assert begun(new_id, transaction).producer == (100, 0)
    rotated = begun(new_id, transaction, Producer(7, LAST))
    assert (rotated.producer, rotated.last_epoch, rotated.previous_producer_id) == ((101, 0), LAST, 7)
    assert not is_fenced(rotated, Producer(7, LAST))
    assert begun(new_id, rotated, Producer(7, LAST)).producer == (101, 0)


def test_exhausted_epochs_fence_an_older_one_unless_it_asks_again(new_id: Callable[[], int]) -> None:
    transaction = replace(begun(new_id), producer_epoch=LAST, last_epoch=LAST - 1)
    assert begun(new_id, transaction, Producer(7, LAST - 1)).producer == (7, LAST)
    fenced_one = initialized(transaction, Initialization(1000, Producer(7, LAST - 2)), new_id, 5)
    assert fenced_one is ErrorCode.PRODUCER_FENCED


@pytest.mark.parametrize("committed", [True, False])
def test_a_transaction_of_version_two_ends_with_the_next_epoch(new_id: Callable[[], int], committed: bool) -> None:
    opened = with_partitions(begun(new_id), PLACES, 2, 50)
    assert (opened.started_ms, opened.state) == (50, TransactionState.ONGOING)
    decided = prepared(opened, committed, 2, new_id, 60)
    assert (decided.producer, decided.last_epoch, decided.partitions) == ((7, 1), 0, opened.partitions)
    ended = completed(decided, 70)
    assert (ended.producer, ended.partitions, ended.started_ms) == ((7, 1), frozenset(), 50)
    again = ending_event(ended, Ending(Producer(7, 0), committed, 2))
    assert isinstance(again, Event)
    assert ended.step(again) is ErrorCode.NONE
    for other in (Producer(8, 0), Producer(6, 0), Producer(8, 1), Producer(7, 2)):
        assert isinstance(ending_event(ended, Ending(other, committed, 2)), ErrorCode)


def test_a_transaction_that_exhausts_the_epochs_ends_with_another_producer_id(new_id: Callable[[], int]) -> None:
    opened = replace(with_partitions(begun(new_id), PLACES, 2, 50), producer_epoch=LAST)
    decided = prepared(opened, committed=True, client_version=2, new_id=new_id, now_ms=60)
    assert (decided.producer, decided.next_producer_id) == ((7, LAST + 1), 100)
    ended = completed(decided, 70)
    assert (ended.producer, ended.previous_producer_id, ended.next_producer_id) == ((100, 0), 7, -1)
    again = ending_event(ended, Ending(Producer(7, LAST), True, 2))
    assert again is Event.COMMIT_V2_AGAIN


@pytest.mark.parametrize("version", [0, 1])
def test_clients_before_version_two_keep_their_epoch(new_id: Callable[[], int], version: int) -> None:
    decided = prepared(with_partitions(begun(new_id), PLACES, version, 50), True, version, new_id, 60)
    assert completed(decided, 70).producer == (7, 0)
    assert ending_event(decided, Ending(Producer(7, 0), True, version)) is Event.COMMIT
    assert ending_event(decided, Ending(Producer(7, 0), False, version)) is Event.ABORT
    assert ending_event(decided, Ending(Producer(7, 1), True, version)) is ErrorCode.PRODUCER_FENCED
    assert ending_event(decided, Ending(Producer(8, 0), True, version)) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    bumped = replace(decided, producer_epoch=1)
    assert ending_event(bumped, Ending(Producer(7, 0), True, version)) is ErrorCode.PRODUCER_FENCED
    last = prepared(replace(decided, producer_epoch=LAST), True, version, new_id, 60)
    assert (last.producer, last.next_producer_id) == ((7, LAST), -1)


def test_each_step_has_all_fields_of_its_record(new_id: Callable[[], int]) -> None:
    """As in Kafka's ``TransactionMetadata``: the times, the ids before and after, and the version of the client."""
    assert new_transaction(7, 1000) == Transaction(
        7, -1, 1000, TransactionState.EMPTY, frozenset(), -1, -1, -1, started_ms=-1, updated_ms=0, client_version=0
    )
    empty = Transaction(7, 3, 1000, previous_producer_id=6, last_epoch=2, updated_ms=40, client_version=1)
    opened = with_partitions(empty, PLACES, 2, 50)
    assert opened == Transaction(
        7,
        3,
        1000,
        TransactionState.ONGOING,
        frozenset(PLACES),
        7,
        -1,
        2,
        started_ms=50,
        updated_ms=50,
        client_version=2,
    )  # fmt: skip
    assert with_partitions(opened, [("v", 0)], 2, 55) == replace(
        opened, partitions=frozenset((*PLACES, ("v", 0))), updated_ms=55
    )
    ending = replace(opened, state=TransactionState.PREPARE_ABORT, updated_ms=60)
    assert prepared(opened, False, 0, new_id, 60) == replace(ending, client_version=0)
    assert prepared(opened, False, 2, new_id, 60) == replace(ending, producer_epoch=4, last_epoch=3)
    assert prepared(empty, False, 2, new_id, 60) == replace(
        ending, producer_epoch=4, last_epoch=3, partitions=frozenset(), started_ms=60
    )
    for version in (0, 1):
        without_version = replace(ending, producer_epoch=4, last_epoch=-1, client_version=0)
        assert fenced(opened, version, new_id, 60) == without_version
    assert fenced(opened, 2, new_id, 60) == prepared(opened, False, 2, new_id, 60)
    assert fenced(opened, 3, new_id, 60) == prepared(opened, False, 3, new_id, 60)
    assert prepared(opened, False, 3, new_id, 60) == replace(
        ending, producer_epoch=4, last_epoch=3, client_version=3
    ), "as all later versions"
    for version, event in ((2, Event.ABORT_V2), (3, Event.ABORT_V2), (1, Event.ABORT), (0, Event.ABORT)):
        assert ending_event(opened, Ending(Producer(7, 3), False, version)) is event
    ended = replace(ending, state=TransactionState.COMPLETE_ABORT, partitions=frozenset(), updated_ms=70)
    assert completed(ending, 70) == ended
    for version in (2, 3):
        exhausted = replace(ending, next_producer_id=100, client_version=version)
        following = replace(ended, producer_id=100, producer_epoch=0, client_version=version)
        assert completed(exhausted, 70) == following
    assert completed(replace(ending, next_producer_id=100, client_version=1), 70) == replace(ended, client_version=1)
    for expected, last_epoch in ((None, -1), (Producer(7, 3), 3)):
        assert initialized(ended, Initialization(500, expected), new_id, 80) == replace(
            ended, producer_epoch=4, timeout_ms=500, state=TransactionState.EMPTY, last_epoch=last_epoch,
            started_ms=-1, updated_ms=80,
        )  # fmt: skip


@pytest.mark.parametrize("server_version", [0, 1, 2])
def test_a_fenced_transaction_is_aborted_with_the_next_epoch(new_id: Callable[[], int], server_version: int) -> None:
    aborted = fenced(with_partitions(begun(new_id), PLACES, 2, 50), server_version, new_id, 60)
    assert (aborted.state, aborted.producer) == (TransactionState.PREPARE_ABORT, (7, 1))
    assert completed(aborted, 70).state is TransactionState.COMPLETE_ABORT


def test_a_record_has_all_but_the_epoch_before(new_id: Callable[[], int]) -> None:
    opened = with_partitions(begun(new_id), PLACES, 2, 50)
    committed, aborted = prepared(opened, True, 2, new_id, 60), prepared(opened, False, 2, new_id, 60)
    for transaction in (begun(new_id), opened, committed, completed(aborted, 70)):
        assert Transaction.of(transaction.value()) == replace(transaction, last_epoch=-1)


def test_a_record_of_an_unknown_state_is_none(new_id: Callable[[], int]) -> None:
    for status in (-1, 6, 7, 100):
        assert Transaction.of(replace(begun(new_id).value(), transaction_status=status)) is None


def test_a_transaction_times_out_after_its_timeout(new_id: Callable[[], int]) -> None:
    opened = with_partitions(begun(new_id), PLACES, 2, 50)
    assert not opened.is_timed_out(1050)
    assert opened.is_timed_out(1051)
    assert not begun(new_id).is_timed_out(1 << 40)
    assert opened.step(Event.TIMED_OUT) is Step.FENCE


@pytest.mark.parametrize(
    ("producer", "error"),
    [
        ((7, 1), ErrorCode.NONE),
        ((7, 0), ErrorCode.PRODUCER_FENCED),
        ((7, 2), ErrorCode.PRODUCER_FENCED),
        ((6, 1), ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ((8, 1), ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    ],
)
def test_only_the_current_producer_has_the_transaction(
    new_id: Callable[[], int], producer: tuple[int, int], error: ErrorCode
) -> None:
    transaction = begun(new_id, begun(new_id))
    assert transaction.producer == (7, 1)
    assert producer_error(transaction, Producer(*producer)) is error


def test_ids_and_epochs_are_equal_however_large(new_id: Callable[[], int]) -> None:
    producer_id, epoch = 1 << 40, 1000
    transaction = replace(begun(new_id), producer_id=producer_id, producer_epoch=epoch, last_epoch=epoch - 1)

    def asks(epoch: int) -> Producer:
        """A producer as a request has it, with numbers of its own."""
        return Producer(int(str(producer_id)), int(str(epoch)))

    assert [producer_error(transaction, asks(each)) for each in (epoch - 1, epoch)] == [
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.NONE,
    ]
    assert begun(new_id, transaction, asks(epoch)).producer == (producer_id, epoch + 1)
    assert begun(new_id, transaction, asks(epoch - 1)).producer == (producer_id, epoch), "a retry"
    fenced_one = initialized(transaction, Initialization(1000, asks(epoch - 2)), new_id, 5)
    assert fenced_one is ErrorCode.PRODUCER_FENCED
    assert not is_fenced(transaction, asks(epoch))
    assert is_fenced(transaction, Producer(producer_id + 1, epoch))
    rotated = begun(new_id, replace(transaction, producer_epoch=LAST, last_epoch=LAST - 1), asks(LAST))
    assert (rotated.previous_producer_id, rotated.producer_epoch, rotated.last_epoch) == (producer_id, 0, LAST)
    assert not is_fenced(rotated, asks(LAST))
    assert begun(new_id, rotated, asks(LAST)).producer_epoch == 0, "a retry"
