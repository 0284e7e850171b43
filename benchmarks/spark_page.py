"""The page with the results of Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.apache_kafka.prerequisites import java, java_version
from tests.apache_kafka.releases import newest_broker_release

from benchmarks.chart import speed_up_chart
from benchmarks.machine import machine_facts
from benchmarks.report import in_words, table
from benchmarks.results import KAFKA, Measurement
from benchmarks.spark import CHOSEN, JAVA_OPTIONS, MEMORY_GROWTH, SPARK_PEERS, UNIX_SOCKETS, WorkerMemory

PAGE = "spark.md"
CHART = "spark.svg"
_TITLE = "Time to read offset commits with Spark"

METHOD = f"""\
Spark reads table `offset_commit` from segments of `__consumer_offsets` and discards the rows: with all columns, and
with seven of them,
`{"`, `".join(CHOSEN.split(","))}`.
The contenders take turns in one run. Spark uses long-lived sessions, whose JVM has the options
`{" ".join(JAVA_OPTIONS)}`,
and `{UNIX_SOCKETS}=true`;
`local[1]` runs one task at a time, `local[2]` two. *Without Spark* is `kafkawire.logs.read_table` in one process.
{KAFKA}'s `kafka-dump-log` dumps the same segments in a warm JVM; its time is the processor time of the dumping thread
only, the other times are elapsed time. *Tuples* are the same rows of the same decoder, passed to Spark as Python
tuples. Times are medians of all rounds; *speed-up* is the time of the other divided by that of Spark with Arrow,
computed for each round. The quartiles of the rounds are in parentheses.

The targets for cores are for the seven columns. Most of the time is the JVM's: Spark copies each value of each
row twice, on the same cores, so all columns take it twice as long. The time without Spark is that of decoding.

A task is two processes: Python decodes while the JVM copies. So `local[1]` uses more than one core, 1.6 with seven
columns, and two cores cannot make it more than 1.3 times as fast."""

MEMORY = f"""\
The peak memory of the largest Python worker, in a new session of two cores for each input. The target for four times
the input is at most {MEMORY_GROWTH} times as much."""


def write(folder: Path, measurements: Sequence[Measurement], memory: Sequence[WorkerMemory]) -> None:
    """Write the page and its picture."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = machine_facts(("pyspark", "pyarrow", "msgspec"))
    facts.append(("Kafka", f"Apache Kafka {newest_broker_release()} on {java_version(java()).splitlines()[0]}"))
    (folder / CHART).write_text(speed_up_chart(_TITLE, measurements, SPARK_PEERS), encoding="utf-8")
    (folder / PAGE).write_text(page(measurements, memory, facts), encoding="utf-8")


def page(measurements: Sequence[Measurement], memory: Sequence[WorkerMemory], facts: Sequence[tuple[str, str]]) -> str:
    """The whole page in Markdown.

    Args:
        measurements: all times.
        memory: the memory of workers.
        facts: label and value of each fact that the figures depend on.
    """
    parts = [
        "# Benchmarks of the data source for Spark",
        "`make bench` wrote this page. The figures depend on the machine, the ratios much less so.",
        "\n".join(f"* {label}: {value}" for label, value in facts),
        f"![{_TITLE}: the table below has the figures]({CHART})",
        METHOD,
        "## Speed",
        in_words(measurements, SPARK_PEERS),
        "\n".join(table(measurements, SPARK_PEERS)),
        "## Memory",
        MEMORY,
        "\n".join(memory_table(memory)),
    ]
    return "\n\n".join(parts) + "\n"


def memory_table(memory: Sequence[WorkerMemory]) -> list[str]:
    """The lines of a Markdown table."""
    least = min(one.peak for one in memory)
    lines = ["| input | memory of a worker | target |", "| ---: | ---: | --- |"]
    for one in memory:
        mark = "" if one.peak == least else "✓" if is_flat(memory) else "✗"
        lines.append(f"| {one.size / 1e6:.0f} MB | {one.peak / 1e6:.0f} MB | {mark} |")
    return lines


def is_flat(memory: Sequence[WorkerMemory]) -> bool:
    """Whether memory does not grow with the input."""
    peaks = [one.peak for one in memory]
    return max(peaks) <= MEMORY_GROWTH * min(peaks)
