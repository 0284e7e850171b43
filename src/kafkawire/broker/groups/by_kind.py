"""The groups of all kinds, for what has to find out which kind a group is of."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from kafkawire.broker.clock import Clock
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.controller import Controller
from kafkawire.broker.groups.classic.live_groups import ClassicGroups
from kafkawire.broker.groups.classic.settings import GroupSettings
from kafkawire.broker.groups.commits import CommitRules
from kafkawire.broker.groups.consumer.live_groups import ConsumerGroups
from kafkawire.broker.groups.consumer.member import Member
from kafkawire.broker.groups.consumer.mixed_group import MixedGroup
from kafkawire.broker.groups.consumer.settings import ConsumerGroupSettings
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.share.group import ShareGroup
from kafkawire.broker.groups.share.live_groups import ShareGroups
from kafkawire.broker.groups.share.settings import ShareGroupSettings
from kafkawire.broker.groups.streams.group import StreamsGroup
from kafkawire.broker.groups.streams.live_groups import StreamsGroups
from kafkawire.broker.groups.streams.member import StreamsMember
from kafkawire.broker.groups.streams.settings import StreamsGroupSettings
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.broker.share_coordinator.coordinator import ShareCoordinator
from kafkawire.model.configs.resources import ConfigResourceType


class GroupsByKind(NamedTuple):
    """The groups of a broker. A group is of one kind at a time.

    Attributes:
        classic: the groups of the classic protocol.
        consumer: the groups of KIP-848, with members of the classic protocol too.
        share: the groups of KIP-932.
        streams: the groups of KIP-1071.
    """

    classic: ClassicGroups
    consumer: ConsumerGroups
    share: ShareGroups
    streams: StreamsGroups

    def load(self) -> None:
        """Begin the sessions of all members that the records have."""
        for groups in self:
            groups.load()

    async def settled(self) -> None:
        """Wait until the groups whose time has come have been checked."""
        for groups in self:
            await groups.settled()

    async def close(self) -> None:
        """Stop the timers, and what the groups do in the background; the classic groups come last."""
        for groups in reversed(self):
            await groups.close()

    def assigned(self, group_id: str) -> MixedGroup | ShareGroup | StreamsGroup | None:
        """A group to whose members the coordinator assigns partitions; None for other groups."""
        return self.committing(group_id) or self.share.group(group_id)

    def committing(self, group_id: str) -> MixedGroup | StreamsGroup | None:
        """A group as ``assigned`` whose members commit offsets."""
        return self.consumer.group(group_id) or self.streams.group(group_id)

    def commit_rules(self, group_id: str) -> CommitRules[Member] | CommitRules[StreamsMember] | None:
        """Which commits a group as ``committing`` accepts; None for other groups."""
        return self.consumer.commit_rules(group_id) or self.streams.commit_rules(group_id)

    def forget(self, group_id: str) -> None:
        """Forget a group that is deleted. Share groups and consumer groups without members are forgotten already."""
        self.classic.forget(group_id)
        self.streams.forget(group_id)


def groups_by_kind(
    coordinator: GroupCoordinator,
    shares: ShareCoordinator,
    controller: Controller,
    configuration: DynamicConfiguration,
    clock: Clock,
    *,
    later_streams: bool,
) -> GroupsByKind:
    """The groups of a broker, which follow the changes of the cluster.

    Args:
        coordinator: has the records of all groups, and writes new ones.
        shares: has the states of share partitions.
        controller: has the topics, the racks and the configurations of groups.
        configuration: of the broker.
        clock: the broker's.
        later_streams: whether streams groups are those of Kafka 4.4.
    """
    image, properties = controller.image, configuration.static
    of_group = partial(image.configs.of, ConfigResourceType.GROUP)

    def rack_of(node_id: int) -> str | None:
        broker = image.registrations.brokers.get(node_id)
        return None if broker is None else broker.rack

    topics = KnownTopics(image.topics, lambda: controller.end_offset, rack_of)
    controller.subscribe_to_commits(topics.committed)
    classic = ClassicGroups(coordinator, clock, GroupSettings.of(properties))
    consumer = ConsumerGroups(coordinator, classic, clock, ConsumerGroupSettings(properties, of_group), topics)
    share = ShareGroups(
        coordinator,
        classic,
        consumer,
        clock,
        settings=ShareGroupSettings(properties, of_group),
        topics=topics,
        share_coordinator=shares,
    )
    share.follow(controller)
    streams_settings = StreamsGroupSettings(configuration, of_group, is_later=later_streams)
    return GroupsByKind(classic, consumer, share, StreamsGroups(coordinator, classic, clock, streams_settings, topics))
