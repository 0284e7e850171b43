"""The facts about an API that are known before any of its messages is loaded."""

from __future__ import annotations

import msgspec


class Api(msgspec.Struct, frozen=True):
    """One API of the protocol.

    Attributes:
        key: API key.
        name: Kafka's name, ``CreateTopics``.
        versions: all versions of its messages.
        unstable_versions: those that are not final.
        listeners: kinds of listener that serve the API in the newest release: ``broker``, ``controller``.
        request, response: names of its messages; if not given, the name of the API and ``Request`` or ``Response``.
    """

    key: int
    name: str
    versions: range
    unstable_versions: range = range(0)
    listeners: tuple[str, ...] = ()
    request: str = ""
    response: str = ""

    def __post_init__(self) -> None:
        """Derive the names of the messages."""
        msgspec.structs.force_setattr(self, "request", self.request or f"{self.name}Request")
        msgspec.structs.force_setattr(self, "response", self.response or f"{self.name}Response")

    @property
    def stable_versions(self) -> range:
        """The versions that a client may choose by default; empty if none is final."""
        unstable = self.unstable_versions
        return range(self.versions.start, unstable.start) if unstable else self.versions
