"""The state of a broker, opened from its data directory or begun in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, Self

from kafkawire.broker.clock import Clock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.broker.controller import MAXIMUM_RECORDS, Controller
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.offsets_topic import OffsetsTopic
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.file_log import FileLog, LogSettings
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.metadata_log.registered_directories import registered_directories
from kafkawire.broker.metadata_log.snapshots import read_snapshot
from kafkawire.broker.registration import arrival_records, bootstrap_records, departure_records, leadership_records
from kafkawire.broker.storage.data_directory import METADATA_FOLDER, DataDirectory
from kafkawire.broker.storage.errors import CorruptLogError, StorageError
from kafkawire.broker.topics.placement import Placement
from kafkawire.layout.uuid import Uuid
from kafkawire.wire import Message

_BOOTSTRAP: Final = "bootstrap.checkpoint"
_MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"


@dataclass(frozen=True, slots=True)
class OpenedState:
    """The state of the cluster and of its groups.

    Attributes:
        data_dir: the data directory; None for a broker that keeps its state in memory only.
        cluster_id: id of the cluster.
        directory_id: id of the data directory.
        controller: has the metadata.
        coordinator: has the groups.
        resources: closes the files and releases the directory.
    """

    data_dir: Path | None
    cluster_id: str
    directory_id: Uuid
    controller: Controller
    coordinator: GroupCoordinator
    resources: AsyncExitStack

    @classmethod
    async def opened(
        cls,
        data_dir: Path | None,
        configuration: Values,
        clock: Clock,
        on_failure: Callable[[StorageError], None],
    ) -> Self:
        """Lock a directory, and read it.

        Args:
            data_dir: the directory; None to keep the state in memory only.
            configuration: of the broker.
            clock: the broker's.
            on_failure: called with the first error of a write.

        Raises:
            StorageError: another broker uses the directory, or its files are damaged.
            OSError: a file cannot be read or made.
        """
        async with AsyncExitStack() as resources:
            cluster_id, directory_id = str(Uuid.random()), Uuid.random()
            log = MetadataLog()
            if data_dir is not None:
                metadata = data_dir / METADATA_FOLDER
                directory = DataDirectory(
                    data_dir, configuration.integer("node.id"), partial(registered_directories, metadata)
                )
                resources.callback(directory.close)
                cluster_id, directory_id = directory.cluster_id, directory.directory_id
                log = FileLog(metadata, _settings(configuration), clock, on_failure)
            resources.push_async_callback(log.close)
            image = _image_of(log)
            controller = Controller(log, image)
            placement = Placement(configuration.integer("node.id"), directory_id)
            offsets_topic = OffsetsTopic(controller, configuration, placement)
            coordinator = GroupCoordinator.opened(data_dir, offsets_topic, clock, on_failure)
            resources.push_async_callback(coordinator.close)
            return cls(data_dir, cluster_id, directory_id, controller, coordinator, resources.pop_all())

    async def arrive(self, cluster: Cluster, configuration: Values) -> None:
        """Begin a leader epoch and register the node; all records are durable on return.

        Raises:
            StorageError, OSError: a write failed.
        """
        controller, image = self.controller, self.controller.image
        controller.log.lead(cluster.node_id)
        if not image.features.levels:
            minimum = str(configuration.integer(_MIN_INSYNC_REPLICAS))
            controller.commit(bootstrap_records(minimum, self._formatted()))
        controller.commit(arrival_records(cluster, self.directory_id, controller.end_offset))
        changes = iter(tuple(leadership_records(image, cluster.node_id)))
        while portion := [*islice(changes, MAXIMUM_RECORDS)]:
            controller.commit(portion)
        await self.coordinator.arrive(controller)
        await controller.log.durable(controller.end_offset)

    def _formatted(self) -> Sequence[Message]:
        path = None if self.data_dir is None else self.data_dir / _BOOTSTRAP
        return read_snapshot(path).records if path is not None and path.exists() else ()

    async def depart(self, cluster: Cluster) -> None:
        """Commit that the node leaves, write what is not durable yet, and close the files."""
        async with self.resources:
            # A log that has failed accepts no records; its failure is reported already.
            with suppress(StorageError):
                self.controller.commit(departure_records(self.controller.image, cluster.node_id))


def _image_of(log: MetadataLog) -> MetadataImage:
    image = MetadataImage()
    for record in log.replay():
        try:
            image.apply(record)
        except (KeyError, ValueError) as error:
            raise CorruptLogError(
                f"a {record.NAME} of the metadata log refers to something that no earlier record has "
                f"({type(error).__name__}: {error}); a newer Kafka wrote it, or records are missing: restore the "
                "directory from a backup"
            ) from error
    return image


def _settings(configuration: Values) -> LogSettings:
    return LogSettings(
        segment_bytes=configuration.integer("metadata.log.segment.bytes"),
        snapshot_bytes=configuration.integer("metadata.log.max.record.bytes.between.snapshots"),
        snapshot_interval_ms=configuration.integer("metadata.log.max.snapshot.interval.ms"),
    )
