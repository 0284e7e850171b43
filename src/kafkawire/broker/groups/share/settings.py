"""The broker's and the groups' properties for share groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.broker.groups.group_properties import GroupProperties


class ShareGroupSettings(GroupProperties):
    """The properties for share groups, read again where they can change while the broker runs.

    Args:
        configuration: the broker's.
        of_group: the configurations that are set for a group, by its id.
        most_bytes: of the names and subscriptions of all members of all groups.

    Attributes:
        most_members: of a group (``group.share.max.size``).
        retry_ms: after this time the states of partitions are begun again if they have not begun
            (``group.share.initialize.retry.interval.ms``).
        most_bytes: as given.
    """

    def __init__(
        self, configuration: Values, of_group: Callable[[str], Mapping[str, str]], *, most_bytes: int = 64 << 20
    ) -> None:
        super().__init__(configuration, of_group, "share")
        self.most_members = configuration.integer("group.share.max.size")
        self.retry_ms = configuration.integer("group.share.initialize.retry.interval.ms")
        self.most_bytes = most_bytes
