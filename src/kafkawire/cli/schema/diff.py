"""``kafkawire schema diff``: what changed in meaning between two sets of definitions."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from kafkawire.cli.outcome import ExitCode
from kafkawire.cli.schema.sides import ORIGINS_HELP, load_sides
from kafkawire.codegen.evolve.change import SchemaDiff
from kafkawire.codegen.evolve.diff_json import diff_json
from kafkawire.codegen.evolve.diff_markdown import diff_markdown
from kafkawire.codegen.evolve.diff_text import text_lines
from kafkawire.codegen.evolve.message_changes import diff_sides

_STYLES = {"+": "green", "-": "red", "~": "yellow"}


class Format(StrEnum):
    """How the changes are printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


def run(
    old: Annotated[str, typer.Argument(metavar="OLD", help=f"The older definitions: {ORIGINS_HELP}.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The newer definitions, the same.")],
    output: Annotated[
        Format,
        typer.Option("--format", help="Text for people, Markdown for a comment on a change, or JSON for programs."),
    ] = Format.TEXT,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="End with 1 if something changed.")] = False,
) -> None:
    """Tell what changed in meaning from OLD to NEW: messages, versions, fields and what is said of them.

    Texts, comments and the order of attributes do not count, nor does a range of versions beyond what is valid, nor
    whether a struct is written in line or among the common structs.

    Exit code: 0, whether something changed or not; with --exit-code 1 if something changed; 2 if a side cannot be
    read or has errors.
    """
    found = diff_sides(*load_sides(old, new))
    match output:
        case Format.TEXT:
            _print_text(found)
        case Format.MARKDOWN:
            typer.echo(diff_markdown(found), nl=False)
        case Format.JSON:
            typer.echo(diff_json(found), nl=False)
    raise typer.Exit(ExitCode.FAILED if exit_code and found.messages else ExitCode.DONE)


def _print_text(found: SchemaDiff) -> None:
    """Print lines in colours on a terminal; they are never wrapped, so that what is searched for stays on its line."""
    from rich.console import Console  # noqa: PLC0415 slow to import, and the other formats do without
    from rich.text import Text  # noqa: PLC0415 the same

    console = Console(highlight=False, emoji=False, soft_wrap=True)
    for line in text_lines(found):
        console.print(Text(line.text, _STYLES[line.sign] if line.sign else ""))
