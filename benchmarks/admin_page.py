"""The page with the results of the admin client, and its picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.apache_kafka.prerequisites import java, java_version
from tests.apache_kafka.releases import newest_broker_release

from benchmarks import admin_memory
from benchmarks.admin_memory import GROWTH, Memory
from benchmarks.chart import speed_up_chart
from benchmarks.machine import machine_facts
from benchmarks.report import in_words, notes, table
from benchmarks.results import ADMIN_PEERS, AIOKAFKA, CONFLUENT, KAFKA_PYTHON, OURS, Measurement

LIBRARIES = ("msgspec", KAFKA_PYTHON, CONFLUENT, AIOKAFKA)
PAGE = "admin.md"
PICTURE = "admin.svg"
TITLE = "Time that a caller waits"

METHOD = f"""\
All contenders query one broker of Apache Kafka, in turn (A B C A B C ...), in one run. Before the measurement, a check
verifies that each describes the same ACLs. Times are medians of all rounds, of the time that a caller waits; they
include the broker's work, which is the same for all. *Speed-up* is the peer's time divided by ours, computed for each
round: above 1 {OURS} is faster. The quartiles of the rounds are in parentheses. Java's Admin runs in a warm process of
its own, which measures the time itself; its results are Java objects. {CONFLUENT} is based on librdkafka, which is
written in C."""

IMPORT = f"""\
The import time of a newly started program, each in a process of its own, with byte code on disk. *The package* is
`import kafkawire.admin`, and `import` of each peer's package. *The client* is the import of the class that programs
use. {OURS} imports lazily, so the first of these rows flatters it. *The client and its first call* is what a short
program waits for: the import, a connection to a broker of Apache Kafka on the same machine, and one answer."""

MEMORY = f"""\
Bytes for each described ACL, in a process of its own. *Allocated* is counted by Python (`tracemalloc`), *resident* by
the system for the process; *kept* is measured after the description, *at most* is the peak during it. Linear means that
an ACL in the largest case costs at most {GROWTH:g} times as much as in the smallest."""


def write(folder: Path, measurements: Sequence[Measurement], memory: list[Memory]) -> None:
    """Write page and picture."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = [one for one in measurements if one.kind == "admin"]
    (folder / PICTURE).write_text(speed_up_chart(TITLE, asked, ADMIN_PEERS), encoding="utf-8")
    facts = machine_facts(LIBRARIES)
    facts.append(("Kafka", f"Apache Kafka {newest_broker_release()} on {java_version(java()).splitlines()[0]}"))
    (folder / PAGE).write_text(page(measurements, memory, facts), encoding="utf-8")


def page(measurements: Sequence[Measurement], memory: list[Memory], facts: Sequence[tuple[str, str]]) -> str:
    """The whole page in Markdown.

    Args:
        measurements: the comparisons with peers.
        memory: the memory of ACLs.
        facts: label and value of each fact that the figures depend on.
    """
    asked = [one for one in measurements if one.kind == "admin"]
    imported = [one for one in measurements if one.kind == "admin import"]
    linear = "✓" if admin_memory.is_linear(memory) else "✗"
    parts = [
        "# Benchmarks of the admin client",
        "`make bench` wrote this page. The figures depend on the machine, the ratios much less so.",
        "\n".join(f"* {label}: {value}" for label, value in facts),
        f"![{TITLE}: the table below has the figures]({PICTURE})",
        METHOD,
        "## Describing and altering",
        in_words(asked, ADMIN_PEERS),
        "\n".join(table(asked, ADMIN_PEERS)),
        *notes(asked),
        "## Import in a fresh process",
        IMPORT,
        in_words(imported, ADMIN_PEERS),
        "\n".join(table(imported, ADMIN_PEERS)),
        *notes(imported),
        "## Memory",
        MEMORY,
        "\n".join(admin_memory.table(memory)),
        f"{linear} linear",
    ]
    return "\n\n".join(parts) + "\n"
