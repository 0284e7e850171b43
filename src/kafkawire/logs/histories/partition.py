"""``partition_history``: leaders, replicas, in-sync replicas and reassignments of partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias, cast

import pyarrow as pa

from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.interval_columns import IntervalColumns
from kafkawire.logs.folding.intervals import Moment, Values
from kafkawire.logs.folding.ledger import Ledger, LedgerRules, fits_where_known
from kafkawire.logs.folding.metadata_decoder import Needed, Owners
from kafkawire.logs.folding.metadata_fold import Change
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.tables.enum_names import Names

PartitionKey: TypeAlias = tuple[str, int]
"""Id of a topic, and number of a partition."""

_Brokers: TypeAlias = Sequence[int]

_New: TypeAlias = tuple[
    *tuple[Literal["PartitionRecord"], str, int, int, int, int, int],
    *tuple[_Brokers, _Brokers, _Brokers, _Brokers, _Brokers | None, _Brokers | None],
]
_Changed: TypeAlias = tuple[
    *tuple[Literal["PartitionChangeRecord"], str, int, int, int],
    *tuple[_Brokers | None, _Brokers | None, _Brokers | None, _Brokers | None, _Brokers | None, _Brokers | None],
]
_Record: TypeAlias = (
    _New
    | _Changed
    | tuple[Literal["TopicRecord"], str, str]
    | tuple[Literal["RemoveTopicRecord"], str]
    | tuple[Literal["ClearElrRecord"], str]
)

_NO_LEADER_CHANGE: Final = -2
_NO_RECOVERY_CHANGE: Final = -1
_LARGEST_EPOCH: Final = (1 << 31) - 1


class _LeaderRecovery(IntEnum):
    """Whether a leader from an unclean election has still to recover (KIP-704)."""

    RECOVERED = 0
    RECOVERING = 1


_RECOVERY: Final = Names(_LeaderRecovery)


_Replicas: TypeAlias = tuple[int, ...] | None


class _Partition(NamedTuple):
    """The values of a partition. None is not known: what set it is older than the log.

    The ledger has plain tuples: Python leaves those without cycles out of its searches for cyclic garbage.
    """

    topic: str | None = None
    leader: int | None = None
    leader_epoch: int | None = None
    leader_recovery_state: int | None = None
    replicas: _Replicas = None
    isr: _Replicas = None
    adding_replicas: _Replicas = None
    removing_replicas: _Replicas = None
    elr: _Replicas = None
    last_known_elr: _Replicas = None
    partition_epoch: int | None = None


_ELR: Final = _Partition._fields.index("elr")


class _PartitionReducer:
    """Sets and changes partitions, as Kafka's ``TopicsDelta``. Deleting a topic removes its partitions.

    Attributes:
        topics: see ``KnowsTopics``.
    """

    RECORDS: ClassVar[Needed] = {
        "TopicRecord": ("topic_id", "name"),
        "PartitionRecord": (
            *("topic_id", "partition_id", "leader", "leader_epoch", "leader_recovery_state", "partition_epoch"),
            *("replicas", "isr", "adding_replicas", "removing_replicas", "eligible_leader_replicas", "last_known_elr"),
        ),
        "PartitionChangeRecord": (
            *("topic_id", "partition_id", "leader", "leader_recovery_state"),
            *("replicas", "isr", "adding_replicas", "removing_replicas", "eligible_leader_replicas", "last_known_elr"),
        ),
        "RemoveTopicRecord": ("topic_id",),
        "ClearElrRecord": ("topic_name",),
    }

    OWNERS: ClassVar[Owners] = {
        "TopicRecord": "topic_id",
        "PartitionRecord": "topic_id",
        "PartitionChangeRecord": "topic_id",
        "RemoveTopicRecord": "topic_id",
    }

    def __init__(self) -> None:
        self.ledger: Ledger[PartitionKey] = Ledger(LedgerRules(fits=fits_where_known))
        self.topics: dict[str, str] = {}

    def apply(self, changes: Iterable[Change]) -> None:
        """See ``StateReducer``."""
        known: dict[tuple[int, ...], tuple[int, ...]] = {}  # replicas repeat, and open intervals keep them
        for record, at in cast("Iterable[tuple[_Record, Moment]]", changes):
            match record:
                case "TopicRecord", topic_id, name:
                    self.topics[topic_id] = name
                case ("PartitionRecord", topic_id, partition, *_):
                    self._put((topic_id, partition), _new(self.topics.get(topic_id), record, known), at)
                case ("PartitionChangeRecord", topic_id, partition, *_):
                    self._change((topic_id, partition), record, at)
                case "RemoveTopicRecord", topic_id:
                    self.topics.pop(topic_id, None)
                    self.ledger.drop_group(topic_id, at)
                case "ClearElrRecord", name:
                    self._clear_elr(name, at)

    def _put(self, key: PartitionKey, values: Values, at: Moment) -> None:
        self.ledger.put(key, values, at, group=key[0])

    def _change(self, key: PartitionKey, record: _Changed, at: Moment) -> None:
        held = self._held(key)
        if held is not None:
            self._put(key, _changed(held, record), at)

    def _held(self, key: PartitionKey) -> _Partition | None:
        """The partition that a record changes; None if it cannot exist, and Kafka would stop."""
        held = cast("tuple[Any, ...] | None", self.ledger.values(key, key[0]))
        if held is not None:
            return _Partition._make(held)
        return None if self.ledger.complete else _Partition(topic=self.topics.get(key[0]))

    def _clear_elr(self, name: str, at: Moment) -> None:
        """Make the ELR of a topic empty, or of all topics for an empty name (KIP-966)."""
        for key in self._partitions_of(name):
            held = _Partition._make(cast("tuple[Any, ...]", self.ledger.values(key, key[0])))
            if held.elr != () or held.last_known_elr != ():
                epoch = None if held.elr is None or held.last_known_elr is None else held.partition_epoch
                self._put(key, (*held[:_ELR], (), (), _next(epoch)), at)

    def _partitions_of(self, name: str) -> Iterator[PartitionKey]:
        named = (topic_id for topic_id, known in self.topics.items() if known == name)
        for topic_id in [*named] if name else self.ledger.groups():
            yield from self.ledger.keys(topic_id)


def replicas_of(values: tuple[Any, ...]) -> tuple[int, ...]:
    """The replicas of an interval, all of whose values are known."""
    return cast("tuple[int, ...]", _Partition._make(values).replicas)


def _new(topic: str | None, record: _New, known: dict[tuple[int, ...], tuple[int, ...]]) -> Values:
    _, _, _, leader, leader_epoch, recovery, epoch, replicas, isr, adding, removing, elr, last_known = record
    assigned = tuple(replicas)
    assigned = known.setdefault(assigned, assigned)
    return (
        topic,
        leader,
        leader_epoch,
        recovery,
        assigned,
        _shared(isr, assigned),
        tuple(adding),
        tuple(removing),
        tuple(elr or ()),
        tuple(last_known or ()),
        epoch,
    )


def _changed(held: _Partition, record: _Changed) -> Values:
    """As Kafka's ``PartitionRegistration.merge``: null is no change, and naming a leader is a new leader epoch."""
    _, _, _, leader, recovery, replicas, isr, adding, removing, elr, last_known = record
    keeps_leader = leader == _NO_LEADER_CHANGE
    assigned = held.replicas if replicas is None else tuple(replicas)
    return (
        held.topic,
        held.leader if keeps_leader else leader,
        held.leader_epoch if keeps_leader else _next(held.leader_epoch),
        held.leader_recovery_state if recovery == _NO_RECOVERY_CHANGE else recovery,
        assigned,
        held.isr if isr is None else _shared(isr, assigned),
        held.adding_replicas if adding is None else tuple(adding),
        held.removing_replicas if removing is None else tuple(removing),
        held.elr if elr is None else tuple(elr),
        held.last_known_elr if last_known is None else tuple(last_known),
        _next(held.partition_epoch),
    )


