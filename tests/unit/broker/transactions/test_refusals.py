"""What the coordinator of transactions refuses, at the edges of its limits, and what time and failed writes do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping

import pytest
from tests.embedded.driven_transactions import TOPIC, DrivenProducer, DrivenTransactions

from kafkawire.broker.clock import some_turns
from kafkawire.broker.partitions.verifications import TransactionalWrite
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.transactions.live_transactions import Transactions
from kafkawire.broker.transactions.markers import EndMarker, MarkerWriter
from kafkawire.broker.transactions.settings import TransactionSettings
from kafkawire.broker.transactions.transaction import Ending, Initialization, Partition
from kafkawire.model.transactions import TransactionState
from kafkawire.protocol.error_codes import ErrorCode

PLACE = (TOPIC, 0)
OTHERS = [(TOPIC, 1), ("missing", 0)]
NO_PRODUCER = Producer(-1, -1)


@pytest.fixture
async def driven() -> AsyncIterator[DrivenTransactions]:
    made = DrivenTransactions()
    yield made
    await made.close()


def with_settings(monkeypatch: pytest.MonkeyPatch, settings: TransactionSettings) -> DrivenTransactions:
    monkeypatch.setattr(TransactionSettings, "of", lambda _: settings)
    return DrivenTransactions()


async def opened(driven: DrivenTransactions, transactional_id: str = "t", timeout_ms: int = 60_000) -> DrivenProducer:
    """A producer with an open transaction."""
    producer = DrivenProducer(driven, transactional_id)
    assert await producer.begin(timeout_ms) is ErrorCode.NONE
    assert await producer.write(0, b"1") is ErrorCode.NONE
    return producer


def states(driven: DrivenTransactions) -> Mapping[str, TransactionState]:
    return {transactional_id: each.state for transactional_id, each in driven.transactions.by_id.items()}


@pytest.mark.parametrize(
    ("timeout_ms", "is_accepted"),
    [(-1, False), (0, False), (1, True), (899_999, True), (900_000, True), (900_001, False)],
)
async def test_a_timeout_is_positive_and_not_above_the_longest(
    driven: DrivenTransactions, timeout_ms: int, *, is_accepted: bool
) -> None:
    """``transaction.max.timeout.ms`` is 15 minutes."""
    answer = await driven.transactions.initialize("t", Initialization(timeout_ms))
    assert answer.error is (ErrorCode.NONE if is_accepted else ErrorCode.INVALID_TRANSACTION_TIMEOUT)
    assert answer.producer == (Producer(0, 0) if is_accepted else NO_PRODUCER)
    assert bool(driven.transactions.by_id) is is_accepted


@pytest.mark.parametrize(
    ("transactional_id", "change", "error"),
    [
        ("", (0, 0), ErrorCode.INVALID_REQUEST),
        ("other", (0, 0), ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ("t", (1, 0), ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ("t", (-1, 0), ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ("t", (0, 1), ErrorCode.PRODUCER_FENCED),
        ("t", (0, 0), ErrorCode.NONE),
    ],
)
async def test_only_the_producer_of_a_transaction_goes_on_with_it(
    driven: DrivenTransactions, transactional_id: str, change: tuple[int, int], error: ErrorCode
) -> None:
    producer = await opened(driven)
    before = driven.transactions.by_id["t"]
    asked = Producer(producer.producer.producer_id + change[0], producer.producer.epoch + change[1])
    transactions = driven.transactions
    missing = error or ErrorCode.TRANSACTION_ABORTABLE
    expected = ({PLACE: error} if error else {}) | dict.fromkeys(OTHERS, missing)
    assert transactions.errors(transactional_id, asked, [PLACE, *OTHERS]) == expected
    write = TransactionalWrite(transactional_id, *asked, [PLACE, *OTHERS], adds=False)
    assert await transactions.confirm(write) == expected
    if error:
        assert await transactions.add_partitions(transactional_id, asked, OTHERS, 2) is error
        write = TransactionalWrite(transactional_id, *asked, OTHERS, adds=True)
        assert await transactions.confirm(write) == dict.fromkeys(OTHERS, error)
        assert await transactions.end(transactional_id, Ending(asked, True, 2)) == (error, NO_PRODUCER)
        assert transactions.by_id == {"t": before}
    else:
        assert await transactions.add_partitions(transactional_id, asked, OTHERS[:1], 2) is error
        assert transactions.errors(transactional_id, asked, [PLACE, *OTHERS]) == {OTHERS[1]: missing}
        answer = await transactions.end(transactional_id, Ending(asked, True, 2))
        assert answer == (error, Producer(asked.producer_id, asked.epoch + 1))


@pytest.mark.parametrize(
    ("expected", "error"),
    [
        (None, ErrorCode.NONE),
        ((0, 0), ErrorCode.NONE),  # the epoch before: the answer may have been lost
        ((0, 1), ErrorCode.NONE),
        ((0, 2), ErrorCode.PRODUCER_FENCED),
        ((1, 1), ErrorCode.PRODUCER_FENCED),
    ],
)
async def test_a_producer_that_goes_on_must_be_the_last_one(
    driven: DrivenTransactions, expected: tuple[int, int] | None, error: ErrorCode
) -> None:
    """KIP-360."""
    producer = DrivenProducer(driven, "t")
    assert await producer.begin() is ErrorCode.NONE
    assert await producer.begin(goes_on=True) is ErrorCode.NONE
    assert producer.producer == (0, 1)
    before = driven.transactions.by_id["t"]
    asked = Initialization(60_000, None if expected is None else Producer(*expected))
    answer = await driven.transactions.initialize("t", asked)
    is_retry = expected == (0, 0)
    assert answer == (error, NO_PRODUCER if error else Producer(0, 1 if is_retry else 2))
    assert (driven.transactions.by_id["t"] == before) is (bool(error) or is_retry)


async def test_an_open_transaction_is_aborted_before_its_id_has_another_producer(driven: DrivenTransactions) -> None:
    await opened(driven)
    answers = [await driven.transactions.initialize("t", Initialization(60_000)) for _ in range(2)]
    assert answers == [(ErrorCode.CONCURRENT_TRANSACTIONS, NO_PRODUCER), (ErrorCode.NONE, (0, 2))]
    assert driven.records(0) == ([], [])


async def test_nothing_begins_while_a_transaction_ends(
    driven: DrivenTransactions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What asks for that may ask again."""
    gate, write = asyncio.Event(), MarkerWriter.write

    async def write_later(writer: MarkerWriter, marker: EndMarker, partitions: Iterable[Partition]) -> object:
        await gate.wait()
        return await write(writer, marker, partitions)

    monkeypatch.setattr(MarkerWriter, "write", write_later)
    producer = await opened(driven)
    ending = asyncio.ensure_future(producer.end(committed=True))
    await some_turns()
    assert states(driven) == {"t": TransactionState.PREPARE_COMMIT}
    transactions, held, busy = driven.transactions, producer.producer, ErrorCode.CONCURRENT_TRANSACTIONS
    current = Producer(held.producer_id, held.epoch + 1)
    assert await transactions.initialize("t", Initialization(60_000)) == (busy, NO_PRODUCER)
    assert await transactions.add_partitions("t", current, [PLACE], 2) is busy
    assert transactions.errors("t", current, [PLACE, *OTHERS]) == dict.fromkeys([PLACE, *OTHERS], busy)
    assert await transactions.end("t", Ending(held, True, 2)) == (busy, NO_PRODUCER)
    assert await transactions.end("t", Ending(held, False, 2)) == (ErrorCode.INVALID_TXN_STATE, NO_PRODUCER)
    write_too = TransactionalWrite("t", *current, [PLACE], adds=True)
    confirming = asyncio.ensure_future(transactions.confirm(write_too))
    await some_turns()
    assert not confirming.done(), "it waits for the end"
    gate.set()
    assert await confirming == {}
    assert await ending is ErrorCode.NONE
    assert states(driven) == {"t": TransactionState.ONGOING}


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_the_end_of_a_transaction_is_answered_with_a_producer_from_version_two_on(
    driven: DrivenTransactions, version: int
) -> None:
    producer = await opened(driven)
    held = producer.producer
    following = Producer(held.producer_id, held.epoch + 1) if version == 2 else NO_PRODUCER
    for _ in range(2):  # it may ask again, since the answer may have been lost
        answer = await driven.transactions.end("t", Ending(held, False, version))
        assert answer == (ErrorCode.NONE, following)


