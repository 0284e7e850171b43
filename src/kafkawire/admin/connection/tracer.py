"""Notes the requests of one connection for an observer."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import msgspec

from kafkawire.admin.connection.pipeline import PendingAnswer
from kafkawire.admin.observed_requests import ObservedRequest, Observer
from kafkawire.protocol.errors import error_of
from kafkawire.rpc import FRAME_HEAD
from kafkawire.wire import Message

_log = logging.getLogger(__name__)

GIVEN_UP = "GivenUp"
"""What is reported of a request that the client does not wait for any more."""


class _Sent(msgspec.Struct, frozen=True):
    pending: PendingAnswer
    size: int
    at: float


class RequestTracer:
    """The requests of a connection that have not ended, and the observer that sees them end.

    Args:
        observer: sees each request.
        address: of the connection.
        node_id: of the node that is expected there; None at a bootstrap address.
    """

    def __init__(self, observer: Observer, address: str, node_id: int | None) -> None:
        self._observer = observer
        self._address = address
        self._node_id = node_id
        self._sent: dict[int, _Sent] = {}

    def sent(self, pending: PendingAnswer, frame: bytes, now: float) -> None:
        """A request leaves, or waits for a login to be renewed."""
        self._sent[pending.correlation_id] = _Sent(pending, len(frame), now)

    def answered(self, pending: PendingAnswer, response: Message, frame: bytes, now: float) -> None:
        """An answer came."""
        size = len(frame) + FRAME_HEAD.size
        self._ended(pending.correlation_id, size, tuple(dict.fromkeys(_errors_in(response))), now)

    def given_up(self, correlation_id: int, now: float) -> None:
        """The client does not wait for an answer any more."""
        self._ended(correlation_id, 0, (GIVEN_UP,), now)

    def closed(self, error: Exception | None, now: float) -> None:
        """The connection has ended, and with it each request that has no answer."""
        for correlation_id in [*self._sent]:
            self._ended(correlation_id, 0, (GIVEN_UP if error is None else type(error).__name__,), now)

    def _ended(self, correlation_id: int, received: int, errors: tuple[str, ...], now: float) -> None:
        sent = self._sent.pop(correlation_id, None)
        if sent is None:  # it was given up before
            return
        request = ObservedRequest(
            api=sent.pending.response.NAME.removesuffix("Response"),
            version=sent.pending.version,
            address=self._address,
            node_id=self._node_id,
            sent_bytes=sent.size,
            received_bytes=received,
            seconds=max(0.0, now - sent.at),
            errors=errors,
        )
        try:
            self._observer(request)
        except Exception:  # noqa: BLE001 whatever a function of the user raises
            _log.exception("the observer of the client failed at a request of %s", request.api)


def _errors_in(value: object) -> Iterator[str]:
    """The names of errors in a response and in the structs of its lists, as deep as its definition is."""
    if isinstance(value, msgspec.Struct):
        code = getattr(value, "error_code", 0)
        if code:
            yield error_of(code, None).NAME
        for name in value.__struct_fields__:
            each = getattr(value, name)
            if isinstance(each, (msgspec.Struct, list, tuple)):
                yield from _errors_in(each)
    elif isinstance(value, (list, tuple)) and value and isinstance(value[0], msgspec.Struct):
        for each in value:
            yield from _errors_in(each)
