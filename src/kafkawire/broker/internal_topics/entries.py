"""What the log of an internal topic has: changes of a state, those of transactions, and the ends of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.wire import Message

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

    def entries(self) -> Iterable[Written]:
        """The changes that make it again, in order for each owner."""


def replay(entry: Entry, state: RecordedState) -> None:
    """Apply an entry of a log to a state."""
    match entry:
        case Written(key, value, producer):
            state.apply(key, value, producer)
        case Ended(producer_id, owners, committed):
            state.end(producer_id, owners, committed=committed)
