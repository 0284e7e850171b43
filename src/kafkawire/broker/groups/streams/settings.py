"""The broker's and the groups' properties for streams groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.broker.groups.group_properties import GroupProperties


class StreamsGroupSettings(GroupProperties):
    """The properties for streams groups, read again where they can change while the broker runs.

    Args:
        configuration: the broker's.
        of_group: the configurations that are set for a group, by its id.
        most_bytes: of the names and topologies of all members of all groups.
        is_later: whether the rules are those of Apache Kafka 4.4, else of 4.3.

    Attributes:
        most_members: of a group (``group.streams.max.size``).
        is_served: whether there are streams groups at all (``group.coordinator.rebalance.protocols``).
        most_bytes, is_later: as given.
        task_offset_ms: the time between two reports of the offsets of tasks; 0 where the broker does not want them.
        recovery_lag: how many records a copy of a task may lack that takes over; -1 where nothing depends on it.
    """

    def __init__(
        self,
        configuration: Values,
        of_group: Callable[[str], Mapping[str, str]],
        *,
        most_bytes: int = 64 << 20,
        is_later: bool = False,
    ) -> None:
        super().__init__(configuration, of_group, "streams")
        self.most_members = configuration.integer("group.streams.max.size")
        self.is_served = "streams" in configuration.strings("group.coordinator.rebalance.protocols")
        self.most_bytes = most_bytes
        self.is_later = is_later
        self.task_offset_ms = 60_000 if is_later else 0
        self.recovery_lag = 10_000 if is_later else -1

    def initial_delay_ms(self, group_id: str) -> int:
        """The time that a group without members waits for more of them before it assigns tasks."""
        return self._of(group_id, "initial.rebalance.delay.ms")

    def standby_replicas(self, group_id: str) -> int:
        """How many standby tasks each task with state has."""
        return self._of(group_id, "num.standby.replicas")
