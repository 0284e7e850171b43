"""A bucket that fills with time and may be overdrawn once (KIP-599)."""

from __future__ import annotations

from math import inf

from kafkawire.broker.quotas.rate import QuotaWindows

__all__ = ["TokenBucket"]


class TokenBucket:
    """Tokens by the rule of Kafka (D15): limit a second come in, up to what all windows would give.

    It is full at first. The limit is given with every call, since it may change in between.
    """

    __slots__ = ("_burst_seconds", "_last_ms", "_tokens")

    def __init__(self, windows: QuotaWindows) -> None:
        self._burst_seconds = windows.samples * windows.window_ms / 1000
        self._tokens = inf
        self._last_ms = 0

    def tokens(self, limit: float, now_ms: int) -> float:
        """How many there are; below zero if more were taken than there were."""
        self._tokens = min(limit * self._burst_seconds, self._tokens + limit * (now_ms - self._last_ms) / 1000)
        self._last_ms = now_ms
        return self._tokens

    def take(self, count: float, limit: float, now_ms: int) -> float:
        """Take tokens, there or not; returns how many are left.

        A negative count gives back, never above what the bucket holds.
        """
        self._tokens = min(limit * self._burst_seconds, self.tokens(limit, now_ms) - count)
        return self._tokens
