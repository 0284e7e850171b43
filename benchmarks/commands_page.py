"""The page with the results of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.apache_kafka.prerequisites import java, java_version
from tests.apache_kafka.releases import newest_broker_release

from benchmarks import batches, command_start, command_tools, commands, plan_apply
from benchmarks.machine import machine_facts
from benchmarks.report import alone_table, in_words, table
from benchmarks.results import KAFKA, KAFKA_PYTHON, OURS, Alone, Measurement

PAGE = "commands.md"
COMMAND = "python -m benchmarks commands"

INTRODUCTION = f"""\
`make bench` wrote this page, and `{COMMAND}` writes it alone. The figures depend on the machine, the
ratios much less so."""

METHOD = f"""\
Times are elapsed times of whole processes, from the start to the end, medians of all rounds after one that does not
count; byte code is on disk, as after an installation. Contenders take turns (A B C A B C ...), and each must print
what the case is about. *Speed-up* is the peer's time divided by ours, computed for each round: above 1 {OURS} is
faster. The quartiles of the rounds are in parentheses."""

START = f"""\
`{command_start.EMPTY}` is the least that any program in Python takes. {KAFKA_PYTHON} is its command line,
`kafka-python`, with the same words."""

DESCRIBE = f"""\
One broker of {KAFKA} has what is described. *{KAFKA}* is the class of its tool, with the options of Java that its
scripts give. The time of the script itself and of the log files and JMX that it sets up is left out, which favours the
tool. *{command_tools.TUNED}* is the same class as no script starts it: the first compiler only, the serial garbage
collector, and an archive of the classes that a broker loads. {KAFKA_PYTHON} is its command line; it prints the fields
of responses as Python objects, and has no command for quotas and for lag."""

QUOTAS = f"""\
One `kafkawire apply` of a document, beside a loop that calls `kafka-configs --alter` for each user, started as above.
In each round the loop runs over {commands.Load().looped} users, and the time for all users is **extrapolated** from it:
{commands.Load().looped * commands.Load().loops} runs of the tool in all."""

DOCUMENTS = """\
A document is planned or applied at an embedded broker in a process of its own, on the same machine. Of 100 items 10 are
topics, 60 are ACLs, 29 are quotas, and one is a credential. A plan with changes states their effects too. *Memory* is
the most that the process of the command had."""

MEANING = """\
ACLs as organisations have them: prefixes of teams, producers, consumers, exceptions, leftovers. Effects and review are
measured in Python, in a process of its own for each round, without the time to describe the ACLs; *memory* is what they
take at most beside the ACLs. *A twin is ready* when clients can connect to `kafkawire broker --from-log`, whose log is
a snapshot; *memory* is that of the whole process."""


def write(folder: Path, measurements: Sequence[Measurement]) -> None:
    """Write the page."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = machine_facts(("typer", "msgspec", KAFKA_PYTHON))
    facts.append(("Kafka", f"Apache Kafka {newest_broker_release()} on {java_version(java()).splitlines()[0]}"))
    (folder / PAGE).write_text(page(measurements, facts), encoding="utf-8")


def page(measurements: Sequence[Measurement], facts: Sequence[tuple[str, str]]) -> str:
    """The whole page in Markdown.

    Args:
        measurements: all results.
        facts: label and value of each fact that the figures depend on.
    """
    parts = [
        "# Benchmarks of the command line",
        INTRODUCTION,
        "\n".join(f"* {label}: {value}" for label, value in facts),
        METHOD,
    ]
    for title, kind, text in (
        ("Start", command_start.KIND, START),
        ("Descriptions", command_tools.KIND, DESCRIBE),
        ("Quotas of many users", plan_apply.QUOTAS, QUOTAS),
        ("Plans of many items", plan_apply.DOCUMENTS, DOCUMENTS),
        ("What ACLs mean", commands.MEANING, MEANING),
        ("One batch, or a request for each filter", batches.KIND, batches.METHOD),
    ):
        chosen = [one for one in measurements if one.kind == kind]
        parts += [f"## {title}", text, *_results(chosen, commands.peers(kind))]
    return "\n\n".join(parts) + "\n"


def _results(chosen: Sequence[Measurement], peers: Sequence[str]) -> Iterable[str]:
    alone = [one for one in chosen if isinstance(one, Alone)]
    if alone:
        return in_words(alone), "\n".join(alone_table(alone))
    own = batches.BATCH if peers == batches.OTHERS else OURS
    return in_words(chosen, peers), "\n".join(table(chosen, peers, own))
