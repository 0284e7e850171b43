"""Every command that changes something has --dry-run and --yes, or is in a short list with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kafkawire.cli.description import CommandDescription, stored_description

READING: Final = frozenset(
    {
        "acls list", "acls may", "acls minimise", "acls review", "acls who-can",
        "cluster api-versions", "cluster describe", "cluster features", "cluster log-dirs", "cluster nodes",
        "cluster quorum",
        "configs describe",
        "context current", "context list", "context show",
        "diff", "doctor", "export", "plan",
        "groups describe", "groups lag", "groups list", "groups members",
        "quotas describe", "quotas effective", "quotas list",
        "reassign list", "reassign plan",
        "tokens list",
        "topics describe", "topics list",
        "transactions describe", "transactions hanging", "transactions list", "transactions producers",
        "users describe", "users list",
    }
)  # fmt: skip
"""Commands that change nothing. Every other one that reaches a cluster, or the file of contexts, is a change."""

WITHOUT: Final[Mapping[str, str]] = {
    "context delete": "changes the user's own file, not a cluster",
    "context rename": "changes the user's own file, not a cluster",
    "context set": "changes the user's own file, not a cluster",
    "context unset": "changes the user's own file, not a cluster",
    "context use": "changes the user's own file, not a cluster",
    "groups reset": "is a dry run unless --execute is given",
    "reassign watch": "waits; --remove-throttle removes limits that reassign run has set",
}


def reaching_commands(command: CommandDescription, words: tuple[str, ...] = ()) -> Iterator[tuple[str, frozenset[str]]]:
    """The commands for a cluster or contexts, with the names of their options."""
    options = frozenset(name for each in command.parameters for name in each.names)
    if not command.commands and ("--verbose" in options or words[0] == "context"):
        yield " ".join(words), options
    for word, inner in command.commands.items():
        yield from reaching_commands(inner, (*words, word))


COMMANDS: Final = dict(reaching_commands(stored_description().root))


def test_every_change_has_a_dry_run_and_a_question() -> None:
    changing = {name: options for name, options in COMMANDS.items() if name not in READING}
    lacking = {name for name, options in changing.items() if not {"--dry-run", "--yes"} <= options}
    assert lacking == WITHOUT.keys()


def test_what_only_reads_has_neither() -> None:
    assert COMMANDS.keys() >= READING
    assert not {name for name in READING if {"--dry-run", "--yes"} & COMMANDS[name]}


def test_resets_ask_too() -> None:
    assert {"--execute", "--yes"} <= COMMANDS["groups reset"]


def test_many_items_come_from_a_file() -> None:
    many = {"groups delete", "reassign plan", "tokens renew", "tokens expire", "topics create", "users set"}
    assert not {name for name in many if "--from" not in COMMANDS[name]}
