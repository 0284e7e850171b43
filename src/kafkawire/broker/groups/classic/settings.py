"""The broker's properties for classic groups."""

from __future__ import annotations

from typing import Final, Self

from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.wire.message import Struct

NEW_MEMBER_TIMEOUT: Final = 300.0
"""Seconds that a new member may wait for its first rebalance: its client may be gone, or else it joins again."""


class GroupSettings(Struct, frozen=True):
    """The broker's properties for classic groups, with Kafka's defaults.

    Attributes:
        initial_delay_ms: how long the first members of a group wait for more (``group.initial.rebalance.delay.ms``).
        session_ms: the session timeouts that members may have (``group.min.session.timeout.ms`` and ``.max``).
        most_members: of a group (``group.max.size``).
        most_record_bytes: of the record of a group (``message.max.bytes``).
        most_bytes: of the names, subscriptions and other metadata of all members of all groups.
        most_pending: ids of a group that clients got and have not joined with; the oldest are forgotten.
    """

    initial_delay_ms: int = 3000
    session_ms: range = range(6000, 1_800_001)
    most_members: int = (1 << 31) - 1
    most_record_bytes: int = 1_048_588
    most_bytes: int = 64 << 20
    most_pending: int = 10_000

    @classmethod
    def of(cls, configuration: Values) -> Self:
        """The settings in the properties of a broker."""
        lowest = configuration.integer("group.min.session.timeout.ms")
        return cls(
            configuration.integer("group.initial.rebalance.delay.ms"),
            range(lowest, configuration.integer("group.max.session.timeout.ms") + 1),
            configuration.integer("group.max.size"),
            configuration.integer("message.max.bytes"),
        )
