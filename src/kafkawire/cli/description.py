"""What help and completion know of commands, read from a file: no command is imported for them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader

DESCRIPTION_FILE = Path(__file__).with_name("description.json")
"""Written by ``pytest tests/golden/cli --update-golden`` from the commands; a test keeps it up to date."""

HELP_OPTIONS = ("-h", "--help")

OF_A_CLUSTER = "cluster/"
"""How names of lists begin that only a cluster knows: ``cluster/topics``."""

OF_CONTEXTS = "contexts"
"""The list of the user's contexts."""


class Parameter(NamedTuple):
    """An option or an argument.

    Attributes:
        names: ``-o`` and ``--format`` of an option; empty for an argument.
        negative: names that set a flag to false, such as ``--no-verify-checksums``.
        metavar: represents the value in help texts; empty for a flag.
        help: what it does; one paragraph.
        default: as text; empty if there is none, or if it says nothing.
        required: whether it must be given.
        repeatable: whether it may be given several times.
        choices: all values that it may have; empty if there are others.
        value_list: name of the list of its values: in ``Description.values``, or ``contexts``, or of a cluster as
            ``cluster/topics``; empty if there is none.
        panel: heading above the option in the help; empty for the usual one.
    """

    names: Sequence[str] = ()
    negative: Sequence[str] = ()
    metavar: str = ""
    help: str = ""
    default: str = ""
    required: bool = False
    repeatable: bool = False
    choices: Sequence[str] = ()
    value_list: str = ""
    panel: str = ""

    @property
    def is_option(self) -> bool:
        """Whether it is an option, not an argument."""
        return bool(self.names)

    @property
    def is_flag(self) -> bool:
        """Whether it is an option without a value."""
        return self.is_option and not self.metavar

    @property
    def title(self) -> str:
        """How messages name it: the longest name of an option, the metavar of an argument."""
        return max(self.names, key=len) if self.names else self.metavar


class CommandDescription(NamedTuple):
    """A command, or a group of commands.

    Attributes:
        help: paragraphs; the first begins with the summary.
        parameters: options and arguments.
        commands: the sub-commands of a group, by name.
        panel: heading above the command in the help of its group; empty for the usual one.
    """

    help: Sequence[str]
    parameters: Sequence[Parameter] = ()
    commands: Mapping[str, CommandDescription] = {}
    panel: str = ""

    @property
    def summary(self) -> str:
        """The first sentence, up to a colon: what lists of commands show."""
        first = self.help[0] if self.help else ""
        sentence = first.partition(". ")[0].partition(": ")[0]
        return f"{sentence.rstrip('.')}."

    @property
    def options(self) -> Mapping[str, Parameter]:
        """The options by each of their names."""
        return {name: each for each in self.parameters for name in (*each.names, *each.negative)}

    @property
    def arguments(self) -> Sequence[Parameter]:
        """The arguments in their order."""
        return [each for each in self.parameters if not each.is_option]


class Description(NamedTuple):
    """All that help and completion show.

    Attributes:
        root: the command ``kafkawire``.
        values: lists of values by name. One that depends on a table has a list for each table: ``columns/topic``.
    """

    root: CommandDescription
    values: Mapping[str, Sequence[str]]


def stored_description() -> Description:
    """The description of all commands of this release."""
    loader: ResourceLoader = sys.modules[__name__].__loader__  # type: ignore[assignment] # reads from a zip too
    stored = json.loads(loader.get_data(str(DESCRIPTION_FILE)))
    return Description(_command(stored["root"]), stored["values"])


def as_json(description: Description) -> str:
    """The text of the file."""
    return json.dumps({"root": _plain(description.root), "values": description.values}, indent=1) + "\n"


def _command(stored: Mapping[str, object]) -> CommandDescription:
    plain: Mapping[str, list[dict[str, str]]] = stored  # type: ignore[assignment] # as _plain wrote it
    commands: Mapping[str, Mapping[str, object]] = stored.get("commands", {})  # type: ignore[assignment] # the same
    return CommandDescription(
        plain["help"],  # type: ignore[arg-type] # paragraphs
        [Parameter(**each) for each in plain.get("parameters", ())],  # type: ignore[arg-type] # its fields
        {name: _command(each) for name, each in commands.items()},
        str(stored.get("panel", "")),
    )


def _plain(command: CommandDescription) -> dict[str, object]:
    parameters = [dict(_set_fields(each)) for each in command.parameters]
    commands = {name: _plain(each) for name, each in command.commands.items()}
    parts = {"panel": command.panel, "parameters": parameters, "commands": commands}
    return {"help": list(command.help), **{name: part for name, part in parts.items() if part}}


def _set_fields(parameter: Parameter) -> Iterator[tuple[str, object]]:
    """The fields that differ from their defaults."""
    for name, value in parameter._asdict().items():
        if value:
            yield name, list(value) if isinstance(value, (tuple, list)) else value
