"""An option has the same help and default in every command that talks to a cluster, unless it means something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kafkawire.cli.commands import COMMANDS
from kafkawire.cli.describing import described_root
from kafkawire.cli.description import CommandDescription, Parameter

DIFFERENT: Final[Mapping[str, str]] = {
    "--all": "all of what the command is about",
    "--broker": "configs changes brokers, reassign plan places replicas on them",
    "--assignments": "diff compares, export writes",
    "--exit-code": "diff compares, plan plans",
    "--format": "diff prints differences as SARIF too",
    "--from": "a file of items, or the first date of diff",
    "--group": "acls takes * for all groups, configs names",
    "--host": "acls may is about one client",
    "--mechanism": "users delete takes all by default, users set one",
    "--node": "of one node, or of several",
    "--out": "each command writes another thing",
    "--owner": "of a new token, or of those to list",
    "--partitions": "topics create has a default, topics alter only adds",
    "--pattern": "ACLs have pattern types, ids match an expression",
    "--principal": "acls compares a principal, diff and export select kinds by it",
    "--replication-factor": "topics create has a default, reassign plan keeps the number",
    "--show": "acls review and plan show parts of different things",
    "--state": "of groups, or of transactions",
    "--topic": "each command takes topics, patterns or partitions",
    "--watch": "reassign run waits until the end, the others repeat",
}
"""Options with several meanings, and why."""


def commands_with_cluster(command: CommandDescription) -> Iterator[CommandDescription]:
    if any("--verbose" in each.names for each in command.parameters):
        yield command
    for inner in command.commands.values():
        yield from commands_with_cluster(inner)


def texts_of_options() -> Mapping[str, set[tuple[str, str]]]:
    """The helps and defaults of each long option."""
    texts: dict[str, set[tuple[str, str]]] = {}
    for command in commands_with_cluster(described_root(COMMANDS)):
        for option, name in long_options(command):
            texts.setdefault(name, set()).add((option.help, option.default))
    return texts


def long_options(command: CommandDescription) -> Iterator[tuple[Parameter, str]]:
    for option in command.parameters:
        for name in option.names:
            if name.startswith("--"):
                yield option, name


def test_only_options_with_a_reason_differ() -> None:
    differing = {name for name, texts in texts_of_options().items() if len(texts) > 1}
    assert differing == DIFFERENT.keys()
