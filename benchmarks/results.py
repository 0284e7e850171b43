"""What a benchmark yields, and how it is judged."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

OURS = "kafkawire"
KIO = "kio"
KAFKA_PYTHON = "kafka-python"
CONFLUENT = "confluent-kafka"
AIOKAFKA = "aiokafka"
JAVA = "Java"
KAFKA = "Apache Kafka"
PEERS = (KIO, KAFKA_PYTHON)
"""Whom codecs are compared with."""

ADMIN_PEERS = (KAFKA_PYTHON, CONFLUENT, AIOKAFKA, JAVA)
"""Whom the admin client is compared with; ``JAVA`` is Kafka's own Admin, and its time is taken in its own process."""


class DisagreementError(Exception):
    """A peer reads or writes other bytes than we do: a comparison of the times would mean nothing."""


@dataclass(frozen=True)
class Spread:
    """A median and the quartiles around it."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Target:
    """What a measurement has to reach.

    Attributes:
        peer: whom the speed is compared with; None if ``bound`` is a time.
        bound: least speed-up over the peer, or most seconds.
    """

    peer: str | None
    bound: float


@dataclass(frozen=True)
class Measurement:
    """One thing measured.

    Attributes:
        kind: what was done, ``decode``, ``encode``, ``import`` ...; a section of the page.
        case: what it was done with.
        seconds: time for one call in each round, by contender; round i of one ran right beside round i of the others.
        targets: what is to be reached.
        notes: what a reader must know of the peers here.
    """

    kind: str
    case: str
    seconds: Mapping[str, tuple[float, ...]]
    targets: tuple[Target, ...] = ()
    notes: tuple[str, ...] = ()

    def time(self, contender: str) -> Spread:
        """Seconds that one call takes."""
        return spread(self.seconds[contender])

    def speed_up(self, peer: str) -> Spread:
        """How many times as fast as the peer, from the rounds pair by pair."""
        pairs = zip(self.seconds[peer], self.seconds[OURS], strict=True)
        return spread([theirs / ours for theirs, ours in pairs])

    def reaches(self, target: Target) -> bool | None:
        """Whether the median reaches a target; None if the peer was not measured."""
        if target.peer is None:
            return self.time(OURS).median <= target.bound
        if target.peer not in self.seconds:
            return None
        return self.speed_up(target.peer).median >= target.bound

    def missed(self) -> list[Target]:
        """The targets that are not reached."""
        return [target for target in self.targets if self.reaches(target) is False]


def spread(values: list[float] | tuple[float, ...]) -> Spread:
    """Median and quartiles."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)
