"""Tables of Kafka's logs read by Spark, beside the plain functions, tuples, and kafka-dump-log."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.apache_spark.prerequisites import require_spark

from benchmarks import logs
from benchmarks.results import KAFKA, OURS, DisagreementError, Measurement, Target
from benchmarks.sampling import Call, Waiting, interleave_waiting
from kafkawire.logs import read_table

TABLE = "offset_commit"
READY = "ready"
"""What the process with Spark prints when it can be asked."""

PLAIN = "without Spark"
TUPLES = "tuples"
ONE_CORE = "local[1]"
TWO_CORES = "local[2]"
SPARK_PEERS = (PLAIN, TUPLES, ONE_CORE, KAFKA)
"""Whom a reading with Spark is compared with."""

MEMORY_GROWTH = 1.2
"""The most that a worker may take for four times the input, as a share of what it takes for the input."""


@dataclass(frozen=True)
class Load:
    """How much is read.

    Attributes:
        segment: size of a segment of commits, in bytes.
        partitions: how many such segments there are, each in a partition of its own.
    """

    segment: int = 62 * 1024 * 1024
    partitions: int = 5


SMALL = Load(segment=60_000, partitions=2)
"""For trying out the benchmark itself."""


@dataclass(frozen=True)
class WorkerMemory:
    """What a Python worker takes at most, in bytes.

    Attributes:
        size: of the input.
        peak: resident, of the worker that took most.
    """

    size: int
    peak: int


def run(rounds: int, load: Load) -> Iterator[Measurement]:
    """Measure times."""
    require_spark()
    with tempfile.TemporaryDirectory() as work:
        folder = write_logs(Path(work), load)
        segments = sorted(folder.glob("*/*.log"))
        size = f"{sum(file.stat().st_size for file in segments) / 1e6:.0f} MB in {len(segments)} partitions"
        with _session(ONE_CORE, folder) as one, _session(TWO_CORES, folder) as two:
            yield _measurement(
                f"one core, Arrow beside tuples: {size}", one, {TUPLES: one.timed(TUPLES)}, rounds, {TUPLES: 1.6}
            )
            yield _measurement(f"one core: {size}", one, {PLAIN: partial(_plain, folder)}, rounds, {PLAIN: 0.8})
            with logs.dump_log(segments) as dump:
                peers: dict[str, Call | Waiting] = {
                    ONE_CORE: one.timed("arrow"),
                    PLAIN: partial(_plain, folder),
                    KAFKA: dump,
                }
                yield _measurement(f"two cores: {size}", two, peers, rounds, {ONE_CORE: 1.4, PLAIN: 1.3, KAFKA: 1.5})


def memory(load: Load) -> list[WorkerMemory]:
    """What workers take for some input, and for four times as much."""
    found = []
    for times in (1, 4):
        with tempfile.TemporaryDirectory() as work:
            folder = write_logs(Path(work), Load(load.segment, times * max(load.partitions // 4, 1)))
            size = sum(file.stat().st_size for file in folder.glob("*/*.log"))
            with _session(TWO_CORES, folder) as session:
                found.append(WorkerMemory(size, int(session.ask("memory"))))
    return found


def write_logs(work: Path, load: Load) -> Path:
    """A folder with partitions of a coordinator's topic, whose segments are the same bytes."""
    segment = logs.write_commits(work / "made", logs.Load(size=load.segment))
    for number in range(load.partitions):
        folder = work / "logs" / f"__consumer_offsets-{number}"
        folder.mkdir(parents=True)
        os.link(segment, folder / segment.name)
    return work / "logs"


class Session:
    """A process with a Spark session."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, form: str) -> str:
        """Have it read, and hear what it says of that.

        Raises:
            DisagreementError: the process has ended.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(f"{form}\n")
        self._process.stdin.flush()
        return self.hear()

    def hear(self) -> str:
        """The next line that it prints.

        Raises:
            DisagreementError: the process has ended.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            raise DisagreementError("the process with Spark has ended")
        return line

    def timed(self, form: str) -> Waiting:
        """A contender that reads, as Arrow's batches or as tuples."""
        return Waiting(lambda: float(self.ask(form)))


def _measurement(
    case: str, session: Session, peers: Mapping[str, Call | Waiting], rounds: int, least: Mapping[str, float]
) -> Measurement:
    seconds = interleave_waiting({OURS: session.timed("arrow"), **peers}, rounds)
    return Measurement("spark", case, seconds, tuple(Target(peer, bound) for peer, bound in least.items()))


@contextmanager
def _session(master: str, folder: Path) -> Iterator[Session]:
    command = [sys.executable, "-m", "benchmarks.spark_program", master, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        session = Session(process)
        if session.hear() != READY:
            raise DisagreementError("the process with Spark does not start")
        yield session
        assert process.stdin is not None
        process.stdin.close()


def _plain(folder: Path) -> int:
    return sum(batch.num_rows for batch in read_table(TABLE, str(folder)))
