"""Requests in flight, in order: correlation ids, held requests, and abandoned ones."""

from __future__ import annotations

import itertools
import struct
from collections import OrderedDict

import msgspec

from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import BrokenStreamError

LOGIN_IDS = range(2**31 - 8, 2**31)
"""Correlation ids of requests for a login. Ordinary requests never use them, so the two cannot be confused."""

_CORRELATION_ID = struct.Struct(">i")


class PendingAnswer(msgspec.Struct, frozen=True):
    """An expected answer.

    Attributes:
        correlation_id: of the request.
        response: class that reads the answer.
        version: of both.
        is_own: whether it is the connection's own, for the login or the negotiation of versions.
    """

    correlation_id: int
    response: type[Message]
    version: int
    is_own: bool = False

    def __str__(self) -> str:
        return f"{self.response.NAME} v{self.version} (correlation id {self.correlation_id})"


class Pipeline:
    """Answers come in the order of the requests (KIP-219 and earlier), so the pending answers are a queue."""

    def __init__(self) -> None:
        self._ids = itertools.cycle(range(LOGIN_IDS.start))
        self._login_ids = itertools.cycle(LOGIN_IDS)
        self._due: OrderedDict[int, PendingAnswer] = OrderedDict()
        self._held: dict[int, tuple[PendingAnswer, bytes]] = {}
        self._abandoned: dict[int, float] = {}

    def __len__(self) -> int:
        """The number of requests without an answer, held and abandoned ones included."""
        return len(self._due) + len(self._held)

    @property
    def is_drained(self) -> bool:
        """Whether every request that was sent is answered."""
        return not self._due

    @property
    def abandoned(self) -> int:
        """The number of abandoned requests without an answer."""
        return len(self._abandoned)

    @property
    def abandoned_since(self) -> float | None:
        """When the oldest of these was abandoned."""
        return next(iter(self._abandoned.values()), None)

    def next_id(self, *, login: bool = False) -> int:
        """A correlation id."""
        return next(self._login_ids if login else self._ids)

    def expect(self, pending: PendingAnswer) -> None:
        """Expect an answer to a request that is sent now."""
        self._due[pending.correlation_id] = pending

    def hold(self, pending: PendingAnswer, frame: bytes) -> None:
        """Hold a request that is sent later."""
        self._held[pending.correlation_id] = pending, frame

    def release(self) -> list[bytes]:
        """The held frames, in order; they are sent now."""
        held, self._held = self._held, {}
        self._due.update((pending.correlation_id, pending) for pending, _ in held.values())
        return [frame for _, frame in held.values()]

    def abandon(self, correlation_id: int, now: float) -> None:
        """Discard the answer when it comes; a held request is never sent, an answered one is unaffected."""
        if self._held.pop(correlation_id, None) is None and correlation_id in self._due:
            self._abandoned.setdefault(correlation_id, now)

    def answered(self, frame: bytes) -> tuple[PendingAnswer, bool]:
        """The pending answer that a frame completes, and whether the caller still waits for it.

        Raises:
            BrokenStreamError: if it is not the expected answer.
        """
        if len(frame) < _CORRELATION_ID.size:
            raise BrokenStreamError(f"an answer of {len(frame)} bytes is too short for a correlation id")
        (correlation_id,) = _CORRELATION_ID.unpack_from(frame)
        if not self._due:
            raise BrokenStreamError(f"unexpected answer with correlation id {correlation_id}: no request is in flight")
        pending = next(iter(self._due.values()))
        if pending.correlation_id != correlation_id:
            raise BrokenStreamError(f"expected {pending}, got an answer with correlation id {correlation_id}")
        del self._due[correlation_id]
        return pending, self._abandoned.pop(correlation_id, None) is None

    def give_up(self) -> list[PendingAnswer]:
        """Forget all requests; returns the pending answers that callers wait for."""
        answers = [*self._due.values(), *(pending for pending, _ in self._held.values())]
        waited_for = [
            pending for pending in answers if not pending.is_own and pending.correlation_id not in self._abandoned
        ]
        self._due.clear()
        self._held.clear()
        self._abandoned.clear()
        return waited_for
