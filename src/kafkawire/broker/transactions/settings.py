"""The broker's properties for transactions."""

from __future__ import annotations

from typing import Self

from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.wire.message import Struct


class TransactionSettings(Struct, frozen=True):
    """The broker's properties for transactions, with Kafka's defaults.

    Attributes:
        longest_ms: the longest timeout of a transaction (``transaction.max.timeout.ms``).
        look_every_ms: after how long timeouts are checked again
            (``transaction.abort.timed.out.transaction.cleanup.interval.ms``).
        expire_after_ms: how long an unused transactional id stays (``transactional.id.expiration.ms``).
        remove_every_ms: after how long unused ids are searched again
            (``transaction.remove.expired.transaction.cleanup.interval.ms``).
        most_bytes: of all transactional ids and their partitions in memory.
        most_partitions: of a transaction.
    """

    longest_ms: int = 900_000
    look_every_ms: int = 10_000
    expire_after_ms: int = 604_800_000
    remove_every_ms: int = 3_600_000
    most_bytes: int = 64 << 20
    most_partitions: int = 10_000

    @classmethod
    def of(cls, configuration: Values) -> Self:
        """The settings in the properties of a broker."""
        return cls(
            configuration.integer("transaction.max.timeout.ms"),
            configuration.integer("transaction.abort.timed.out.transaction.cleanup.interval.ms"),
            configuration.integer("transactional.id.expiration.ms"),
            configuration.integer("transaction.remove.expired.transaction.cleanup.interval.ms"),
        )