def _shared(isr: _Brokers, replicas: tuple[int, ...] | None) -> tuple[int, ...]:
    """The ISR; most often it is the replicas, and then one object for both."""
    found = tuple(isr)
    return replicas if replicas == found else found


def _next(epoch: int | None) -> int | None:
    """The next epoch, as in Java."""
    if epoch is None:
        return None
    return epoch + 1 if epoch < _LARGEST_EPOCH else -_LARGEST_EPOCH - 1


def _cells(intervals: IntervalColumns[PartitionKey]) -> Columns:
    columns = dict(zip(_Partition._fields, value_columns(intervals.values, len(_Partition._fields)), strict=True))
    brokers = ("replicas", "isr", "adding_replicas", "removing_replicas")
    replicas, isr, adding, removing = (cast("list[_Replicas]", columns[name]) for name in brokers)
    return {
        **columns,
        "topic_id": [key[0] for key in intervals.keys],
        "partition": [key[1] for key in intervals.keys],
        "leader_recovery_state": _RECOVERY.of(columns["leader_recovery_state"]),
        "is_reassigning": [*map(_is_reassigning, adding, removing)],
        "is_under_replicated": [*map(_is_under_replicated, replicas, isr, adding)],
    }


def _is_reassigning(adding: _Replicas, removing: _Replicas) -> bool | None:
    if adding or removing:
        return True
    return None if adding is None or removing is None else False


def _is_under_replicated(replicas: _Replicas, isr: _Replicas, adding: _Replicas) -> bool | None:
    """As Kafka's metric and kafka-topics: replicas that a reassignment adds do not count."""
    if replicas is None or isr is None or adding is None:
        return None
    return len(isr) < len(replicas) - len(adding)


HISTORY: Final = MetadataHistory(
    "partition_history",
    "leaders, ISRs and replicas of partitions, with the time during which each held",
    {
        "topic": pa.string(),
        "partition": pa.int32(),
        "leader": pa.int32(),
        "leader_epoch": pa.int32(),
        "leader_recovery_state": pa.string(),
        "isr": pa.list_(pa.int32()),
        "replicas": pa.list_(pa.int32()),
        "is_under_replicated": pa.bool_(),
        "adding_replicas": pa.list_(pa.int32()),
        "removing_replicas": pa.list_(pa.int32()),
        "is_reassigning": pa.bool_(),
        "elr": pa.list_(pa.int32()),
        "last_known_elr": pa.list_(pa.int32()),
        "partition_epoch": pa.int32(),
        "topic_id": pa.string(),
    },
    lambda _: _PartitionReducer(),
    lambda intervals, _: _cells(intervals),
    keys=("topic", "partition"),
    details=("leader_epoch", "elr", "last_known_elr", "partition_epoch", "topic_id"),
)
