"""What time it is for a broker: the machine's, or one that a test moves."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Two times and a way to wait."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch, for what is stored and told."""

    def seconds(self) -> float:
        """Seconds from an unknown start, for what is measured; never goes back."""

    async def sleep(self, seconds: float) -> None:
        """Wait until so much time has passed on this clock; not at all for zero and less."""


class SystemClock:
    """The machine's own time."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def seconds(self) -> float:
        """The monotonic time."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait, letting others run."""
        await asyncio.sleep(max(0.0, seconds))
