"""Tables of Kafka's logs read by Spark, beside the plain functions, tuples, and kafka-dump-log."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.apache_spark.prerequisites import require_spark

from benchmarks import logs
from benchmarks.results import KAFKA, OURS, DisagreementError, Measurement, Target
from benchmarks.sampling import Call, Waiting, interleave_waiting
from kafkawire.logs import ReadOptions, read_table

TABLE = "offset_commit"
CHOSEN = "log_offset,append_time,group,topic,partition,offset,commit_timestamp"
"""Who committed what, and when: the columns that most queries of commits need."""

JAVA_OPTIONS = (
    "-XX:+UseParallelGC",
    "-Darrow.enable_unsafe_memory_access=true",
    "-Darrow.enable_null_check_for_get=false",
)
"""The options of the Java machine that the guide recommends: Arrow does not check every cell that Spark reads."""

UNIX_SOCKETS = "spark.python.unix.domain.socket.enabled"
"""The setting of Spark that the guide recommends: over TCP each task waits 40 ms for a delayed acknowledgement."""

READY = "ready"
"""Printed by the process with Spark when it is ready."""

ARROW = "arrow"
FEW = "few"
TUPLES = "tuples"
MEMORY = "memory"
"""The commands of that process: all columns, the chosen ones, all of them as tuples, the memory of workers."""

PLAIN = "without Spark"
ONE_CORE = "local[1]"
TWO_CORES = "local[2]"
SPARK_PEERS = (PLAIN, TUPLES, ONE_CORE, KAFKA)
"""The peers of reading with Spark."""

WIDTHS: Mapping[str, tuple[str, ReadOptions]] = {
    "7 columns": (FEW, ReadOptions(columns=tuple(CHOSEN.split(",")))),
    "all 19 columns": (ARROW, ReadOptions()),
}
"""The columns that are read, and the command for them."""

GOALS_ON = "7 columns"

MEMORY_GROWTH = 1.2
"""The most memory that a worker may take for four times the input, as a multiple of its memory for the input."""


@dataclass(frozen=True)
class Load:
    """The size of the benchmark.

    Attributes:
        segment: size of a segment of commits, in bytes.
        partitions: number of such segments, each in its own partition.
    """

    segment: int = 62 * 1024 * 1024
    partitions: int = 5


SMALL = Load(segment=60_000, partitions=2)
"""For a trial of the benchmark."""


@dataclass(frozen=True)
class WorkerMemory:
    """The peak memory of Python workers, in bytes.

    Attributes:
        size: of the input.
        peak: resident, of the largest worker.
    """

    size: int
    peak: int


def run(rounds: int, load: Load) -> Iterator[Measurement]:
    """Measure times."""
    require_spark()
    with tempfile.TemporaryDirectory() as work, ExitStack() as running:
        folder = write_logs(Path(work), load)
        one, two = (running.enter_context(_session(master)) for master in (ONE_CORE, TWO_CORES))
        segments = sorted(folder.glob("*/*.log"))
        yield _as_tuples(one, segments[0].parent, rounds)
        size = f"{sum(file.stat().st_size for file in segments) / 1e6:.0f} MB in {len(segments)} partitions"
        dump = running.enter_context(logs.dump_log(segments))
        contenders: dict[str, Call | Waiting] = {KAFKA: dump}
        for width, (form, options) in WIDTHS.items():
            contenders[_named(TWO_CORES, width)] = two.timed(form, folder)
            contenders[_named(ONE_CORE, width)] = one.timed(form, folder)
            contenders[_named(PLAIN, width)] = partial(_plain, folder, options)
        seconds = interleave_waiting(contenders, rounds)
    for width in WIDTHS:
        yield from _by_cores(f"{width} of {size}", width, seconds)


def memory(load: Load) -> list[WorkerMemory]:
    """The memory of workers for some input, and for four times as much."""
    found = []
    for times in (1, 4):
        with tempfile.TemporaryDirectory() as work:
            folder = write_logs(Path(work), Load(load.segment, times * max(load.partitions // 4, 1)))
            size = sum(file.stat().st_size for file in folder.glob("*/*.log"))
            with _session(TWO_CORES) as session:
                found.append(WorkerMemory(size, int(session.ask(MEMORY, folder))))
    return found


def write_logs(work: Path, load: Load) -> Path:
    """Write a folder with partitions of a coordinator's topic, whose segments are the same bytes."""
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

    def ask(self, form: str, folder: Path) -> str:
        """Let it read a folder, and return its answer.

        Raises:
            DisagreementError: the process has ended.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(f"{form} {folder}\n")
        self._process.stdin.flush()
        return self.hear()

    def hear(self) -> str:
        """Return the next line of its output.

        Raises:
            DisagreementError: the process has ended.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            raise DisagreementError("the process with Spark has ended")
        return line

    def timed(self, form: str, folder: Path) -> Waiting:
        """A contender that reads a folder."""
        return Waiting(lambda: float(self.ask(form, folder)))


def _as_tuples(session: Session, folder: Path, rounds: int) -> Measurement:
    seconds = interleave_waiting({OURS: session.timed(ARROW, folder), TUPLES: session.timed(TUPLES, folder)}, rounds)
    size = sum(file.stat().st_size for file in folder.glob("*.log"))
    case = f"one core, Arrow beside tuples: all 19 columns of {size / 1e6:.0f} MB"
    return Measurement("spark", case, seconds, (Target(TUPLES, 1.6),))


def _by_cores(case: str, width: str, seconds: Mapping[str, tuple[float, ...]]) -> Iterator[Measurement]:
    one, two, plain = (seconds[_named(contender, width)] for contender in (ONE_CORE, TWO_CORES, PLAIN))
    goals = width == GOALS_ON
    yield Measurement("spark", f"one core: {case}", {OURS: one, PLAIN: plain}, ())
    yield Measurement(
        "spark",
        f"two cores: {case}",
        {OURS: two, ONE_CORE: one, PLAIN: plain, KAFKA: seconds[KAFKA]},
        (Target(ONE_CORE, 1.4), Target(KAFKA, 1.5)) if goals else (),
    )


def _named(contender: str, width: str) -> str:
    return f"{contender}, {width}"


@contextmanager
def _session(master: str) -> Iterator[Session]:
    command = [sys.executable, "-m", "benchmarks.spark_program", master]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        session = Session(process)
        if session.hear() != READY:
            raise DisagreementError("the process with Spark does not start")
        yield session
        assert process.stdin is not None
        process.stdin.close()


def _plain(folder: Path, options: ReadOptions) -> int:
    return sum(batch.num_rows for batch in read_table(TABLE, str(folder), options))
