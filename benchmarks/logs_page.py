"""The page with the results of tables of logs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.apache_kafka.prerequisites import java, java_version
from tests.apache_kafka.releases import newest_broker_release

from benchmarks.chart import speed_up_chart
from benchmarks.logs import DECODING, FROM_NOTHING, MEMORY_GROWTH, ONE_PROCESS, Memory
from benchmarks.machine import machine_facts
from benchmarks.report import in_words, table
from benchmarks.results import KAFKA, OURS, Measurement

PAGE = "logs.md"
CHART = "logs.svg"
TITLE = "Time to read the offset commits of a log"

METHOD = f"""\
{OURS} reads a table as Arrow in one process; `kafka-dump-log` of {KAFKA}, with the decoder of the log, runs in a warm
JVM that discards its output. Both check every CRC. They take turns in one run. Times are processor time, medians of all
rounds: ours of the whole process, Java's of the dumping thread only, without garbage collector and compiler. *Speed-up*
is the time of {KAFKA} divided by ours, computed for each round, with quartiles in parentheses."""

SEGMENTS = """\
The segment of *commits of many partitions* is written for the benchmark from the offset commits of a real log, in large
batches. The segment of *Kafka's own batches* repeats the batches of real logs with increasing offsets: four records per
batch on average, with members and assignments of groups among them. In the metadata log, topics are created with ten
ACLs each, configured, and half of them deleted with all that they have."""

HISTORIES = """\
The same for histories, which give each row the time during which it was valid. Kafka has no tool for that, so
kafka-dump-log, which only prints the records, is beside them again."""

PROCESSES = """\
One log of offset commits, read by two processes and by one. Times are elapsed times, without the imports of the
program, but with the start of the processes: about half a second."""

CONTINUED = """\
A reading that continues from the state of an earlier one, beside one of the whole log. It restores all open intervals,
so the time depends on these too."""

INDEX = """\
The time to split a segment without an index into ranges that can be read separately, compared with decoding it:
*speed-up* is the decoding time divided by the splitting time. With the index that Kafka keeps beside a segment the time
is negligible."""

MEMORY = f"""\
The peak resident memory of a process for a segment and for one of four times the size, with the same groups and
partitions: a history holds what is valid of each. The target is at most {MEMORY_GROWTH} times as much."""


def write(folder: Path, measurements: Sequence[Measurement], memory: Sequence[Memory]) -> None:
    """Write the page and its picture."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = [one for one in measurements if one.kind == "log tables"]
    (folder / CHART).write_text(speed_up_chart(TITLE, tables, (KAFKA,)), encoding="utf-8")
    facts = machine_facts(("pyarrow", "msgspec", "crc32c"))
    facts.append(("Kafka", f"Apache Kafka {newest_broker_release()} on {java_version(java()).splitlines()[0]}"))
    (folder / PAGE).write_text(page(measurements, memory, facts), encoding="utf-8")


def page(measurements: Sequence[Measurement], memory: Sequence[Memory], facts: Sequence[tuple[str, str]]) -> str:
    """The whole page in Markdown.

    Args:
        measurements: all results.
        memory: the memory of processes.
        facts: label and value of each fact that the figures depend on.
    """
    tables = [one for one in measurements if one.kind == "log tables"]
    histories = [one for one in measurements if one.kind == "histories"]
    processes = [one for one in measurements if one.kind == "processes"]
    continued = [one for one in measurements if one.kind == "continued"]
    index = [one for one in measurements if one.kind == "index pass"]
    parts = [
        "# Benchmarks of tables of logs",
        "`make bench` wrote this page. The figures depend on the machine, the ratios much less so.",
        "\n".join(f"* {label}: {value}" for label, value in facts),
        METHOD,
        f"![{TITLE}: the table below has the figures]({CHART})",
        SEGMENTS,
        in_words(tables, (KAFKA,)),
        "\n".join(table(tables, (KAFKA,))),
        "\n".join(f"* {one.case.partition(':')[0]}: {', '.join(one.notes)}" for one in tables),
        "## Histories",
        HISTORIES,
        in_words(histories, (KAFKA,)),
        "\n".join(table(histories, (KAFKA,))),
        "## Two processes",
        PROCESSES,
        "\n".join(table(processes, (ONE_PROCESS,))),
        "## Continued readings",
        CONTINUED,
        "\n".join(table(continued, (FROM_NOTHING,))),
        "## Index pass",
        INDEX,
        "\n".join(table(index, (DECODING,))),
        "## Memory",
        MEMORY,
        "\n".join(memory_table(memory)),
    ]
    return "\n\n".join(parts) + "\n"


def memory_table(memory: Sequence[Memory]) -> list[str]:
    """The lines of a table of the memory of processes."""
    first = {one.table: one.peak for one in reversed(memory)}
    rows = [
        f"| {one.table} | {one.size / 1e6:.0f} MB | {one.peak / 1e6:.0f} MB | {one.peak / first[one.table]:.2f} |"
        for one in memory
    ]
    return ["| table | segment | at most | times the first |", "| --- | ---: | ---: | ---: |", *rows]
