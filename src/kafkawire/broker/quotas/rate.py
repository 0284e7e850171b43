"""A rate per second and an average, measured in windows as Kafka's metrics do."""

from __future__ import annotations

from typing import Final

from kafkawire.wire.message import Struct


class QuotaWindows(Struct, frozen=True, gc=False):
    """The windows of a measurement.

    Attributes:
        samples: how many windows count, with the current one (``quota.window.num``).
        window_ms: milliseconds of a window (``quota.window.size.seconds``).
    """

    samples: int = 11
    window_ms: int = 1000


DEFAULT_WINDOWS: Final = QuotaWindows()
"""Kafka's default: the last eleven seconds."""

METRIC_WINDOWS: Final = QuotaWindows(2, 30_000)
"""Those of Kafka's metrics that limit nothing: ``mutation-rate``, since tokens limit, and ``throttle-time``."""


class _Sample:
    __slots__ = ("count", "last_event_ms", "start_ms", "value")

    def __init__(self, now_ms: int) -> None:
        self.restart(now_ms)

    def restart(self, now_ms: int) -> None:
        self.value = 0.0
        self.count = 0
        self.start_ms = self.last_event_ms = now_ms


class _Samples:
    """Recorded values of the last windows.

    A sample begins with its first value, and counts until its last value is older than all windows together: so there
    is one sample more than there are windows (D12).
    """

    __slots__ = ("_current", "_samples", "_windows")

    def __init__(self, windows: QuotaWindows) -> None:
        self._windows = windows
        self._samples: list[_Sample] = []
        self._current = 0

    def record(self, value: float, now_ms: int) -> None:
        """Add a value."""
        if not self._samples:
            self._samples.append(_Sample(now_ms))
        sample = self._samples[self._current]
        if now_ms - sample.start_ms >= self._windows.window_ms:
            sample = self._next(now_ms)
        sample.value += value
        sample.count += 1
        sample.last_event_ms = now_ms

    def _restart_old(self, now_ms: int) -> None:
        oldest = self._windows.samples * self._windows.window_ms
        for sample in self._samples:
            if now_ms - sample.last_event_ms >= oldest:
                sample.restart(now_ms)

    def _next(self, now_ms: int) -> _Sample:
        self._current = (self._current + 1) % (self._windows.samples + 1)
        if self._current == len(self._samples):
            self._samples.append(_Sample(now_ms))
        sample = self._samples[self._current]
        sample.restart(now_ms)
        return sample


class Rate(_Samples):
    """The rate of recorded values per second."""

    __slots__ = ()

    def measure(self, now_ms: int) -> float:
        """Values per second."""
        span = self.span_ms(now_ms)
        return sum(sample.value for sample in self._samples) / (span / 1000)

    def span_ms(self, now_ms: int) -> int:
        """The measured time in milliseconds, at least all windows except one, so that a first burst counts little."""
        self._restart_old(now_ms)
        window = self._windows.window_ms
        elapsed = now_ms - min((sample.start_ms for sample in self._samples), default=now_ms)
        missing = self._windows.samples - 1 - elapsed // window
        return max(1, elapsed + missing * window if missing > 0 else elapsed)


class Average(_Samples):
    """The average of recorded values."""

    __slots__ = ()

    def measure(self, now_ms: int) -> float:
        """The average; 0 if nothing was recorded."""
        self._restart_old(now_ms)
        count = sum(sample.count for sample in self._samples)
        return sum(sample.value for sample in self._samples) / count if count else 0.0
