"""Requests and the answers that are due, in order: correlation ids, what waits, what nobody waits for any more."""

from __future__ import annotations

import itertools
import struct
from collections import OrderedDict

import msgspec

from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import BrokenStreamError

LOGIN_IDS = range(2**31 - 8, 2**31)
"""Correlation ids of requests for a login. Ordinary requests never have them, so neither is taken for the other."""

_CORRELATION_ID = struct.Struct(">i")


class Slot(msgspec.Struct, frozen=True):
    """An answer that is due.

    Attributes:
        correlation_id: of the request.
        response: class of the answer.
        version: of both.
        is_own: whether the connection itself asked, for its login or its negotiation.
    """

    correlation_id: int
    response: type[Message]
    version: int
    is_own: bool = False

    def __str__(self) -> str:
        return f"{self.response.NAME} v{self.version} (correlation id {self.correlation_id})"


class Pipeline:
    """Answers come in the order of the requests (KIP-219 and earlier), so the slots are a queue."""

    def __init__(self) -> None:
        self._ids = itertools.cycle(range(LOGIN_IDS.start))
        self._login_ids = itertools.cycle(LOGIN_IDS)
        self._due: OrderedDict[int, Slot] = OrderedDict()
        self._held: dict[int, tuple[Slot, bytes]] = {}
        self._abandoned: dict[int, float] = {}

    def __len__(self) -> int:
        """How many answers are due or will be: abandoned ones count, for the broker works on them."""
        return len(self._due) + len(self._held)

    @property
    def is_drained(self) -> bool:
        """Whether everything that was sent is answered."""
        return not self._due

    @property
    def abandoned(self) -> int:
        """How many of the answers that are due nobody waits for."""
        return len(self._abandoned)

    @property
    def abandoned_since(self) -> float | None:
        """When the oldest of them was abandoned."""
        return next(iter(self._abandoned.values()), None)

    def next_id(self, *, login: bool = False) -> int:
        """A correlation id."""
        return next(self._login_ids if login else self._ids)

    def expect(self, slot: Slot) -> None:
        """Its request goes out now."""
        self._due[slot.correlation_id] = slot

    def hold(self, slot: Slot, frame: bytes) -> None:
        """Its request goes out later."""
        self._held[slot.correlation_id] = slot, frame

    def release(self) -> list[bytes]:
        """The frames that were held, in order; they go out now."""
        held, self._held = self._held, {}
        self._due.update((slot.correlation_id, slot) for slot, _ in held.values())
        return [frame for _, frame in held.values()]

    def abandon(self, correlation_id: int, now: float) -> None:
        """Nobody waits for the answer any more; one that was held is never sent, one that came is no matter."""
        if self._held.pop(correlation_id, None) is None and correlation_id in self._due:
            self._abandoned.setdefault(correlation_id, now)

    def answered(self, frame: bytes) -> tuple[Slot, bool]:
        """The slot that a frame fills, and whether somebody waits for it.

        Raises:
            BrokenStreamError: if it is not the answer that is due.
        """
        if len(frame) < _CORRELATION_ID.size:
            raise BrokenStreamError(f"an answer of {len(frame)} bytes has no correlation id")
        (correlation_id,) = _CORRELATION_ID.unpack_from(frame)
        if not self._due:
            raise BrokenStreamError(f"an answer with correlation id {correlation_id} came, and none was due")
        slot = next(iter(self._due.values()))
        if slot.correlation_id != correlation_id:
            raise BrokenStreamError(f"an answer with correlation id {correlation_id} came, and due was {slot}")
        del self._due[correlation_id]
        return slot, self._abandoned.pop(correlation_id, None) is None

    def give_up(self) -> list[Slot]:
        """Forget everything; gives the slots that somebody waits for."""
        slots = [*self._due.values(), *(slot for slot, _ in self._held.values())]
        waited_for = [slot for slot in slots if not slot.is_own and slot.correlation_id not in self._abandoned]
        self._due.clear()
        self._held.clear()
        self._abandoned.clear()
        return waited_for