@pytest.mark.parametrize(("most_bytes", "most_ids"), [(1007, 2), (1008, 3), (1511, 3), (1512, 4)])
async def test_ids_are_refused_once_they_take_more_memory_than_allowed(
    monkeypatch: pytest.MonkeyPatch, most_bytes: int, most_ids: int
) -> None:
    """The deviation ``bounded-transactions``: each of these ids takes 504 bytes."""
    driven = with_settings(monkeypatch, TransactionSettings(most_bytes=most_bytes))
    errors = [await DrivenProducer(driven, f"{number}").begin() for number in range(5)]
    assert errors == [ErrorCode.NONE if number < most_ids else ErrorCode.POLICY_VIOLATION for number in range(5)]
    assert await DrivenProducer(driven, "0").begin() is ErrorCode.NONE


@pytest.mark.parametrize(("most_bytes", "is_accepted"), [(603, False), (604, True)])
async def test_a_transaction_grows_until_it_takes_more_memory_than_allowed(
    monkeypatch: pytest.MonkeyPatch, most_bytes: int, *, is_accepted: bool
) -> None:
    driven = with_settings(monkeypatch, TransactionSettings(most_bytes=most_bytes))
    producer = await opened(driven)
    assert await producer.write(1, b"1") is (ErrorCode.NONE if is_accepted else ErrorCode.POLICY_VIOLATION)
    assert await producer.write(0, b"1") is ErrorCode.NONE, "it has this partition"


