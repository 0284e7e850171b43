"""What is known of an API before any of its messages is loaded."""

from __future__ import annotations

import msgspec


class Api(msgspec.Struct, frozen=True):
    """One API of the protocol.

    Attributes:
        key: API key.
        name: Kafka's name, ``CreateTopics``.
        request, response: names of its messages.
        versions: all versions that the messages have.
        unstable_versions: those that are not final.
        listeners: kinds of listener that serve the API in the newest release: ``broker``, ``controller``.
    """

    key: int
    name: str
    request: str
    response: str
    versions: range
    unstable_versions: range
    listeners: tuple[str, ...]

    @property
    def stable_versions(self) -> range:
        """The versions that a client may choose by default; empty if none is final."""
        unstable = self.unstable_versions
        return range(self.versions.start, unstable.start) if unstable else self.versions
