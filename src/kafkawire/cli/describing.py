"""Describes commands for help and completion, from what Typer and ``argparse`` know of them."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from kafkawire.cli.commands import PANELS, Entry, Group, OwnParser
from kafkawire.cli.description import OF_A_CLUSTER, OF_CONTEXTS, CommandDescription, Parameter
from kafkawire.cli.running import attribute_of, typer_command

_VALUE_LISTS = {
    "--chapter": "chapters",
    "--columns": "columns",
    "--group": f"{OF_A_CLUSTER}groups",
    "--principal": f"{OF_A_CLUSTER}principals",
    "--record-types": "record_types",
    "--table": "tables",
    "--topic": f"{OF_A_CLUSTER}topics",
    "--user": f"{OF_A_CLUSTER}users",
}
"""Options with values that only running code knows, and the lists of them."""

_LISTS_OF_METAVARS = {
    "BROKER": f"{OF_A_CLUSTER}brokers",
    "CONTEXT": OF_CONTEXTS,
    "LEFT": OF_CONTEXTS,
    "RIGHT": OF_CONTEXTS,
    "GROUP": f"{OF_A_CLUSTER}groups",
    "PRINCIPAL": f"{OF_A_CLUSTER}principals",
    "TOPIC": f"{OF_A_CLUSTER}topics",
    "USER": f"{OF_A_CLUSTER}users",
}
"""What a value is, as the metavar of the option or argument says, to the names that completion offers for it."""

_METAVARS = {int: "N", Path: "PATH", str: "TEXT", float: "NUMBER"}

_ROOT_HELP = (
    "Administer Apache Kafka without a JVM: plan a change, read what it means, make it for a thousand users at once.",
    "Begin with 'kafkawire demo', or with 'kafkawire doctor -b HOST:PORT' to check the connection to a cluster.",
)
_ROOT_OPTIONS = (
    Parameter(names=("-V", "--version"), help="Show the version and exit."),
    Parameter(
        names=("--install-completion",),
        metavar="[SHELL]",
        help="Install completion for bash, zsh or fish; by default for your shell.",
        choices=("bash", "fish", "zsh"),
    ),
    Parameter(
        names=("--show-completion",),
        metavar="[SHELL]",
        help="Print the completion script.",
        choices=("bash", "fish", "zsh"),
    ),
)


def described_root(commands: Mapping[str, Entry]) -> CommandDescription:
    """The description of the command ``kafkawire``; imports all commands."""
    panels = {name: panel for panel, names in PANELS.items() for name in names}
    names = [*(name for name in panels if name in commands), *(name for name in commands if name not in panels)]
    in_panels = {name: described(commands[name])._replace(panel=panels.get(name, "")) for name in names}
    return CommandDescription(_ROOT_HELP, _ROOT_OPTIONS, in_panels)


def _described_all(commands: Mapping[str, Entry]) -> Mapping[str, CommandDescription]:
    return {name: described(entry) for name, entry in commands.items()}


def described(entry: Entry) -> CommandDescription:
    """The description of a command or group."""
    if isinstance(entry, Group):
        return CommandDescription((entry.help,), (), _described_all(entry.commands))
    if isinstance(entry, OwnParser):
        return _of_parser(attribute_of(entry.parser)())
    function = attribute_of(entry)
    command = typer_command(function)
    parameters = tuple(_of_typer(each) for each in command.params if not each.hidden)
    return CommandDescription(tuple(paragraphs(inspect.getdoc(function) or "")), parameters)


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a docstring, each without line breaks."""
    for part in text.split("\n\n"):
        if part.strip():
            yield " ".join(part.split())


def _of_typer(parameter: Any) -> Parameter:  # noqa: ANN401 Typer has its classes of parameters in private
    kind = parameter.type_descriptor
    choices = tuple(str(each.value if isinstance(each, Enum) else each) for each in kind.choices or ())
    is_option = parameter.param_type_name == "option"
    is_flag = is_option and parameter.is_flag
    names = tuple(parameter.opts) if is_option else ()
    metavar = "" if is_flag else parameter.metavar or "|".join(choices)
    if not metavar and not is_flag:
        metavar = _METAVARS.get(kind.annotation, "TEXT") if is_option else parameter.name.upper()
    return Parameter(
        names=names,
        negative=tuple(parameter.secondary_opts) if is_option else (),
        metavar=metavar,
        help=" ".join((parameter.help or "").split()),
        default=_default(parameter),
        required=parameter.required,
        repeatable=parameter.multiple if is_option else parameter.nargs != 1,
        choices=choices,
        value_list=_value_list(names, metavar),
        panel=parameter.rich_help_panel or "",
    )


def _value_list(names: Sequence[str], metavar: str) -> str:
    """The list of an option that has one of its own, or else of what its metavar begins with: ``[TOPIC]...``."""
    of_name = next((_VALUE_LISTS[name] for name in names if name in _VALUE_LISTS), "")
    return of_name or _LISTS_OF_METAVARS.get(re.split(r"[\[\]:. ]+", metavar.lstrip("["))[0], "")


def _default(parameter: Any) -> str:  # noqa: ANN401 as above
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    value = parameter.default
    if not parameter.show_default or value is None or isinstance(value, bool) or value in ("", (), []):
        return ""
    return str(value.value if isinstance(value, Enum) else value)


def _of_parser(parser: argparse.ArgumentParser) -> CommandDescription:
    texts = [text for text in (parser.description, parser.epilog) if text]
    actions = [each for each in parser._actions if "--help" not in each.option_strings]  # noqa: SLF001 there is no other
    return CommandDescription(tuple(texts), tuple(map(_of_action, actions)))


def _of_action(action: argparse.Action) -> Parameter:
    choices = tuple(map(str, action.choices or ()))
    is_flag = action.nargs == 0
    names = [name for name in action.option_strings if not name.startswith("--no-")]
    negative = [name for name in action.option_strings if name.startswith("--no-")]
    if not names:  # a flag such as --no-ops, which negates nothing
        names, negative = negative, []
    return Parameter(
        names=tuple(names),
        negative=tuple(negative),
        metavar="" if is_flag else str(action.metavar or "|".join(choices) or "TEXT"),
        help=action.help or "",
        required=action.required,
        repeatable=isinstance(action, argparse._AppendAction),  # noqa: SLF001 argparse names it so
        choices=choices,
        value_list=next((_VALUE_LISTS[name] for name in names if name in _VALUE_LISTS), ""),
    )
