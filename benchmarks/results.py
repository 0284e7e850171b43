"""The results of a benchmark, and their targets."""

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
"""The peers of the codecs."""

GENERATED = "generated Python"
MSGPACK = "msgspec's MessagePack"
COPY = "the copy alone"
FLOORS = (GENERATED, JAVA, MSGPACK, COPY)
"""What shows how much is left to gain: the same messages without the native engine, by Kafka's own classes, in another
format, or copied."""

ADMIN_PEERS = (KAFKA_PYTHON, CONFLUENT, AIOKAFKA, JAVA)
"""The peers of the admin client; ``JAVA`` is Kafka's own Admin, whose time is taken in its own process."""


class DisagreementError(Exception):
    """A peer reads or writes other bytes than kafkawire, so their times cannot be compared."""


@dataclass(frozen=True)
class Spread:
    """A median and the quartiles around it."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Target:
    """A target of a measurement.

    Attributes:
        peer: the peer of the speed-up; None if ``bound`` is a time.
        bound: least speed-up over the peer, or most seconds.
    """

    peer: str | None
    bound: float


@dataclass(frozen=True)
class Measurement:
    """The result of one case.

    Attributes:
        kind: section of the page: ``decode``, ``encode``, ``import`` ...
        case: the message or input.
        seconds: time of one call in each round, by contender; the contenders took turns in each round.
        targets: the targets of the case.
        notes: facts about the peers in this case, for the reader.
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
        """The peer's time divided by ours, computed for each round."""
        pairs = zip(self.seconds[peer], self.seconds[OURS], strict=True)
        return spread([theirs / ours for theirs, ours in pairs])

    def reaches(self, target: Target) -> bool | None:
        """Whether the median meets a target; None if the peer was not measured."""
        if target.peer is None:
            return self.time(OURS).median <= target.bound
        if target.peer not in self.seconds:
            return None
        return self.speed_up(target.peer).median >= target.bound

    def missed(self) -> list[Target]:
        """The targets that are not met."""
        return [target for target in self.targets if self.reaches(target) is False]


@dataclass(frozen=True)
class Alone(Measurement):
    """The result of a case without peers, with the memory that it takes.

    Attributes:
        peak: the most bytes of any round, as ``memory`` of the section says; None if it is not measured.
    """

    peak: int | None = None


def spread(values: list[float] | tuple[float, ...]) -> Spread:
    """Median and quartiles."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)
