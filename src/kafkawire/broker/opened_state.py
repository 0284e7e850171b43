"""The state of a broker, opened from its data directory or begun in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, Self

from kafkawire.broker.clock import Clock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration, Values
from kafkawire.broker.controller import MAXIMUM_RECORDS, Controller
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.state import GroupsState
from kafkawire.broker.image.metadata_image import MetadataImage, image_of
from kafkawire.broker.internal_topics.topic import InternalTopic
from kafkawire.broker.metadata_log.file_log import FileLog, LogSettings
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.metadata_log.registered_directories import registered_directories
from kafkawire.broker.metadata_log.snapshots import read_snapshot
from kafkawire.broker.nodes import Nodes, RegisteredNodes
from kafkawire.broker.partitions.file_store import FileRecordStore
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.registration import (
    arrival_records,
    bootstrap_records,
    departure_records,
    leadership_records,
    restart_records,
)
from kafkawire.broker.share_coordinator.coordinator import ShareCoordinator
from kafkawire.broker.share_coordinator.state import SharesState
from kafkawire.broker.state_copy import StateCopy, copied_state
from kafkawire.broker.storage.data_directory import METADATA_FOLDER, DataDirectory, node_id_of
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import BeforeWrite, at_once
from kafkawire.broker.topic_names import OFFSETS_TOPIC, SHARES_TOPIC, TRANSACTIONS_TOPIC
from kafkawire.broker.topics.placement import Placement
from kafkawire.broker.transactions.coordinator import TransactionCoordinator
from kafkawire.broker.transactions.state import TransactionsState
from kafkawire.broker.twin import TwinSource, copied, has_twin, twin_configuration
from kafkawire.layout.uuid import Uuid
from kafkawire.wire import Message

_BOOTSTRAP: Final = "bootstrap.checkpoint"
_MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"


@dataclass(frozen=True, slots=True)
class OpenedState:
    """The state of the cluster and of its groups.

    Attributes:
        data_dir: the data directory; None for a broker that keeps its state in memory only.
        configuration: of the broker; a twin adds properties to those given.
        cluster: the node and its listeners.
        directory_id: id of the data directory.
        nodes: the brokers that clients see.
        placement: where new partitions go.
        controller: has the metadata.
        coordinator: has the groups.
        transactions: has the transactional ids.
        shares: has what share groups have acknowledged.
        store: has the records.
        resources: closes the files and releases the directory.
    """

    data_dir: Path | None
    configuration: BrokerConfiguration
    cluster: Cluster
    directory_id: Uuid
    nodes: Nodes
    placement: Placement
    controller: Controller
    coordinator: GroupCoordinator
    transactions: TransactionCoordinator
    shares: ShareCoordinator
    store: RecordStore
    resources: AsyncExitStack

    @classmethod
    async def opened(
        cls,
        data_dir: Path | None,
        source: TwinSource | StateCopy | None,
        configuration: BrokerConfiguration,
        cluster: Cluster,
        *,
        clock: Clock,
        on_failure: Callable[[StorageError], None],
        before_write: BeforeWrite = at_once,
    ) -> Self:
        """Lock a directory, and read it; or copy the state of another cluster.

        Args:
            data_dir: the directory; None to keep the state in memory only.
            source: what a new twin begins with, or a broker in memory; None for any other broker.
            configuration: as given.
            cluster: the node and its listeners; it gets the ids of both.
            clock: the broker's.
            on_failure: called with the first error of a write.
            before_write: awaited before each write, with the name of what is written.

        Raises:
            StorageError: another broker uses the directory, or files are damaged.
            OSError: a file cannot be read or made.
        """
        async with AsyncExitStack() as resources:
            cluster_id, directory_id = str(Uuid.random()), Uuid.random()
            log, image = MetadataLog(), MetadataImage()
            groups, transactional_ids, store = GroupsState(), TransactionsState(), RecordStore()
            recorded_shares = SharesState()
            disk = on_failure, before_write
            if isinstance(source, StateCopy):
                cluster_id, directory_id = source.cluster_id, source.directory_id
                log, image = MetadataLog(source.end_offset), source.image()
                groups, transactional_ids, store = source.groups(), source.transactions(), source.records()
                recorded_shares = source.shares()
            elif source is not None:
                log, image = copied(source, data_dir, configuration, clock)
                cluster_id = log.cluster_id or cluster_id
            is_twin = isinstance(source, TwinSource) if data_dir is None else has_twin(data_dir)
            if data_dir is not None:
                directory = _directory(data_dir, configuration, is_twin=is_twin)
                resources.callback(directory.close)
                cluster_id, directory_id = directory.cluster_id, directory.directory_id
                log = FileLog(data_dir / METADATA_FOLDER, _settings(configuration), clock, *disk)
                image = image_of(log.replay())
            resources.push_async_callback(log.close)
            if is_twin:
                configuration = twin_configuration(configuration, image.registrations)
            cluster.cluster_id, cluster.node_id = cluster_id, configuration.integer("node.id")
            nodes = RegisteredNodes(cluster, image.registrations) if is_twin else Nodes(cluster, directory_id)
            controller, placement = Controller(log, image), Placement(nodes)
            if data_dir is not None:
                store = FileRecordStore(
                    data_dir,
                    controller,
                    now_ms=clock.now_ms(),
                    producers_expire_ms=configuration.integer("producer.id.expiration.ms"),
                    on_failure=on_failure,
                    before_write=before_write,
                )
            resources.push_async_callback(store.close)
            offsets_topic = InternalTopic(OFFSETS_TOPIC, controller, configuration, placement)
            coordinator = GroupCoordinator.opened(data_dir, offsets_topic, clock, *disk, store=store, in_memory=groups)
            resources.push_async_callback(coordinator.close)
            transactions_topic = InternalTopic(TRANSACTIONS_TOPIC, controller, configuration, placement)
            transactions = TransactionCoordinator.opened(
                data_dir,
                transactions_topic,
                controller,
                clock,
                on_failure,
                store=store,
                before_write=before_write,
                in_memory=transactional_ids,
            )
            resources.push_async_callback(transactions.close)
            shares_topic = InternalTopic(SHARES_TOPIC, controller, configuration, placement)
            shares = ShareCoordinator.opened(
                data_dir,
                shares_topic,
                configuration,
                clock,
                on_failure,
                store=store,
                before_write=before_write,
                in_memory=recorded_shares,
            )
            resources.push_async_callback(shares.close)
            parts = (nodes, placement, controller, coordinator, transactions, shares, store, resources.pop_all())
            return cls(data_dir, configuration, cluster, directory_id, *parts)

    async def arrive(self) -> None:
        """Begin a leader epoch and register the node; all records are durable on return.

        A twin registers nothing, unless no broker is registered at all.

        Raises:
            StorageError, OSError: a write failed.
        """
        controller, image = self.controller, self.controller.image
        controller.leader_epoch = controller.log.lead(self.cluster.node_id)
        if not image.features.levels:
            minimum = str(self.configuration.integer(_MIN_INSYNC_REPLICAS))
            controller.commit(bootstrap_records(minimum, self._formatted()))
        if self._stands_for_others:
            self._commit_portions(() if self.nodes.live() else restart_records(image))
        else:
            controller.commit(arrival_records(self.cluster, self.directory_id, controller.end_offset))
            self._commit_portions(leadership_records(image, self.cluster.node_id))
        await self.coordinator.arrive(controller)
        await self.transactions.arrive(controller)
        await self.shares.arrive(controller)
        await controller.log.durable(controller.end_offset)

    async def settled(self) -> None:
        """Wait until all that was appended is durable.

        Raises:
            StorageError: a write failed.
        """
        await self.controller.log.durable(self.controller.end_offset)
        await self.coordinator.durable()
        await self.transactions.durable()
        await self.shares.durable()
        await self.store.drained()

    @property
    def _stands_for_others(self) -> bool:
        """Whether the node answers for brokers that another cluster has registered."""
        return isinstance(self.nodes, RegisteredNodes) and bool(self.nodes.all())

    def _commit_portions(self, records: Iterable[Message]) -> None:
        left = iter(tuple(records))
        while portion := [*islice(left, MAXIMUM_RECORDS)]:
            self.controller.commit(portion)

    def _formatted(self) -> Sequence[Message]:
        path = None if self.data_dir is None else self.data_dir / _BOOTSTRAP
        return read_snapshot(path).records if path is not None and path.exists() else ()

    async def copied(self) -> StateCopy:
        """A copy of the state.

        Raises:
            StorageError: records could not be written.
            OSError: a file cannot be read.
        """
        for coordinator in (self.coordinator, self.transactions, self.shares):
            await coordinator.durable()  # their states must not be ahead of the logs
        return await copied_state(
            self.cluster,
            self.directory_id,
            controller=self.controller,
            groups=self.coordinator.state,
            transactions=self.transactions.state,
            shares=self.shares.state,
            store=self.store,
        )

    async def depart(self) -> None:
        """Commit that the node leaves, write what is not durable yet, and close the files."""
        async with self.resources:
            if self._stands_for_others:
                return
            # A log that has failed accepts no records; its failure is reported already.
            with suppress(StorageError):
                self._commit_portions(departure_records(self.controller.image, self.cluster.node_id))


def _directory(data_dir: Path, configuration: Values, *, is_twin: bool) -> DataDirectory:
    node_id = node_id_of(data_dir) if is_twin else None
    own = configuration.integer("node.id") if node_id is None else node_id
    return DataDirectory(data_dir, own, partial(registered_directories, data_dir / METADATA_FOLDER))


def _settings(configuration: Values) -> LogSettings:
    return LogSettings(
        segment_bytes=configuration.integer("metadata.log.segment.bytes"),
        snapshot_bytes=configuration.integer("metadata.log.max.record.bytes.between.snapshots"),
        snapshot_interval_ms=configuration.integer("metadata.log.max.snapshot.interval.ms"),
    )
