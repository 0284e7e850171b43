"""Pauses before retries: growing, bounded, and different for each client."""

from __future__ import annotations

import os

import msgspec

_JITTER = 0.2


class Backoff(msgspec.Struct, frozen=True):
    """An exponential pause with a jitter of 20 %, as in Kafka's clients.

    Attributes:
        first: seconds before the first retry.
        maximum: the longest pause in seconds, without its jitter.
    """

    first: float
    maximum: float

    def seconds(self, failures: int) -> float:
        """The pause after a number of failures in a row, in seconds."""
        # The exponent is bounded: a power of a huge number of failures is no float any more.
        pause: float = min(self.maximum, self.first * 2.0 ** min(failures - 1, 32))
        return pause * (1 + _JITTER * (2 * chance() - 1))


def chance() -> float:
    """A random number from 0 to below 1 that makes clients act at different times."""
    return int.from_bytes(os.urandom(4)) / 2**32  # the module `random` takes 1 ms to import
