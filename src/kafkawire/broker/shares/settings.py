"""The broker's and the groups' properties for share groups, as far as share partitions follow them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.broker.groups.group_properties import GroupProperties
from kafkawire.model.configs.java_durations import java_duration
from kafkawire.wire.message import Struct

_BY_DURATION: Final = "by_duration:"
_NANOSECONDS_OF_MS: Final = 10**6


class ShareRules(Struct, frozen=True, gc=False):
    """The settings of a group.

    Attributes:
        lock_ms: how long a member may have a record (``share.record.lock.duration.ms``).
        most_deliveries: how often a record is delivered (``share.delivery.count.limit``).
        most_in_flight: how many records of a partition are in flight (``share.partition.max.record.locks``).
        renews: whether members may begin their locks again (``share.renew.acknowledge.enable``).
        is_committed: whether records of aborted transactions are left out (``share.isolation.level``).
        reset: where a new group begins (``share.auto.offset.reset``).
    """

    lock_ms: int = 30_000
    most_deliveries: int = 5
    most_in_flight: int = 2000
    renews: bool = True
    is_committed: bool = False
    reset: str = "latest"


class ShareSettings(GroupProperties):
    """The settings of groups, read again where they can change while the broker runs.

    Args:
        configuration: the broker's.
        of_group: the configurations that are set for a group, by its id.

    Attributes:
        most_sessions: how many share sessions there are (``group.share.max.share.sessions``).
    """

    def __init__(self, configuration: Values, of_group: Callable[[str], Mapping[str, str]]) -> None:
        super().__init__(configuration, of_group, "share")
        self.most_sessions = configuration.integer("group.share.max.share.sessions")

    def of(self, group_id: str) -> ShareRules:
        """The settings of a group as they are now."""
        own = self._of_group(group_id)
        return ShareRules(
            lock_ms=self._of(group_id, "record.lock.duration.ms"),
            most_deliveries=self._of(group_id, "delivery.count.limit"),
            most_in_flight=self._of(group_id, "partition.max.record.locks"),
            renews=own.get("share.renew.acknowledge.enable", "true").strip().lower() == "true",
            is_committed=own.get("share.isolation.level", "").lower() == "read_committed",
            reset=own.get("share.auto.offset.reset", "latest"),
        )


def duration_ms(reset: str) -> int:
    """The milliseconds of ``by_duration:PT1H30M``.

    Raises:
        ValueError: it is no duration.
    """
    return java_duration(reset.removeprefix(_BY_DURATION)) // _NANOSECONDS_OF_MS
