"""The page of the embedded broker's results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.apache_kafka.prerequisites import java, java_version
from tests.apache_kafka.releases import newest_broker_release

from benchmarks.machine import machine_facts
from benchmarks.report import table
from benchmarks.results import KAFKA, Measurement

PAGE = "broker.md"

METHOD = f"""\
The same bytes are sent to the embedded broker, run as a program on a data directory, and to {KAFKA}, in turn, in one
run. Both have an authorizer, and both have what they acknowledge on disk. Times are medians of all rounds, of the time
that a client waits. *Speed-up* is the time of {KAFKA} divided by ours, taken round by round: above 1 the embedded
broker is quicker. In brackets are the quartiles of the rounds."""

START = """\
*The program* is started on a directory that it knows, and is ready when it answers; the start of the interpreter, of
the virtual machine and all imports are in it. *In the process of a test* is what `async with EmbeddedBroker(...)`
takes on a new directory, after the import."""


def write(folder: Path, measurements: Sequence[Measurement]) -> None:
    """Write the page."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = machine_facts(("msgspec",))
    facts.append(("Kafka", f"Apache Kafka {newest_broker_release()} on {java_version(java()).splitlines()[0]}"))
    (folder / PAGE).write_text(page(measurements, facts), encoding="utf-8")


def page(measurements: Sequence[Measurement], facts: Sequence[tuple[str, str]]) -> str:
    """The whole page in Markdown.

    Args:
        measurements: what was measured.
        facts: label and value of what the figures depend on.
    """
    started = [one for one in measurements if one.kind == "broker start"]
    asked = [one for one in measurements if one.kind == "broker requests"]
    parts = [
        "# Benchmarks of the embedded broker",
        "`make bench` wrote this page. Figures depend on the machine; ratios much less.",
        "\n".join(f"* {label}: {value}" for label, value in facts),
        METHOD,
        "## Start",
        START,
        "\n".join(table(started, (KAFKA,))),
        "## Requests",
        "\n".join(table(asked, (KAFKA,))),
    ]
    return "\n\n".join(parts) + "\n"
