"""Pauses before something is tried again: growing, bounded, and never the same for two clients."""

from __future__ import annotations

import msgspec

_JITTER = 0.2


class Backoff(msgspec.Struct, frozen=True):
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
        return pause * (1 + _JITTER * (2 * chance() - 1))


def chance() -> float:
    """A number from 0 to below 1 that spreads what clients do; no secret."""
    import random  # noqa: PLC0415 slow to import, and nothing is spread before something is connected to

    return random.random()  # noqa: S311 see above
