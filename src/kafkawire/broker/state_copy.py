"""A copy of the state of a broker, with which brokers in memory begin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.cluster import Cluster
from kafkawire.broker.controller import Controller
from kafkawire.broker.groups.state import GroupsState
from kafkawire.broker.image.metadata_image import MetadataImage, image_of
from kafkawire.broker.internal_topics.entries import Written
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.share_coordinator.state import SharesState
from kafkawire.broker.transactions.state import TransactionsState
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupTargetAssignmentMemberKey,
    GroupMetadataValue,
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupMemberMetadataKey,
    ShareGroupTargetAssignmentMemberKey,
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupMemberMetadataKey,
    StreamsGroupTargetAssignmentMemberKey,
)
from kafkawire.wire import Message

_OF_MEMBERS: Final = (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupMemberMetadataKey,
    ShareGroupTargetAssignmentMemberKey,
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupMemberMetadataKey,
    StreamsGroupTargetAssignmentMemberKey,
)


@dataclass(frozen=True, slots=True, eq=False)
class StateCopy:
    """The state of a broker at one moment: brokers begin with it, and none changes it.

    It has topics and their records, configurations, ACLs, quotas, users, the offsets of groups, what share groups have
    acknowledged, transactions and the last batches of idempotent producers, but no members of groups.

    Attributes:
        cluster_id: of the cluster.
        node_id: of the broker; brokers that begin with the copy have the same.
    """

    cluster_id: str
    node_id: int
    _directory_id: Uuid = field(repr=False)
    _end_offset: int = field(repr=False)
    _metadata: Sequence[Message] = field(repr=False)
    _groups: Sequence[Written] = field(repr=False)
    _transactions: Sequence[Written] = field(repr=False)
    _shares: Sequence[Written] = field(repr=False)
    _records: RecordStore = field(repr=False)

    @property
    def directory_id(self) -> Uuid:
        """Id of the directory in which the partitions are."""
        return self._directory_id

    @property
    def end_offset(self) -> int:
        """The offset of the next metadata record."""
        return self._end_offset

    def image(self) -> MetadataImage:
        """The metadata, for one broker to change."""
        return image_of(self._metadata)

    def groups(self) -> GroupsState:
        """The groups, for one broker to change."""
        groups = GroupsState()
        for entry in self._groups:
            groups.apply(*entry)
        return groups

    def transactions(self) -> TransactionsState:
        """The transactional ids, for one broker to change."""
        transactions = TransactionsState()
        for entry in self._transactions:
            transactions.apply(*entry)
        return transactions

    def shares(self) -> SharesState:
        """What share groups have acknowledged, for one broker to change."""
        shares = SharesState()
        for entry in self._shares:
            shares.apply(*entry)
        return shares

    def records(self) -> RecordStore:
        """The records, for one broker to change; all share the bytes of those that they have in common."""
        return self._records.copied()


async def copied_state(
    cluster: Cluster,
    directory_id: Uuid,
    *,
    controller: Controller,
    groups: GroupsState,
    transactions: TransactionsState,
    shares: SharesState,
    store: RecordStore,
) -> StateCopy:
    """A copy of the state of a broker that runs.

    Args:
        cluster, directory_id: of the broker.
        controller: has the metadata.
        groups: has the groups.
        transactions: has the transactional ids.
        shares: has what share groups have acknowledged.
        store: has the records.

    Raises:
        StorageError: records could not be written.
        OSError: a file cannot be read.
    """
    await store.durable()
    return StateCopy(
        cluster.cluster_id,
        cluster.node_id,
        directory_id,
        controller.end_offset,
        tuple(controller.image.records()),
        tuple(_without_members(groups.entries())),
        tuple(transactions.entries()),
        tuple(shares.entries()),
        store.copied(),
    )


def _without_members(entries: Iterable[Written]) -> Iterable[Written]:
    for entry in entries:
        if isinstance(entry.value, GroupMetadataValue):
            yield entry._replace(value=replace(entry.value, protocol=None, leader=None, members=()))
        elif not isinstance(entry.key, _OF_MEMBERS):
            yield entry
