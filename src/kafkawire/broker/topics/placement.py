"""Placement of partitions on brokers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.nodes import BrokerNode, Nodes
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import PartitionRecord
from kafkawire.protocol.error_codes import ErrorCode


class Placement:
    """Places replicas on brokers.

    Args:
        nodes: the brokers.
    """

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._placed = 0

    @property
    def most_replicas(self) -> int:
        """The highest possible replication factor."""
        return len(self._nodes.all())

    def check_replication_factor(self, wanted: int) -> None:
        """Validate a replication factor; raise if it is not acceptable.

        Raises:
            ItemError: there are fewer brokers, or all are fenced (B5, 8b).
        """
        registered = self.most_replicas
        if not self._nodes.live():
            reason = "All brokers are currently fenced or have all their log directories cordoned."
        elif wanted > registered:
            reason = (
                f"The target replication factor of {wanted} cannot be reached because only {registered} broker(s) are "
                "registered or some brokers have all their log directories cordoned."
            )
        else:
            return
        message = f"Unable to replicate the partition {wanted} time(s): {reason}"
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
            if not self._nodes.has(broker):
                raise _no_assignment(f"{includes} broker {broker}, but no such broker is registered.")
            if broker == previous:
                raise _no_assignment(f"{includes} the broker {broker} more than once.")
            previous = broker
        if replication_factor is not None and len(brokers) != replication_factor:
            raise _no_assignment(
                f"{includes} a partition with {len(brokers)} replica(s), but this is not consistent with previous "
                f"partitions, which have {replication_factor} replica(s)."
            )

    def check_live(self, partition: int, brokers: Sequence[int]) -> None:
        """Validate that one of the assigned brokers can lead a partition; raise if none can.

        Raises:
            ItemError: all are fenced.
        """
        if not any(map(self._nodes.is_live, brokers)):
            raise _no_assignment(
                f"All brokers specified in the manual partition assignment for partition {partition} are fenced or in "
                "controlled shutdown."
            )

    def places(self, partitions: int, replication_factor: int) -> Sequence[tuple[int, ...]]:
        """The brokers of new partitions, the leader first: leaders take turns, and replicas are in different racks.

        Args:
            partitions: how many.
            replication_factor: the brokers of each, at most ``most_replicas``.
        """
        brokers = self._nodes.across_racks()
        live = [node for node in brokers if not node.is_fenced]
        fenced = brokers[len(live) :]
        return [tuple(islice(self._replicas(live, fenced), replication_factor)) for _ in range(partitions)]

    def _replicas(self, live: Sequence[BrokerNode], fenced: Sequence[BrokerNode]) -> Sequence[int]:
        first = self._placed % len(live)
        self._placed += 1
        return [node.node_id for node in (*live[first:], *live[:first], *fenced)]

    def records(self, topic_id: Uuid, places: Iterable[Sequence[int]], *, first: int = 0) -> Iterator[PartitionRecord]:
        """New partitions on brokers; the first of its brokers that is not fenced leads a partition.

        Args:
            topic_id: of the topic.
            places: the ids of the brokers of each partition.
            first: number of the first partition.
        """
        directories = {node.node_id: node.directory_id for node in self._nodes.all()}
        for partition, replicas in enumerate(places, first):
            in_sync = tuple(filter(self._nodes.is_live, replicas))
            yield PartitionRecord(
                partition_id=partition,
                topic_id=topic_id,
                replicas=tuple(replicas),
                isr=in_sync,
                leader=in_sync[0],
                leader_epoch=0,
                partition_epoch=0,
                directories=tuple(directories[replica] for replica in replicas),
            )


def _no_assignment(message: str) -> ItemError:
    return ItemError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
