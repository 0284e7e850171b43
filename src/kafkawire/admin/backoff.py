"""Pauses before something is tried again: growing, bounded, and never the same for two clients."""

from __future__ import annotations

import random
from dataclasses import dataclass

_JITTER = 0.2


@dataclass(frozen=True, slots=True)
class Backoff:
    """An exponential pause with jitter of a fifth, as Kafka's clients have it.

    Attributes:
        first: seconds before the first retry.
        maximum: seconds that no pause exceeds but for its jitter.
    """

    first: float
    maximum: float

    def seconds(self, failures: int) -> float:
        """The pause after so many failures, counted from 1."""
        # The exponent is bounded: a power of a huge number of failures is no float any more.
        pause: float = min(self.maximum, self.first * 2.0 ** min(failures - 1, 32))
        return pause * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 spreads clients, no secret
