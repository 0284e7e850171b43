"""Warnings about clients that need features that this broker does not have."""

from __future__ import annotations

import logging
from typing import Final

from kafkawire.broker.requests import Call

_log = logging.getLogger(__name__)
_MOST_REMEMBERED: Final = 1000


class ClientWarnings:
    """Logs one WARNING for each client and feature, however often the client tries."""

    def __init__(self) -> None:
        self._warned: dict[tuple[str, str, str, str], None] = {}

    def warn(self, call: Call, wanted: str, advice: str) -> None:
        """Log that a client needs a feature, unless that was logged before.

        Args:
            call: has the client.
            wanted: the feature, ``"to join a group"``.
            advice: what users can do about it.
        """
        session = call.session
        client = (call.client_id, session.software, session.host, wanted)
        if client in self._warned:
            return
        if len(self._warned) >= _MOST_REMEMBERED:
            del self._warned[next(iter(self._warned))]
        self._warned[client] = None
        software = session.software or "unknown software"
        _log.warning("Client %r (%s) at %s wants %s. %s", call.client_id, software, session.host, wanted, advice)
