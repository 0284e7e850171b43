"""The controller: the only place that changes the state of the cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.wire import Message

MAXIMUM_RECORDS: Final = 10_000
"""The most records that one request may commit."""

TOO_LARGE_BATCH: Final = "Unable to perform excessively large batch operation."
"""Kafka's message for a request with more records."""

Subscriber: TypeAlias = Callable[[Message], None]


class TooManyRecordsError(Exception):
    """A request would commit more records than one may; none was committed."""


class Controller:
    """Appends records to the log and applies them to the state.

    A committed record is in the image at once and durable later. The broker therefore sends a response only after every
    record that the response can depend on is fsynced: all below the ``end_offset`` at the time it was made.

    Args:
        log: stores the records.
        image: the state after the records that the log has so far.

    Attributes:
        image: the state; only records change it.
        leader_epoch: of the metadata log since the node leads it.
        log: stores the records.
        turn: a lock for requests that read the state in several slices of time before they change it, and for all
            requests that change the same part.
    """

    def __init__(self, log: MetadataLog, image: MetadataImage) -> None:
        self.image = image
        self.leader_epoch = 0
        self.turn = asyncio.Lock()
        self.log = log
        self._subscribers: list[Subscriber] = []
        self._subscribers_to_commits: list[Callable[[Sequence[Message]], None]] = []

    def commit(self, records: Sequence[Message]) -> None:
        """Append records and apply them, all or none.

        Raises:
            TooManyRecordsError: for more than ``MAXIMUM_RECORDS``.
            EncodeError: a record cannot be encoded.
            StorageError: the log has failed before.
        """
        if len(records) > MAXIMUM_RECORDS:
            raise TooManyRecordsError(f"{len(records)} records in one request, {MAXIMUM_RECORDS} are allowed")
        if not records:
            return
        self.log.append(records)
        for record in records:
            self.image.apply(record)
            for subscriber in self._subscribers:
                subscriber(record)
        for subscriber_to_commits in self._subscribers_to_commits:
            subscriber_to_commits(records)
        if self.log.snapshot_is_due:
            self.log.take_snapshot(self.image.records())

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call a function with each record committed from now on, after it is in the image."""
        self._subscribers.append(subscriber)

    def subscribe_to_commits(self, subscriber: Callable[[Sequence[Message]], None]) -> None:
        """Call a function after each commit from now on, with all its records."""
        self._subscribers_to_commits.append(subscriber)

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self.log.end_offset
