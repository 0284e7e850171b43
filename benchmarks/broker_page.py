"""The page with the results of the embedded broker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.apache_kafka.prerequisites import java, java_version
from tests.apache_kafka.releases import newest_broker_release

from benchmarks import batches, broker_data
from benchmarks.machine import machine_facts
from benchmarks.report import in_words, table
from benchmarks.results import KAFKA, Measurement

PAGE = "broker.md"

METHOD = f"""\
The embedded broker, run as a program on a data directory, and {KAFKA} receive the same bytes, in turn, in one run. Both
have an authorizer, and both write changes to disk before they acknowledge them. Times are medians of all rounds, of the
time that a client waits. *Speed-up* is the time of {KAFKA} divided by ours, computed for each round: above 1 the
embedded broker is faster. The quartiles of the rounds are in parentheses."""

START = """\
*The program* starts on an existing directory, and is ready when it answers; the time includes the start of the
interpreter or virtual machine and all imports. *In the process of a test* is the time of
`async with EmbeddedBroker(...)` on a new directory, or of `with ThreadedBroker(...)` in memory, after the import."""


def write(folder: Path, measurements: Sequence[Measurement]) -> None:
    """Write the page."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = machine_facts(("msgspec", "confluent-kafka"))
    facts.append(("Kafka", f"Apache Kafka {newest_broker_release()} on {java_version(java()).splitlines()[0]}"))
    (folder / PAGE).write_text(page(measurements, facts), encoding="utf-8")


def page(measurements: Sequence[Measurement], facts: Sequence[tuple[str, str]]) -> str:
    """The whole page in Markdown.

    Args:
        measurements: all results.
        facts: label and value of each fact that the figures depend on.
    """
    started = [one for one in measurements if one.kind == "broker start"]
    batched = [one for one in measurements if one.kind == batches.KIND]
    moved = [one for one in measurements if one.kind == broker_data.KIND]
    asked = [one for one in measurements if one.kind == "broker requests"]
    parts = [
        "# Benchmarks of the embedded broker",
        "`make bench` wrote this page. The figures depend on the machine, the ratios much less so.",
        "\n".join(f"* {label}: {value}" for label, value in facts),
        METHOD,
        "## Start",
        START,
        in_words(started, (KAFKA,)),
        "\n".join(table(started, (KAFKA,))),
        "## Requests",
        in_words(asked, (KAFKA,)),
        "\n".join(table(asked, (KAFKA,))),
        "## Records",
        broker_data.METHOD,
        in_words(moved, (KAFKA,)),
        "\n".join(table(moved, (KAFKA,))),
        "## One batch, or a request for each filter",
        batches.METHOD,
        in_words(batched, batches.OTHERS),
        "\n".join(table(batched, batches.OTHERS, batches.BATCH)),
    ]
    return "\n\n".join(parts) + "\n"
