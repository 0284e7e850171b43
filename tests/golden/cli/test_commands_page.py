"""The page of all commands has each of them with its first sentence, as the help has.

``pytest tests/golden/cli --update-golden`` writes the tables again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from kafkawire.cli.description import CommandDescription, stored_description

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "commands.md"
BEGIN = "<!-- tables: made from the help, see tests/golden/cli/test_commands_page.py -->\n"
END = "<!-- end of tables -->\n"

PAGES = {
    "plan": "../how-to/declared-state.md#plan",
    "apply": "../how-to/declared-state.md#apply",
    "export": "../how-to/export-and-compare.md#export",
    "diff": "../how-to/export-and-compare.md",
    "topics": "../how-to/commands-topics.md",
    "configs": "../how-to/commands-configs.md",
    "acls": "../how-to/understand-acls.md",
    "quotas": "../how-to/commands-quotas.md",
    "users": "../how-to/commands-users.md",
    "groups": "../how-to/commands-groups.md",
    "cluster": "../how-to/commands-cluster.md",
    "reassign": "../how-to/commands-reassign.md",
    "tokens": "../how-to/commands-transactions.md",
    "transactions": "../how-to/commands-transactions.md",
    "doctor": "../how-to/commands-connect.md#find-out-why-it-does-not-work",
    "context": "../how-to/commands-connect.md#by-a-context",
    "demo": "../tutorial.md#run-the-demo",
    "broker": "../how-to/run-a-broker.md#start-a-broker-from-the-command-line",
    "tables": "../how-to/tables.md",
    "alerts": "../how-to/alerts.md",
    "report": "../how-to/report-logs.md",
    "evidence": "../how-to/evidence.md",
    "replicas": "../how-to/replicas.md",
    "spark": "../how-to/spark.md#a-job-that-writes-a-table",
    "schema lint": "../how-to/check-definitions.md",
    "schema diff": "../how-to/compare-definitions.md",
    "schema check": "../how-to/check-evolution.md",
    "schema documents": "documents.md",
    "generate": "../how-to/own-definitions.md",
    "specs": "../how-to/import-a-release.md",
    "codec": "../how-to/codec-filter.md",
}
"""The page that explains a command or a group."""

ABOVE = {
    "Declare the state of a cluster": "[Documents](documents.md) in YAML declare it.",
    "Administer a cluster": "Those that change something take any number of items at once.",
    "Connect": "To find out why a connection fails, and to give it a name.",
    "Try, test and audit": "These need no cluster; `tables`, `alerts`, `report` and `spark` read files of brokers.",
    "Definitions and messages": "For people who work on Kafka's protocol, or on one of their own like it.",
}
"""What is said above the table of a heading of the help."""


def test_the_page_has_all_commands(update_golden: bool) -> None:
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    assert found
    written = "".join([before, BEGIN, *tables(), END, after])
    if update_golden:
        PAGE.write_text(written, "utf-8")
    assert PAGE.read_text("utf-8") == written, "pytest tests/golden/cli --update-golden writes it again"


def tables() -> Iterator[str]:
    """A section for each heading of the help."""
    for panel, commands in groupby(stored_description().root.commands.items(), lambda each: each[1].panel):
        yield f"\n## {panel}\n\n{ABOVE[panel]}\n\n| command | what it does |\n| --- | --- |\n"
        for name, command in commands:
            for path, each in named(name, command):
                yield f"| [`{path}`]({PAGES.get(path) or PAGES[name]}) | {each.summary} |\n"
    yield "\n"


def named(name: str, command: CommandDescription) -> Iterator[tuple[str, CommandDescription]]:
    """A command, or those of a group."""
    if not command.commands:
        yield name, command
    for below, each in command.commands.items():
        yield f"{name} {below}", each
