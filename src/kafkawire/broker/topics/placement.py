"""Placement of partitions on the only node."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.broker.item_errors import ItemError
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import PartitionRecord
from kafkawire.protocol.error_codes import ErrorCode


class Placement:
    """Places replicas on the node.

    Args:
        node_id: of the node.
        directory_id: of its log directory.
    """

    def __init__(self, node_id: int, directory_id: Uuid) -> None:
        self._node_id = node_id
        self._directory_id = directory_id

    def check_replication_factor(self, wanted: int) -> None:
        """Validate a replication factor; raise if it is not acceptable.

        Raises:
            ItemError: it is not 1 (B5, 8b).
        """
        if wanted != 1:
            message = (
                f"Unable to replicate the partition {wanted} time(s): The target replication factor of {wanted} cannot "
                "be reached because only 1 broker(s) are registered or some brokers have all their log directories "
                "cordoned."
            )
            raise ItemError(ErrorCode.INVALID_REPLICATION_FACTOR, message)

    def check_assignment(self, brokers: Sequence[int], replication_factor: int | None) -> None:
        """Validate the brokers that a request assigns to a partition; raise if they are not acceptable.

        Args:
            brokers: their ids.
            replication_factor: how many there must be; None for any number.

        Raises:
            ItemError: they are invalid (B5, 8a).
        """
        includes = "The manual partition assignment includes"
        if not brokers:
            raise _no_assignment(f"{includes} an empty replica list.")
        previous = None
        for broker in sorted(brokers):
            if broker != self._node_id:
                raise _no_assignment(f"{includes} broker {broker}, but no such broker is registered.")
            if broker == previous:
                raise _no_assignment(f"{includes} the broker {broker} more than once.")
            previous = broker
        if replication_factor is not None and len(brokers) != replication_factor:
            raise _no_assignment(
                f"{includes} a partition with {len(brokers)} replica(s), but this is not consistent with previous "
                f"partitions, which have {replication_factor} replica(s)."
            )

    def record(self, topic_id: Uuid, partition: int) -> PartitionRecord:
        """A new partition on the node."""
        here = (self._node_id,)
        return PartitionRecord(
            partition_id=partition,
            topic_id=topic_id,
            replicas=here,
            isr=here,
            leader=self._node_id,
            leader_epoch=0,
            partition_epoch=0,
            directories=(self._directory_id,),
        )


def _no_assignment(message: str) -> ItemError:
    return ItemError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