@pytest.mark.parametrize(("count", "is_accepted"), [(1, True), (2, True), (3, False)])
async def test_a_transaction_has_as_many_partitions_as_allowed(
    monkeypatch: pytest.MonkeyPatch, count: int, *, is_accepted: bool
) -> None:
    driven = with_settings(monkeypatch, TransactionSettings(most_partitions=2))
    producer = DrivenProducer(driven, "t")
    await producer.begin()
    partitions = [("p", number) for number in range(count)]
    error = await driven.transactions.add_partitions("t", producer.producer, partitions, 2)
    assert error is (ErrorCode.NONE if is_accepted else ErrorCode.POLICY_VIOLATION)
    assert driven.transactions.by_id["t"].partitions == frozenset(partitions if is_accepted else ())


@pytest.mark.parametrize(("later", "is_removed"), [(0, True), (0.001, False)])
async def test_an_id_is_removed_when_it_was_not_used_for_its_time(
    monkeypatch: pytest.MonkeyPatch, later: float, *, is_removed: bool
) -> None:
    """``transactional.id.expiration.ms``, to the millisecond; ids with an open transaction stay."""
    settings = TransactionSettings(expire_after_ms=10_000, remove_every_ms=5_000, look_every_ms=10**9)
    driven = with_settings(monkeypatch, settings)
    driven.load()
    await some_turns()
    driven.clock.advance(later)
    assert await DrivenProducer(driven, "t").begin() is ErrorCode.NONE
    await opened(driven, "open")
    for seconds in (5 - later, 5):
        assert set(driven.transactions.by_id) == {"t", "open"}
        await driven.wait(seconds)
    assert set(driven.transactions.by_id) == ({"open"} if is_removed else {"t", "open"})
    await driven.wait(5)
    assert set(driven.transactions.by_id) == {"open"}
    await driven.close()


@pytest.mark.parametrize("failure", [StorageError("the disk is full"), OSError("the disk is full")])
async def test_what_cannot_be_written_when_its_time_comes_is_tried_again(
    driven: DrivenTransactions, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    async def fail(*_arguments: object) -> None:
        raise failure

    driven.load()
    await opened(driven, timeout_ms=1)
    with monkeypatch.context() as patched:
        patched.setattr("kafkawire.broker.transactions.coordinator.TransactionCoordinator.prepare", fail)
        await driven.wait(10)
    assert states(driven) == {"t": TransactionState.ONGOING}
    assert f"A transaction could not be ended: {failure}" in caplog.messages
    await driven.wait(10)
    assert states(driven) == {"t": TransactionState.COMPLETE_ABORT}


async def test_a_transaction_is_open_as_long_as_its_timeout(driven: DrivenTransactions) -> None:
    driven.load()
    await opened(driven, "first", timeout_ms=10_000)
    await opened(driven, "second", timeout_ms=9_999)
    await driven.wait(10)
    assert states(driven) == {"first": TransactionState.ONGOING, "second": TransactionState.COMPLETE_ABORT}
    await driven.wait(10)
    assert states(driven) == dict.fromkeys(("first", "second"), TransactionState.COMPLETE_ABORT)


@pytest.mark.parametrize("committed", [True, False])
async def test_a_transaction_whose_markers_cannot_be_written_stays_decided_until_a_restart(
    driven: DrivenTransactions, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, committed: bool
) -> None:
    """Those who wait for what is due do not fail with it, and its client does."""
    gate = asyncio.Event()

    async def fail(*_arguments: object) -> None:
        await gate.wait()
        raise StorageError("the disk is full")

    driven.load()
    producer = await opened(driven)
    with monkeypatch.context() as patched:
        patched.setattr("kafkawire.broker.transactions.markers.MarkerWriter.write", fail)
        ending = asyncio.ensure_future(producer.end(committed=committed))
        await some_turns()
        waiting = asyncio.gather(driven.transactions.settled(), driven.transactions.completed("t"))
        await some_turns()
        assert not waiting.done()
        gate.set()
        await waiting
        with pytest.raises(StorageError, match=r"^the disk is full$"):
            await ending
        await driven.transactions.completed("t")
    decided = TransactionState.PREPARE_COMMIT if committed else TransactionState.PREPARE_ABORT
    assert states(driven) == {"t": decided}
    assert caplog.messages == ["Transactional id 't': its transaction could not be completed: the disk is full"]
    await driven.restart()
    await driven.transactions.settled()
    assert states(driven) == {"t": TransactionState.COMPLETE_COMMIT if committed else TransactionState.COMPLETE_ABORT}
    assert driven.records(0) == ([b"1"] if committed else [], [])


async def test_a_transaction_that_is_forgotten_before_its_end_is_durable_has_no_marker(
    driven: DrivenTransactions, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As with the topic in which it was recorded."""
    gate = asyncio.Event()

    async def durable(*_arguments: object) -> None:
        await gate.wait()

    producer = await opened(driven)
    monkeypatch.setattr(Transactions, "durable", durable)
    ending = asyncio.ensure_future(producer.end(committed=True))
    await some_turns()
    by_id = driven.transactions.by_id
    assert isinstance(by_id, dict)
    by_id.clear()
    gate.set()
    assert await ending is ErrorCode.NONE
    assert driven.records(0) == ([], [b"1"])
    assert (states(driven), caplog.messages) == ({}, [])
