"""The changes of a partition's replicas and leader, as Kafka's controller makes them (KIP-455, KIP-460, KIP-966).

Replicas have no data to copy here: one on a live broker is in sync as soon as it is added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.image.topics import NO_LEADER
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.nodes import Nodes
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import PartitionChangeRecord, PartitionRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.message import Struct

_RECOVERING: Final = 1
_UNCHANGED: Final = -2


class PartitionTarget(Struct, frozen=True, gc=False):
    """What a partition is to have.

    Attributes:
        replicas, isr, adding, removing: broker ids; ``replicas`` has those that are added and removed too.
    """

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether all replicas that are to stay are in sync, and there is one."""
        staying = [replica for replica in self.replicas if replica not in self.removing]
        return bool(staying) and all(replica in self.isr for replica in staying)

    def completed(self) -> PartitionTarget:
        """Without the removed replicas if it is complete, else as it is."""
        if not (self.adding or self.removing) or not self.is_complete:
            return self
        return PartitionTarget(_without(self.replicas, self.removing), _without(self.isr, self.removing))


def is_being_reassigned(partition: PartitionRecord) -> bool:
    """Whether replicas are being added or removed."""
    return bool(partition.adding_replicas or partition.removing_replicas)


def current(partition: PartitionRecord) -> PartitionTarget:
    """What a partition has."""
    return PartitionTarget(
        tuple(partition.replicas),
        tuple(partition.isr),
        tuple(partition.adding_replicas),
        tuple(partition.removing_replicas),
    )


def reassigned(partition: PartitionRecord, replicas: Sequence[int], nodes: Nodes) -> PartitionTarget:
    """The partition on other brokers; it waits for those that are fenced."""
    removing = tuple(sorted(set(partition.replicas).difference(replicas)))
    adding = tuple(sorted(set(replicas).difference(partition.replicas)))
    in_sync = (replica for replica in adding if nodes.is_live(replica))
    return PartitionTarget((*replicas, *removing), (*partition.isr, *in_sync), adding, removing).completed()


def reverted(partition: PartitionRecord, *, unclean: bool) -> PartitionTarget:
    """The partition as it was before its reassignment.

    Args:
        partition: as it is.
        unclean: whether a replica that is not in sync may lead.

    Raises:
        ItemError: it is not being reassigned, or only a replica that is not in sync could lead it.
    """
    if not is_being_reassigned(partition):
        raise ItemError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    replicas = _without(partition.replicas, partition.adding_replicas)
    isr = _without(partition.isr, partition.adding_replicas)
    if isr or (unclean and replicas):
        return PartitionTarget(replicas, isr or replicas[:1])
    raise ItemError(
        ErrorCode.INVALID_REPLICA_ASSIGNMENT, "The assignment cannot be reverted: no replica of it is in sync."
    )


def change_record(
    topic_id: Uuid, partition: PartitionRecord, target: PartitionTarget, leader: int, nodes: Nodes
) -> PartitionChangeRecord | None:
    """The record of a change; None if nothing changes.

    Args:
        topic_id: of the topic.
        partition: as it is.
        target: as it is to be.
        leader: as it is to be.
        nodes: the brokers.
    """
    isr = target.isr if leader in target.isr or leader == NO_LEADER else (leader,)
    eligible = tuple(partition.eligible_leader_replicas or ())
    known = tuple(partition.last_known_elr or ())
    own = dict(zip(partition.replicas, partition.directories, strict=False))
    new = {node.node_id: node.directory_id for node in nodes.all()}
    directories = tuple(own.get(replica) or new.get(replica, Uuid()) for replica in target.replicas)
    left = tuple(replica for replica in eligible if replica in target.replicas and replica not in isr)
    loses = not set(partition.replicas) <= set(target.replicas)
    is_unclean = leader not in (*target.isr, *eligible, NO_LEADER)
    record = PartitionChangeRecord(
        partition.partition_id,
        topic_id,
        isr=_changed(isr, partition.isr),
        leader=leader if leader != partition.leader or loses else _UNCHANGED,
        replicas=_changed(target.replicas, partition.replicas),
        removing_replicas=_changed(target.removing, partition.removing_replicas),
        adding_replicas=_changed(target.adding, partition.adding_replicas),
        directories=directories if directories != tuple(partition.directories) else None,
        eligible_leader_replicas=_changed(left, eligible),
        last_known_elr=() if known and leader != NO_LEADER else None,
    )
    if is_unclean:
        record = replace(record, leader_recovery_state=_RECOVERING)
    return None if record == PartitionChangeRecord(partition.partition_id, topic_id) else record


def preferred_leader(partition: PartitionRecord, target: PartitionTarget, nodes: Nodes) -> int:
    """The first replica if it can lead without loss, else the current leader, else another one; -1 for none."""
    first = (*target.replicas[:1], partition.leader, *target.replicas[1:])
    return next(filter(_can_lead(partition, target, nodes), first), NO_LEADER)


def any_leader(partition: PartitionRecord, target: PartitionTarget, nodes: Nodes, *, unclean: bool = False) -> int:
    """The current leader if it can lead without loss, else the first replica that can; -1 for none.

    Args:
        partition: as it is.
        target: as it is to be.
        nodes: the brokers.
        unclean: whether a live replica leads that would lose records, rather than none.
    """
    for replica in filter(_can_lead(partition, target, nodes), (partition.leader, *target.replicas)):
        return replica
    return next((one for one in target.replicas if unclean and nodes.is_live(one)), NO_LEADER)


def _can_lead(partition: PartitionRecord, target: PartitionTarget, nodes: Nodes) -> Callable[[int], bool]:
    """Whether a replica can lead: a live one in sync, or without any in sync an eligible one."""
    candidates = target.isr or tuple(partition.eligible_leader_replicas or ())
    return lambda replica: replica in candidates and replica in target.replicas and nodes.is_live(replica)


def _without(replicas: Sequence[int], removed: Sequence[int]) -> tuple[int, ...]:
    return tuple(replica for replica in replicas if replica not in removed)


def _changed(now: tuple[int, ...], before: Sequence[int]) -> tuple[int, ...] | None:
    return None if now == tuple(before) else now
