"""Quotas on rates: bytes produced, bytes fetched, and the time of requests (D12 to D14)."""

from __future__ import annotations

from math import floor, inf
from typing import Final

from kafkawire.broker.clock import Clock
from kafkawire.broker.plugins.client_quota_callback import ClientQuotaCallback, ClientQuotaType
from kafkawire.broker.quotas.buckets import Bucket, Buckets
from kafkawire.broker.quotas.rate import QuotaWindows, Rate
from kafkawire.broker.sessions import Session

_PER_CENT: Final = 100.0


def throttle_ms(rate: Rate, limit: float, now_ms: int) -> int:
    """How long to wait until a rate falls to its limit; 0 if it is not above it."""
    measured = rate.measure(now_ms)
    if not measured > limit:  # NaN is no limit
        return 0
    return floor((measured - limit) / limit * rate.span_ms(now_ms) + 0.5)


class _MeasuredRates:
    """A quota on a rate.

    Args:
        quota_type: which.
        callback: decides the tags and limits of buckets.
        windows: of the measurement.
        clock: the broker's.

    Attributes:
        enabled: whether there is any quota of this type; without one nothing is measured.
    """

    def __init__(
        self, quota_type: ClientQuotaType, callback: ClientQuotaCallback, windows: QuotaWindows, clock: Clock
    ) -> None:
        self.enabled = False
        self.buckets: Buckets[Rate] = Buckets(quota_type, callback, Rate, windows, clock)
        self._windows = windows

    def _record(self, session: Session, client_id: str, value: float, most_ms: int | None = None) -> int:
        bucket = self.buckets.of(session, client_id) if self.enabled else None
        if bucket is None:
            return 0
        now_ms = self.buckets.now_ms()
        bucket.meter.record(value, now_ms)
        wait_ms = throttle_ms(bucket.meter, bucket.limit, now_ms)
        if most_ms is not None:
            wait_ms = min(wait_ms, most_ms)
        self.buckets.note_throttle(bucket, wait_ms)
        return wait_ms


class ByteRates(_MeasuredRates):
    """Bytes that clients send or fetch."""

    def record(self, session: Session, client_id: str, size: int) -> int:
        """Count bytes.

        Args:
            session, client_id: of the client.
            size: the bytes of a produce request, or of the response to a fetch.

        Returns:
            Milliseconds for which the client is to be throttled; 0 within its quota.
        """
        return self._record(session, client_id, size)

    def unrecord(self, session: Session, client_id: str, size: int) -> None:
        """Uncount bytes that are not sent after all, because the client gets an empty response (D14)."""
        bucket = self.buckets.of(session, client_id) if self.enabled else None
        if bucket is not None:
            bucket.meter.record(-size, self.buckets.now_ms())

    def most(self, session: Session, client_id: str) -> float:
        """The most bytes of one fetch; infinite if there is no limit (D14)."""
        bucket: Bucket[Rate] | None = self.buckets.of(session, client_id) if self.enabled else None
        if bucket is None:
            return inf
        return bucket.limit * (self._windows.samples - 1) * self._windows.window_ms / 1000


class RequestTimes(_MeasuredRates):
    """The time that the broker spends on requests, in percent of one thread (D13)."""

    def record(self, session: Session, client_id: str, seconds: float) -> int:
        """Count time spent.

        Args:
            session, client_id: of the client.
            seconds: how long.

        Returns:
            Milliseconds for which the client is to be throttled, a window at most; 0 within its quota.
        """
        return self._record(session, client_id, seconds * _PER_CENT, self._windows.window_ms)
