"""Features, nodes, delegation tokens and partitions: random records about them, and the state that these make.

The state is kept in the most simple way: as the records that a snapshot of it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeAlias

from msgspec.structs import replace

from kafkawire.layout import Uuid
from kafkawire.protocol import (
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    DelegationTokenRecord,
    FeatureLevelRecord,
    FenceBrokerRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    TopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UnregisterControllerRecord,
)
from kafkawire.wire import Message

Facts: TypeAlias = frozenset[tuple[object, ...]]

CLUSTER_HISTORIES: Final = (
    *("feature_history", "broker_history", "controller_history", "token_history", "partition_history"),
)
_FEATURES: Final = ("group.version", "share.version", "transaction.version")
_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_RECOVERY: Final = ("RECOVERED", "RECOVERING")


@dataclass
class ClusterState:
    """The state after some records."""

    features: dict[str, int] = field(default_factory=dict)
    brokers: dict[int, RegisterBrokerRecord] = field(default_factory=dict)
    controllers: dict[int, RegisterControllerRecord] = field(default_factory=dict)
    tokens: dict[str, DelegationTokenRecord] = field(default_factory=dict)
    topics: dict[Uuid, str] = field(default_factory=dict)
    partitions: dict[tuple[Uuid, int], PartitionRecord] = field(default_factory=dict)

    def apply(self, record: Message) -> None:
        """Apply a record; others than those of these things change nothing."""
        match record:
            case FeatureLevelRecord(name=name, feature_level=level):
                self.features.pop(name, None)
                self.features |= {name: level} if level else {}
            case DelegationTokenRecord():
                self.tokens[record.token_id] = record
            case RemoveDelegationTokenRecord():
                del self.tokens[record.token_id]
            case RegisterControllerRecord():
                self.controllers[record.controller_id] = record
            case UnregisterControllerRecord():
                del self.controllers[record.controller_id]
            case TopicRecord():
                self.topics[record.topic_id] = record.name
            case RemoveTopicRecord():
                del self.topics[record.topic_id]
                self.partitions = {key: kept for key, kept in self.partitions.items() if key[0] != record.topic_id}
            case PartitionRecord() | PartitionChangeRecord() | ClearElrRecord():
                self._apply_to_partitions(record)
            case _:
                self._apply_to_brokers(record)

    def _apply_to_brokers(self, record: Message) -> None:
        match record:
            case RegisterBrokerRecord():
                self.brokers[record.broker_id] = record
            case UnregisterBrokerRecord():
                del self.brokers[record.broker_id]
            case FenceBrokerRecord() | UnfenceBrokerRecord():
                is_fenced = isinstance(record, FenceBrokerRecord)
                self.brokers[record.id] = replace(self.brokers[record.id], fenced=is_fenced)
            case BrokerRegistrationChangeRecord():
                old = self.brokers[record.broker_id]
                self.brokers[record.broker_id] = replace(
                    old,
                    fenced={1: True, -1: False, 0: old.fenced}[record.fenced],
                    in_controlled_shutdown=record.in_controlled_shutdown == 1 or old.in_controlled_shutdown,
                    log_dirs=record.log_dirs or old.log_dirs,
                    cordoned_log_dirs=old.cordoned_log_dirs
                    if record.cordoned_log_dirs is None
                    else record.cordoned_log_dirs,
                )

    def _apply_to_partitions(self, record: PartitionRecord | PartitionChangeRecord | ClearElrRecord) -> None:
        match record:
            case PartitionRecord():
                self.partitions[record.topic_id, record.partition_id] = record
            case PartitionChangeRecord():
                key = record.topic_id, record.partition_id
                self.partitions[key] = _merged(self.partitions[key], record)
            case ClearElrRecord(topic_name=name):
                for key, old in self.partitions.items():
                    if (not name or self.topics[key[0]] == name) and (
                        old.eligible_leader_replicas or old.last_known_elr
                    ):
                        cleared = replace(old, eligible_leader_replicas=(), last_known_elr=())
                        self.partitions[key] = replace(cleared, partition_epoch=old.partition_epoch + 1)

    def records(self) -> Iterator[Message]:
        """What a snapshot has of the state, without topics and their partitions."""
        yield from (FeatureLevelRecord(name, level) for name, level in self.features.items())
        yield from self.brokers.values()
        yield from self.controllers.values()
        yield from self.tokens.values()

    def partitions_of(self, topic_id: Uuid) -> Sequence[PartitionRecord]:
        """The partitions of a topic."""
        return [record for (its_id, _), record in self.partitions.items() if its_id == topic_id]

    def facts(self, history: str) -> Facts:
        """What the rows of a history that hold must say."""
        match history:
            case "feature_history":
                return frozenset(self.features.items())
            case "broker_history":
                return frozenset(map(_broker_fact, self.brokers.values()))
            case "controller_history":
                return frozenset(
                    (record.controller_id, str(record.incarnation_id), _endpoints(record), _features(record))
                    for record in self.controllers.values()
                )
            case "token_history":
                return frozenset(
                    (
                        record.token_id,
                        record.owner,
                        record.requester,
                        tuple(record.renewers),
                        record.expiration_timestamp,
                    )
                    for record in self.tokens.values()
                )
            case _:
                return frozenset(
                    _partition_fact(self.topics[topic_id], record) for (topic_id, _), record in self.partitions.items()
                )


def facts_of_row(history: str, row: dict[str, object]) -> tuple[object, ...]:
    """What a row of a history says, in the form of ``ClusterState.facts``."""
    names = {
        "feature_history": ("name", "level"),
        "broker_history": (
            *("broker_id", "epoch", "incarnation_id", "fenced", "in_controlled_shutdown", "rack", "endpoints"),
            *("features", "log_dirs", "cordoned_log_dirs"),
        ),
        "controller_history": ("controller_id", "incarnation_id", "endpoints", "features"),
        "token_history": ("token_id", "owner", "requester", "renewers", "expires_at"),
        "partition_history": (
            *("topic", "topic_id", "partition", "leader", "leader_epoch", "leader_recovery_state", "replicas", "isr"),
            *("adding_replicas", "removing_replicas", "elr", "last_known_elr", "partition_epoch", "is_reassigning"),
        ),
    }[history]
    return tuple(_plain(row[name]) for name in names)


def _plain(cell: object) -> object:
    """Lists of lists, dicts and times as tuples and numbers."""
    match cell:
        case list():
            return tuple(map(_plain, cell))
        case dict():
            return tuple(cell.values())
        case _ if hasattr(cell, "timestamp"):
            return round(cell.timestamp() * 1000)
        case _:
            return cell


def _merged(old: PartitionRecord, change: PartitionChangeRecord) -> PartitionRecord:
    names = (
        *("isr", "replicas", "removing_replicas", "adding_replicas", "directories"),
        *("eligible_leader_replicas", "last_known_elr"),
    )
    given = {name: getattr(change, name) for name in names if getattr(change, name) is not None}
    if change.leader != -2:
        given |= {"leader": change.leader, "leader_epoch": old.leader_epoch + 1}
    if change.leader_recovery_state != -1:
        given |= {"leader_recovery_state": change.leader_recovery_state}
    return replace(old, partition_epoch=old.partition_epoch + 1, **given)


def _endpoints(record: RegisterBrokerRecord | RegisterControllerRecord) -> tuple[tuple[object, ...], ...]:
    return tuple(
        sorted((each.name, each.host, each.port, _PROTOCOLS[each.security_protocol]) for each in record.end_points)
    )


def _features(record: RegisterBrokerRecord | RegisterControllerRecord) -> tuple[tuple[object, ...], ...]:
    return tuple(
        sorted((each.name, each.min_supported_version, each.max_supported_version) for each in record.features)
    )


def _broker_fact(record: RegisterBrokerRecord) -> tuple[object, ...]:
    return (
        *(record.broker_id, record.broker_epoch, str(record.incarnation_id), record.fenced),
        *(record.in_controlled_shutdown, record.rack, _endpoints(record), _features(record)),
        *(tuple(sorted(map(str, ids or ()))) for ids in (record.log_dirs, record.cordoned_log_dirs)),
    )


def _partition_fact(topic: str, record: PartitionRecord) -> tuple[object, ...]:
    lists = (
        *(record.replicas, record.isr, record.adding_replicas, record.removing_replicas),
        *(record.eligible_leader_replicas, record.last_known_elr),
    )
    return (
        *(topic, str(record.topic_id), record.partition_id, record.leader, record.leader_epoch),
        *(_RECOVERY[record.leader_recovery_state], *(tuple(each or ()) for each in lists), record.partition_epoch),
        bool(record.adding_replicas or record.removing_replicas),
    )


class ClusterHappening:
    """Records that make sense one after the other, by chance.

    Args:
        state: to which they are applied; the caller does that.
    """

    def __init__(self, state: ClusterState) -> None:
        self.state = state

    def record(self, dice: Random) -> Message:
        """The next record."""
        makers = (self._feature, self._broker, self._controller, self._token, self._partition, self._partition)
        return dice.choice(makers)(dice)

    def _feature(self, dice: Random) -> Message:
        return FeatureLevelRecord(dice.choice(_FEATURES), dice.randrange(3))

    def _token(self, dice: Random) -> Message:
        token_id = dice.choice("abc")
        if token_id in self.state.tokens and dice.randrange(2):
            return RemoveDelegationTokenRecord(token_id)
        renewers = tuple(dice.sample(("User:bob", "User:eve"), dice.randrange(3)))
        return DelegationTokenRecord("User:ann", "User:ann", renewers, 1, 9000, dice.randrange(1, 9000), token_id)

    def _controller(self, dice: Random) -> Message:
        number = dice.randrange(2)
        if number in self.state.controllers and not dice.randrange(3):
            return UnregisterControllerRecord(number)
        kinds = RegisterControllerRecord
        endpoints = tuple(
            kinds.ControllerEndpoint(name, "h", 9093, dice.randrange(4)) for name in _shuffled("XY", dice)
        )
        features = tuple(kinds.ControllerFeature(name, 0, dice.randrange(9)) for name in _shuffled(_FEATURES, dice))
        return RegisterControllerRecord(number, _uuid(dice), False, endpoints, features)

    def _broker(self, dice: Random) -> Message:
        number = dice.randrange(3)
        held = self.state.brokers.get(number)
        kind = 0 if held is None else dice.randrange(6)
        if held is None or kind == 0:
            return _registration(number, dice)
        match kind:
            case 1:
                return UnregisterBrokerRecord(number, held.broker_epoch)
            case 2:
                return FenceBrokerRecord(number, held.broker_epoch)
            case 3:
                return UnfenceBrokerRecord(number, held.broker_epoch)
            case _:
                return BrokerRegistrationChangeRecord(
                    number,
                    held.broker_epoch,
                    dice.randrange(-1, 2),
                    dice.randrange(2),
                    _ids(dice) if dice.randrange(2) else (),
                    _ids(dice) if dice.randrange(2) else None,
                )

    def _partition(self, dice: Random) -> Message:
        """A change or a new partition, if there is a topic; rarely the end of all ELRs, or of those of a topic."""
        topics = [*self.state.topics]
        if not topics:
            return NoOpRecord()
        topic_id = dice.choice(topics)
        partitions = self.state.partitions_of(topic_id)
        kind = dice.randrange(8)
        if kind == 0:
            return ClearElrRecord(dice.choice(("", self.state.topics[topic_id])))
        if kind == 1 or not partitions:
            return new_partition(topic_id, len(partitions), dice)
        return _change(topic_id, dice.choice(partitions).partition_id, dice)


def new_partition(topic_id: Uuid, number: int, dice: Random) -> PartitionRecord:
    """A partition with a leader and replicas by chance."""
    replicas = _brokers(dice)
    return PartitionRecord(
        number,
        topic_id,
        replicas,
        replicas,
        leader=replicas[0],
        leader_epoch=dice.randrange(3),
        partition_epoch=dice.randrange(3),
        directories=tuple(_uuid(dice) for _ in replicas),
        eligible_leader_replicas=_brokers(dice) if dice.randrange(2) else None,
    )


def _change(topic_id: Uuid, number: int, dice: Random) -> PartitionChangeRecord:
    def brokers() -> tuple[int, ...] | None:
        return dice.choice((None, None, (), _brokers(dice)))

    replicas = _brokers(dice) if dice.randrange(2) else None
    return PartitionChangeRecord(
        number,
        topic_id,
        isr=brokers(),
        leader=dice.choice((-2, -2, -1, 1, 2)),
        replicas=replicas,
        removing_replicas=brokers(),
        adding_replicas=brokers(),
        leader_recovery_state=dice.choice((-1, -1, 0, 1)),
        directories=None if replicas is None else tuple(_uuid(dice) for _ in replicas),
        eligible_leader_replicas=brokers(),
        last_known_elr=brokers(),
    )


def _registration(number: int, dice: Random) -> RegisterBrokerRecord:
    kinds = RegisterBrokerRecord
    return RegisterBrokerRecord(
        number,
        False,
        _uuid(dice),
        dice.randrange(1 << 40),
        tuple(kinds.BrokerEndpoint(name, "h", 65535, dice.randrange(4)) for name in _shuffled("XYZ", dice)),
        tuple(kinds.BrokerFeature(name, 0, dice.randrange(9)) for name in _shuffled(_FEATURES, dice)),
        dice.choice((None, "a", "b")),
        bool(dice.randrange(2)),
        bool(dice.randrange(2)),
        _ids(dice),
        _ids(dice) if dice.randrange(2) else None,
    )


def _shuffled(names: Sequence[str], dice: Random) -> Sequence[str]:
    return dice.sample([*names], len(names))


def _brokers(dice: Random) -> tuple[int, ...]:
    return tuple(dice.sample(range(1, 5), dice.randrange(1, 4)))


def _ids(dice: Random) -> tuple[Uuid, ...]:
    return tuple(_uuid(dice) for _ in range(dice.randrange(1, 3)))


def _uuid(dice: Random) -> Uuid:
    return Uuid(dice.randbytes(16))
