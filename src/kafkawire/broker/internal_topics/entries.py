"""What the log of an internal topic has: changes of a state, those of transactions, and the ends of these."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple, Protocol, TypeAlias

from kafkawire.broker.storage.unwritten_batches import KeyValue, Producer
from kafkawire.records.coordinator_records import encode_coordinator_record
from kafkawire.wire import Message

_RECORDS_AT_ONCE: Final = 1_000

Change: TypeAlias = tuple[Message, Message | None]
"""Key and value of a record; None as value deletes the key."""


class Written(NamedTuple):
    """A change.

    Attributes:
        key, value: of its record.
        producer: has written it in a transaction; None outside of one.
    """

    key: Message
    value: Message | None
    producer: Producer | None = None


class Ended(NamedTuple):
    """The end of a transaction.

    Attributes:
        producer_id: of the transaction.
        owners: whose changes have ended with it.
        committed: whether they take effect; else they are dropped.
    """

    producer_id: int
    owners: frozenset[str]
    committed: bool


Entry: TypeAlias = Written | Ended


@dataclass(frozen=True, slots=True)
class TopicFormat:
    """How a state is in the records of an internal topic.

    Attributes:
        topic: its name.
        owners: the keys that are read, each with what returns its owner: the group or transactional id by which Kafka
            chooses the partition. Other records are ignored.
        value_version: the version in which a value is written, None for a deletion.
        in_version: a value with only what a version has room for.
    """

    topic: str
    owners: Mapping[type[Message], Callable[[Message], str]]
    value_version: Callable[[Message | None], int | None]
    in_version: Callable[[Message, int], Message] = lambda value, _version: value

    def owner(self, key: Message) -> str:
        """The owner of a key."""
        return self.owners[type(key)](key)

    def record(self, change: Change) -> KeyValue:
        """The record of a change.

        Raises:
            EncodeError: it cannot be encoded.
        """
        key, value = change
        version = self.value_version(value)
        if value is not None and version is not None:
            value = self.in_version(value, version)
        return encode_coordinator_record(self.topic, key, value, version)

    def batches(self, entries: Iterable[Written]) -> Iterator[tuple[Producer | None, Sequence[KeyValue]]]:
        """The records of changes in batches of moderate size, and whose transaction each is in."""
        for producer, written in groupby(entries, attrgetter("producer")):
            records = [self.record((each.key, each.value)) for each in written]
            for first in range(0, len(records), _RECORDS_AT_ONCE):
                yield producer, records[first : first + _RECORDS_AT_ONCE]


class RecordedState(Protocol):
    """A state that records make."""

    @property
    def size(self) -> int:
        """How many records it takes to make it again."""

    def apply(self, key: Message, value: Message | None, producer: Producer | None = None) -> None:
        """Apply a change; one of a transaction takes effect when the transaction is committed."""

    def end(self, producer_id: int, owners: Iterable[str], *, committed: bool) -> None:
        """End a transaction of a producer for some owners."""

    def clear(self) -> None:
        """Forget everything."""

    def owners(self) -> Collection[str]:
        """The owners of what it has."""

    def entries_of(self, owner: str) -> Sequence[Written]:
        """The changes that make what an owner has again, in order; none if it has nothing."""

    def entries(self) -> Iterator[Written]:
        """The changes that make all of it again."""
        for owner in self.owners():
            yield from self.entries_of(owner)


def replay(entry: Entry, state: RecordedState) -> None:
    """Apply an entry of a log to a state."""
    match entry:
        case Written(key, value, producer):
            state.apply(key, value, producer)
        case Ended(producer_id, owners, committed):
            state.end(producer_id, owners, committed=committed)
