"""The time that the broker spends on a request."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Any, Generic, TypeVar

from kafkawire.broker.clock import Clock
from kafkawire.broker.quotas.measured_rates import RequestTimes
from kafkawire.broker.requests import RequestTime
from kafkawire.broker.sessions import Session

T = TypeVar("T")


class MeasuredTime(RequestTime):
    """Measures the time since it was made, without the time for which the handler waits (D13).

    Args:
        times: the quota.
        session, client_id: of the client.
        clock: the broker's.
    """

    __slots__ = ("_client_id", "_clock", "_session", "_spent", "_started", "_throttle_ms", "_times")

    def __init__(self, times: RequestTimes, session: Session, client_id: str, clock: Clock) -> None:
        self._times = times
        self._session = session
        self._client_id = client_id
        self._clock = clock
        self._spent = 0.0
        self._started = clock.seconds()
        self._throttle_ms: int | None = None

    def throttle_time_ms(self) -> int:
        """For how long the client is throttled; later time is not counted."""
        if self._throttle_ms is None:
            self.pause()
            self._throttle_ms = self._times.record(self._session, self._client_id, self._spent)
        return self._throttle_ms

    def pause(self) -> None:
        """Stop the measurement, because the handler waits."""
        self._spent += self._clock.seconds() - self._started

    def resume(self) -> None:
        """Continue the measurement."""
        self._started = self._clock.seconds()

    def of(self, awaitable: Awaitable[T]) -> Awaitable[T]:
        """The same awaitable, measured only while it runs."""
        return _Measured(awaitable, self)


class _Measured(Generic[T]):
    def __init__(self, awaitable: Awaitable[T], time: MeasuredTime) -> None:
        self._awaitable = awaitable
        self._time = time

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self._awaitable.__await__()
        try:
            awaited = next(steps)
            while True:
                self._time.pause()
                try:
                    sent = yield awaited
                except BaseException as error:  # noqa: BLE001 - handed on, cancellation too
                    self._time.resume()
                    awaited = steps.throw(error)
                else:
                    self._time.resume()
                    awaited = steps.send(sent)
        except StopIteration as done:
            result: T = done.value
            return result
