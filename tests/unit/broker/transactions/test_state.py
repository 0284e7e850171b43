"""All transactional ids: what they take to be made again."""

from __future__ import annotations

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
