"""The broker's and the groups' properties for consumer groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.broker.groups.assignors.assignment import Assignor
from kafkawire.broker.groups.assignors.range_assignor import assign_by_range
from kafkawire.broker.groups.assignors.uniform_assignor import assign_uniformly
from kafkawire.broker.groups.classic.settings import GroupSettings
from kafkawire.broker.groups.group_properties import GroupProperties

ASSIGNORS: Final[Mapping[str, Assignor]] = MappingProxyType({"uniform": assign_uniformly, "range": assign_by_range})
"""The assignors by name; Kafka's users can add others in Java."""


class MigrationPolicy(Enum):
    """Which groups with members may become groups of the other kind (``group.consumer.migration.policy``)."""

    DISABLED = "disabled"
    """None, and classic members do not join consumer groups."""
    UPGRADE = "upgrade"
    """A classic group becomes a consumer group when a consumer joins."""
    DOWNGRADE = "downgrade"
    """A consumer group becomes a classic group when only classic members are left."""
    BIDIRECTIONAL = "bidirectional"
    """Both."""

    @property
    def upgrades(self) -> bool:
        """Whether classic groups become consumer groups."""
        return self in {MigrationPolicy.UPGRADE, MigrationPolicy.BIDIRECTIONAL}

    @property
    def downgrades(self) -> bool:
        """Whether consumer groups become classic groups."""
        return self in {MigrationPolicy.DOWNGRADE, MigrationPolicy.BIDIRECTIONAL}


class ConsumerGroupSettings(GroupProperties):
    """The properties for consumer groups, read again where they can change while the broker runs.

    Args:
        configuration: the broker's.
        of_group: the configurations that are set for a group, by its id.
        most_bytes: of the names and subscriptions of all members of all groups.

    Attributes:
        assignors: the names of the assignors, the default first (``group.consumer.assignors``).
        most_members: of a group (``group.consumer.max.size``).
        regex_refresh_ms: how often regular expressions are resolved if nothing changes.
        migration: which groups may become groups of the other kind.
        classic: the properties of the classic groups that they may become.
        is_served: whether there are consumer groups at all (``group.coordinator.rebalance.protocols``).
        most_bytes: as given.
    """

    def __init__(
        self, configuration: Values, of_group: Callable[[str], Mapping[str, str]], *, most_bytes: int = 64 << 20
    ) -> None:
        super().__init__(configuration, of_group, "consumer")
        named = configuration.strings("group.consumer.assignors")
        self.assignors = tuple(name for name in named if name in ASSIGNORS) or (*ASSIGNORS,)
        self.most_members = configuration.integer("group.consumer.max.size")
        self.regex_refresh_ms = configuration.integer("group.consumer.regex.refresh.interval.ms")
        self.is_served = "consumer" in configuration.strings("group.coordinator.rebalance.protocols")
        self.migration = MigrationPolicy(configuration.text("group.consumer.migration.policy").lower())
        self.classic = GroupSettings.of(configuration)
        self.most_bytes = most_bytes
