"""Help texts of commands, wrapped once, at the width of the terminal."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from kafkawire.cli.description import CommandDescription, Parameter

_WIDEST = 100
_NARROWEST = 40
_WIDEST_NAMES = 24
_INDENT = "  "
_HELP = Parameter(names=("-h", "--help"), help="Show this help and exit.")


def help_text(path: str, command: CommandDescription, width: int, *, bold: bool = False) -> str:
    """The help of a command.

    Args:
        path: its names, such as ``kafkawire schema lint``.
        command: its description.
        width: characters of a line.
        bold: whether headings are bold, for a terminal.
    """
    parts = [_usage(path, command, width, bold=bold)]
    parts += [_wrapped(paragraph, width) for paragraph in command.help]
    sections = list(_sections(command))
    names = [name for _, rows in sections for name, _ in rows]
    column = max((len(name) for name in names if len(name) <= _WIDEST_NAMES), default=0)
    for heading, rows in sections:
        parts.append("\n".join([_heading(f"{heading}:", bold=bold), *_rows(rows, column, width)]))
    if command.commands:
        parts.append(_wrapped(f"{path} COMMAND --help explains a command.", width))
    return "\n\n".join(parts) + "\n"


def print_help(path: str, command: CommandDescription) -> None:
    """Print the help of a command on standard output."""
    columns = shutil.get_terminal_size().columns
    width = max(_NARROWEST, min(columns, _WIDEST))
    print(help_text(path, command, width, bold=_has_bold()), end="")


def _has_bold() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _usage(path: str, command: CommandDescription, width: int, *, bold: bool) -> str:
    if command.commands:
        pieces = ["COMMAND", "[ARGUMENTS]"] if path.count(" ") else ["[OPTIONS]", "COMMAND", "[ARGUMENTS]"]
    else:
        needed = [f"{each.title} {each.metavar}" for each in command.parameters if each.is_option and each.required]
        arguments = [_usage_of_argument(each) for each in command.arguments]
        pieces = [*needed, "[OPTIONS]", *arguments]
    line = f"Usage: {path} {' '.join(pieces)}"
    wrapped = textwrap.fill(line, width, subsequent_indent=" " * 8, break_on_hyphens=False, break_long_words=False)
    return wrapped.replace("Usage:", _heading("Usage:", bold=bold), 1)


def _usage_of_argument(argument: Parameter) -> str:
    return argument.metavar if argument.required else f"[{argument.metavar}]"


def _sections(command: CommandDescription) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    if command.arguments:
        yield "Arguments", [(each.metavar, _explained(each)) for each in command.arguments]
    for panel in dict.fromkeys(each.panel for each in command.commands.values()):
        shown = [(name, each.summary) for name, each in command.commands.items() if each.panel == panel]
        yield panel or "Commands", shown
    options = [each for each in command.parameters if each.is_option]
    for panel in dict.fromkeys(["", *(each.panel for each in options)]):
        below = [*(each for each in options if each.panel == panel), *(() if panel else (_HELP,))]
        yield panel or "Options", [(_names(each), _explained(each)) for each in below]


def _names(option: Parameter) -> str:
    short = [name for name in option.names if not name.startswith("--")]
    long = [name for name in option.names if name.startswith("--")]
    names = ", ".join((*short, *long, *option.negative))
    lead = "" if short else " " * len("-o, ")
    return f"{lead}{names} {option.metavar}".rstrip()


def _explained(parameter: Parameter) -> str:
    """Its sentence, and what is known of its values."""
    notes = [f"default: {parameter.default}"] if parameter.default else []
    notes += ["required"] if parameter.required and parameter.is_option else []
    return f"{parameter.help} [{'; '.join(notes)}]" if notes else parameter.help


def _rows(rows: Iterable[tuple[str, str]], column: int, width: int) -> Iterator[str]:
    """A name and its text beside it; a long name has a line of its own."""
    indent = " " * (len(_INDENT) + column + 2)
    for name, text in rows:
        if len(name) > column:
            yield from _long_name(name, width)
            lead = indent
        else:
            lead = f"{_INDENT}{name:<{column}}  "
        if text:
            yield _wrapped(text, width, lead, indent)
        elif len(name) <= column:
            yield lead.rstrip()


def _long_name(name: str, width: int) -> Iterator[str]:
    """Choices or names that are wider than the line continue after a ``|`` or a comma."""
    line = _INDENT
    for piece in re.split(r"(?<=\|)|(?<=, )", name):
        if len(line) + len(piece) > width and line.strip():
            yield line.rstrip()
            line = f"{_INDENT}        "
        line += piece
    yield line


def _wrapped(text: str, width: int, first: str = "", following: str = "") -> str:
    return textwrap.fill(
        " ".join(text.split()),
        width,
        initial_indent=first,
        subsequent_indent=following,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _heading(text: str, *, bold: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if bold else text
