"""Which producer ids are given out."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.protocol import ProducerIdsRecord
from kafkawire.wire import Message

__all__ = ["ProducerIdsImage"]


class ProducerIdsImage:
    """The next producer id.

    Attributes:
        last: the record that gave out the last block; None before the first one.
    """

    def __init__(self) -> None:
        self.last: ProducerIdsRecord | None = None

    def apply(self, record: ProducerIdsRecord) -> None:
        """A block of ids is given out."""
        self.last = record

    def records(self) -> Iterator[Message]:
        """The record that remembers it."""
        if self.last is not None:
            yield self.last
