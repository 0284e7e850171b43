"""The page of the results of tables of logs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.apache_kafka.prerequisites import java, java_version
from tests.apache_kafka.releases import newest_broker_release

from benchmarks.chart import speed_up_chart
from benchmarks.logs import DECODING, MEMORY_GROWTH, Memory
from benchmarks.machine import machine_facts
from benchmarks.report import table
from benchmarks.results import KAFKA, Measurement

PAGE = "logs.md"
CHART = "logs.svg"
TITLE = "Time to read the offset commits of a log"

METHOD = f"""\
Table `offset_commit`, in one process, as Arrow, beside `kafka-dump-log --offsets-decoder` of {KAFKA} in a Java machine
that stays warm and whose output is thrown away. Both check every CRC. They take turns in one run. Times are processor
time, medians of all rounds: ours is that of the whole process, Java's that of the one thread that dumps, without its
collector and compiler. *Speed-up* is the time of {KAFKA} divided by ours, taken round by round, with quartiles in
brackets."""

SEGMENTS = """\
The segment of *commits of many partitions* is written here from the offset commits of a real log, in large batches.
That of *Kafka's own batches* has the batches of real logs over and over, with offsets that go on: four records a batch
on average, members and assignments of groups among them."""

INDEX = """\
What it takes to cut a segment without an index into ranges that can be read apart, beside decoding it: *speed-up* is
how many times as long decoding takes. With the index that Kafka keeps beside a segment it takes no time that counts."""

MEMORY = f"""\
What a process takes at most, as the system counts it, for a segment and for one of four times the size. It may be
{MEMORY_GROWTH} times as much."""


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
        measurements: what was measured.
        memory: what processes took.
        facts: label and value of what the figures depend on.
    """
    tables = [one for one in measurements if one.kind == "log tables"]
    index = [one for one in measurements if one.kind == "index pass"]
    parts = [
        "# Benchmarks of tables of logs",
        "`make bench` wrote this page. Figures depend on the machine; ratios much less.",
        "\n".join(f"* {label}: {value}" for label, value in facts),
        METHOD,
        f"![{TITLE}: the table below has the figures]({CHART})",
        SEGMENTS,
        "\n".join(table(tables, (KAFKA,))),
        "\n".join(f"* {one.case.partition(':')[0]}: {', '.join(one.notes)}" for one in tables),
        "## Index pass",
        INDEX,
        "\n".join(table(index, (DECODING,))),
        "## Memory",
        MEMORY,
        "\n".join(memory_table(memory)),
    ]
    return "\n\n".join(parts) + "\n"


def memory_table(memory: Sequence[Memory]) -> list[str]:
    """The lines of a table of what processes took."""
    rows = [
        f"| {one.size / 1e6:.0f} MB | {one.peak / 1e6:.0f} MB | {one.peak / memory[0].peak:.2f} |" for one in memory
    ]
    return ["| segment | at most | times the first |", "| ---: | ---: | ---: |", *rows]
