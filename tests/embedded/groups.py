"""The groups of a data directory, without a broker around them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from kafkawire.broker.clock import Clock, ManualClock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.controller import Controller
from kafkawire.broker.groups.by_kind import GroupsByKind, groups_by_kind
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.internal_topics.topic import InternalTopic
from kafkawire.broker.metadata_log.file_log import FileLog, LogSettings
from kafkawire.broker.nodes import Nodes
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.share_coordinator.coordinator import ShareCoordinator
from kafkawire.broker.storage.data_directory import METADATA_FOLDER
from kafkawire.broker.topic_names import OFFSETS_TOPIC, SHARES_TOPIC
from kafkawire.broker.topics.placement import Placement
from kafkawire.layout.uuid import Uuid

DIRECTORY_ID = Uuid(b"directory of log")


@asynccontextmanager
async def opened_groups(
    data_dir: Path, partitions: int = 1, clock: Clock | None = None
) -> AsyncIterator[tuple[GroupCoordinator, Controller]]:
    """The coordinator and the controller on a directory, as a broker has them; closed in the end.

    Args:
        data_dir: the directory.
        partitions: of ``__consumer_offsets``, if it is made.
        clock: gives records their times.
    """
    clock = clock or ManualClock()
    log, image = FileLog(data_dir / METADATA_FOLDER, LogSettings(), clock), MetadataImage()
    for record in log.replay():
        image.apply(record)
    controller = Controller(log, image)
    configuration = BrokerConfiguration({"offsets.topic.num.partitions": str(partitions)})
    placement = Placement(Nodes(Cluster("", 1, "", 0), DIRECTORY_ID))
    topic = InternalTopic(OFFSETS_TOPIC, controller, configuration, placement)
    coordinator = GroupCoordinator.opened(data_dir, topic, clock, store=RecordStore())
    log.lead(1)
    coordinator.follow(controller)
    await coordinator.arrive(controller)
    try:
        yield coordinator, controller
    finally:
        await coordinator.close()
        await log.close()


@asynccontextmanager
async def opened_groups_by_kind(
    data_dir: Path, clock: ManualClock
) -> AsyncIterator[tuple[GroupCoordinator, GroupsByKind]]:
    """The groups of all kinds on a directory, with the states of share partitions in memory; closed in the end."""
    async with opened_groups(data_dir, clock=clock) as (coordinator, controller):
        configuration = BrokerConfiguration({})
        dynamic = DynamicConfiguration(configuration, controller.image.configs)
        placement = Placement(Nodes(Cluster("", 1, "", 0), DIRECTORY_ID))
        topic = InternalTopic(SHARES_TOPIC, controller, configuration, placement)
        shares = ShareCoordinator.opened(None, topic, configuration, clock, store=RecordStore())
        groups = groups_by_kind(coordinator, shares, controller, dynamic, clock, later_streams=False)
        try:
            yield coordinator, groups
        finally:
            await groups.close()


def committed_offsets(coordinator: GroupCoordinator) -> Mapping[str, Mapping[int, int]]:
    """Group id to partition to offset, for all topics."""
    return {
        group.group_id: {partition: value.offset for (_, partition), value in group.commits.items()}
        for group in coordinator.state.by_id.values()
    }
