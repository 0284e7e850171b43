"""The stored description of the commands, which help and completion read, is that of the commands.

``pytest tests/golden/cli --update-golden`` writes it again; read the difference before committing it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

import pytest

from kafkawire.cli.commands import COMMANDS, PANELS, Entry, Group, OwnParser
from kafkawire.cli.describing import described_root
from kafkawire.cli.description import DESCRIPTION_FILE, CommandDescription, Description, as_json, stored_description
from kafkawire.cli.value_lists import value_lists

WITH_PYSPARK = find_spec("pyspark") is not None


def test_the_stored_description_is_up_to_date(update_golden: bool) -> None:
    stored = stored_description() if DESCRIPTION_FILE.exists() else None
    root = described_root(COMMANDS if WITH_PYSPARK else without_own_parsers(COMMANDS))
    if not WITH_PYSPARK:
        assert stored is not None
        root = with_stored(root, stored.root, COMMANDS)
    text = as_json(Description(root, value_lists()))
    if update_golden:
        DESCRIPTION_FILE.write_text(text, "utf-8")
    assert DESCRIPTION_FILE.read_text("utf-8") == text, "pytest tests/golden/cli --update-golden writes it again"


@pytest.mark.skipif(not WITH_PYSPARK, reason="PySpark is not installed")
def test_a_command_with_a_parser_of_its_own_is_described_too() -> None:
    described = stored_description().root.commands["spark"].commands["tables"]
    assert {"--log", "--table", "--out", "--columns", "--no-verify-checksums"} <= described.options.keys()


def test_each_command_is_below_one_heading_of_the_help() -> None:
    assert sorted(name for names in PANELS.values() for name in names) == sorted(COMMANDS)


def without_own_parsers(commands: Mapping[str, Entry]) -> Mapping[str, Entry]:
    """The commands that can be described without PySpark."""
    return {
        name: Group(entry.help, without_own_parsers(entry.commands)) if isinstance(entry, Group) else entry
        for name, entry in commands.items()
        if not isinstance(entry, OwnParser)
    }


def with_stored(
    described: CommandDescription, stored: CommandDescription, entries: Mapping[str, Entry]
) -> CommandDescription:
    """A description with those commands of the stored one that cannot be described without PySpark."""
    commands = {}
    for name in dict.fromkeys((*stored.commands, *entries)):
        entry = entries.get(name)
        if entry is None:
            continue
        if isinstance(entry, OwnParser):
            commands[name] = stored.commands[name]
        elif isinstance(entry, Group):
            commands[name] = with_stored(described.commands[name], stored.commands[name], entry.commands)
        else:
            commands[name] = described.commands[name]
    return described._replace(commands=commands)
