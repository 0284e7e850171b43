"""Ids for idempotent producers, each assigned once in the life of a cluster."""

from __future__ import annotations

from typing import Final

from kafkawire.broker.controller import Controller
from kafkawire.protocol import ProducerIdsRecord

_BLOCK: Final = 1000


class ProducerIds:
    """Allocates blocks of ids in the metadata log, as Kafka's brokers do (KIP-730).

    Args:
        controller: commits the blocks.
        node_id: of the broker.
    """

    def __init__(self, controller: Controller, node_id: int) -> None:
        self._controller = controller
        self._node_id = node_id
        self._next = 0
        self._end = 0
        self._durable_at = 0

    @property
    def is_durable(self) -> bool:
        """Whether the next id is in a block that would survive a crash, so that no other producer ever gets it."""
        return self._next < self._end and self._controller.log.is_durable(self._durable_at)

    async def prepare(self) -> None:
        """Take a block if none is left, and wait until it would survive a crash.

        Raises:
            StorageError: it could not be written.
        """
        if self._next == self._end:
            self._take_block()
        await self._controller.log.durable(self._durable_at)

    def next(self) -> int:
        """An id that was never assigned before; after a crash it may be again, unless it ``is_durable``.

        Raises:
            StorageError: a new block could not be committed.
        """
        if self._next == self._end:
            self._take_block()
        self._next += 1
        return self._next - 1

    def _take_block(self) -> None:
        image = self._controller.image
        last = image.producer_ids.last
        start = 0 if last is None else last.next_producer_id
        registration = image.registrations.brokers.get(self._node_id)
        epoch = -1 if registration is None else registration.broker_epoch
        self._controller.commit([ProducerIdsRecord(self._node_id, epoch, start + _BLOCK)])
        self._next, self._end = start, start + _BLOCK
        self._durable_at = self._controller.end_offset
