"""All transactional ids: what they take to be made again."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kafkawire.broker.transactions.state import TransactionsState
from kafkawire.broker.transactions.transaction import Transaction, with_partitions


def test_entries_make_the_transactions_again() -> None:
    """The epoch before is in no record."""
    state, again = TransactionsState(), TransactionsState()
    begun = Transaction(7, 3, 60_000)
    for name, transaction in (
        ("idle", begun),
        ("open", replace(with_partitions(begun, [("t", 0), ("t", 1)], 2, 50), last_epoch=2)),
        ("gone", begun),
    ):
        state.put(name, transaction)
    state.put("gone", None)
    entries = [*state.entries()]
    assert len(entries) == state.size == 2
    for entry in entries:
        again.apply(entry.key, entry.value)
    assert again.by_id == {name: replace(each, last_epoch=-1) for name, each in state.by_id.items()}
    assert ([*again.ongoing], again.bytes) == (["open"], state.bytes)
    assert [*state.owners()] == ["idle", "open"]
    assert not state.entries_of("gone")


@pytest.mark.parametrize(
    ("transactional_id", "partitions", "size"),
    [("", 0, 500), ("t", 0, 504), ("t" * 1000, 0, 4500), ("t", 1, 604), ("t", 10_000, 1_000_504)],
)
def test_the_memory_of_an_id_is_that_of_its_characters_and_partitions(
    transactional_id: str, partitions: int, size: int
) -> None:
    """For each id, character and partition as much as they may take at most, as ``bounded-transactions`` needs it."""
    state = TransactionsState()
    begun = Transaction(7, 3, 60_000)
    opened = with_partitions(begun, [("t", number) for number in range(partitions)], 2, 50)
    state.put("other", begun)
    of_other = state.bytes
    for transaction, added in ((begun, size - partitions * 100), (opened, size), (opened, size), (None, 0)):
        state.put(transactional_id, transaction)
        assert state.bytes == of_other + added
    state.put(transactional_id, opened)
    state.clear()
    assert (state.bytes, state.size, [*state.entries()], [*state.ongoing]) == (0, 0, [], [])


def test_an_open_transaction_is_noted_and_ended_ones_are_not() -> None:
    state, begun = TransactionsState(), Transaction(7, 3, 60_000)
    state.put("idle", begun)
    assert not state.begun.is_set()
    state.put("open", with_partitions(begun, [("t", 0)], 2, 50))
    assert state.begun.is_set()
    assert [*state.ongoing] == ["open"]
    state.put("open", begun)
    assert not state.ongoing


def test_every_partition_of_a_transaction_counts_as_much_memory() -> None:
    state, sizes = TransactionsState(), dict[int, int]()
    for count in (0, 1, 100, 10_000):
        partitions = [("t", number) for number in range(count)]
        state.put("t", with_partitions(Transaction(7, 3, 60_000), partitions, 2, 50))
        sizes[count] = state.bytes
    of_partition = sizes[1] - sizes[0]
    assert of_partition >= 100
    assert [sizes[count] - sizes[0] for count in (100, 10_000)] == [100 * of_partition, 10_000 * of_partition]
    state.put("t", None)
    assert not state.bytes
