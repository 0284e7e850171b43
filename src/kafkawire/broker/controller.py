"""The one place through which the state of a cluster changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.wire import Message

__all__ = ["MAXIMUM_RECORDS", "Controller", "TooManyRecordsError"]

MAXIMUM_RECORDS: Final = 10_000
"""The most records that one request may make."""

Subscriber: TypeAlias = Callable[[Message], None]


class TooManyRecordsError(Exception):
    """A request would make more records than one may; nothing of it was done."""


class Controller:
    """Turns records into log and state.

    What was committed is in the image at once and durable later. A broker therefore sends each answer only when
    everything that the answer can know of is durable: ``end_offset`` at the time it was made.

    Args:
        log: where records go.
        image: the state that the log amounts to so far.

    Attributes:
        image: the state; only records change it.
        turn: held by who looks at the state in several slices of time in order to change it, so that nothing comes in
            between, and by all who change the same things.
    """

    def __init__(self, log: MetadataLog, image: MetadataImage) -> None:
        self.image = image
        self.turn = asyncio.Lock()
        self._log = log
        self._subscribers: list[Subscriber] = []
        self._subscribers_to_commits: list[Callable[[Sequence[Message]], None]] = []

    def commit(self, records: Sequence[Message]) -> None:
        """Make a change, all of it or nothing.

        Raises:
            TooManyRecordsError: for more than ``MAXIMUM_RECORDS``.
            EncodeError: a record cannot be written.
            StorageError: the log takes nothing more.
        """
        if len(records) > MAXIMUM_RECORDS:
            raise TooManyRecordsError(f"{len(records)} records in one request, {MAXIMUM_RECORDS} are allowed")
        if not records:
            return
        self._log.append(records)
        for record in records:
            self.image.apply(record)
            for subscriber in self._subscribers:
                subscriber(record)
        for subscriber_to_commits in self._subscribers_to_commits:
            subscriber_to_commits(records)
        if self._log.snapshot_is_due:
            self._log.take_snapshot(self.image.records())

    def subscribe(self, subscriber: Subscriber) -> None:
        """Have a function called with every record that is committed from now on, after it is in the image."""
        self._subscribers.append(subscriber)

    def subscribe_to_commits(self, subscriber: Callable[[Sequence[Message]], None]) -> None:
        """Have a function called after each commit from now on, with all its records."""
        self._subscribers_to_commits.append(subscriber)

    @property
    def end_offset(self) -> int:
        """The offset behind the last record."""
        return self._log.end_offset

    def is_durable(self, offset: int) -> bool:
        """Whether all records below an offset would survive a crash."""
        return self._log.is_durable(offset)

    async def durable(self, offset: int) -> None:
        """Wait until they do.

        Raises:
            StorageError: they could not be written.
        """
        await self._log.durable(offset)
