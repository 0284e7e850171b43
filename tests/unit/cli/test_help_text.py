"""Help texts at several widths."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkawire.cli.app import main
from kafkawire.cli.description import CommandDescription, Parameter, stored_description
from kafkawire.cli.help_text import help_text

WIDTHS = (40, 80, 100)


def commands() -> Iterator[tuple[str, CommandDescription]]:
    def below(path: str, command: CommandDescription) -> Iterator[tuple[str, CommandDescription]]:
        yield path, command
        for name, each in command.commands.items():
            yield from below(f"{path} {name}", each)

    yield from below("kafkawire", stored_description().root)


every_command = pytest.mark.parametrize(("path", "command"), list(commands()), ids=[path for path, _ in commands()])


@every_command
@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_of_a_paragraph_is_short_in_the_middle(path: str, command: CommandDescription, width: int) -> None:
    """The first word of each line would not have fitted into the line before it."""
    text = help_text(path, command, width)
    for paragraph in command.help:
        first = paragraph.split()[0]
        blocks = [block.splitlines() for block in text.split("\n\n") if " ".join(block.split()) == paragraph]
        assert len(blocks) == 1, first
        for line, following in zip(blocks[0], blocks[0][1:], strict=False):
            assert len(line) <= width
            assert len(line) + 1 + len(following.split()[0]) > width


@every_command
@pytest.mark.parametrize("width", WIDTHS)
def test_lines_fit_and_nothing_is_lost(path: str, command: CommandDescription, width: int) -> None:
    text = help_text(path, command, width)
    too_long = [line for line in text.splitlines() if len(line) > width and " " in line.strip()]
    assert [line for line in too_long if "|" not in line and "--no-" not in line] == []
    shown = " ".join(text.split())
    for parameter in command.parameters:
        assert parameter.help in shown
        assert all(name in shown for name in (*parameter.names, *parameter.negative))
    for name, each in command.commands.items():
        assert f"{name} {each.summary}" in shown


def test_brackets_in_help_are_text() -> None:
    command = CommandDescription(("Install kafkawire[cli,tables] first.",), [Parameter(("--x",), help="See [bold].")])
    text = help_text("kafkawire x", command, 80)
    assert "kafkawire[cli,tables]" in text
    assert "See [bold]." in text


def test_headings_are_bold_on_a_terminal_only() -> None:
    command = CommandDescription(("Do it.",))
    assert "\x1b[1mOptions:\x1b[0m" in help_text("kafkawire x", command, 80, bold=True)
    assert "\x1b" not in help_text("kafkawire x", command, 80)


@pytest.mark.parametrize("words", [["help", "schema", "lint"], ["schema", "lint", "--help"], ["schema", "lint", "-h"]])
def test_there_are_three_ways_to_ask_for_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("Usage: kafkawire schema lint [OPTIONS] PATH...\n")


def test_help_as_the_value_of_an_option_is_no_call_for_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", "--table", "--help"]) == 2
    assert capsys.readouterr().out == ""
