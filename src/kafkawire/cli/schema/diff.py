"""``kafkawire schema diff``: what changed in meaning between two sets of definitions."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from kafkawire.cli.outcome import ExitCode
from kafkawire.cli.schema.sides import ORIGINS_HELP, load_sides, print_lines
from kafkawire.codegen.evolve.message_changes import diff_sides
from kafkawire.codegen.evolve.render.as_json import diff_json
from kafkawire.codegen.evolve.render.as_markdown import diff_markdown
from kafkawire.codegen.evolve.render.as_text import diff_lines


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
        typer.Option(
            "-o", "--format", help="Text for people, Markdown for a comment on a change, or JSON for programs."
        ),
    ] = Format.TEXT,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 if something changed.")] = False,
) -> None:
    """List what changed in meaning from OLD to NEW: messages, versions, fields and their attributes.

    Texts, comments and the order of attributes are not compared, nor are versions beyond the valid ones. It makes no
    difference whether a struct is declared inline or as a common struct.

    Exit code: 0, whether something changed or not; with --exit-code 1 if something changed; 2 if a side cannot be
    read or has errors.
    """
    found = diff_sides(*load_sides(old, new))
    match output:
        case Format.TEXT:
            print_lines(diff_lines(found))
        case Format.MARKDOWN:
            typer.echo(diff_markdown(found), nl=False)
        case Format.JSON:
            typer.echo(diff_json(found), nl=False)
    raise typer.Exit(ExitCode.FAILED if exit_code and found.messages else ExitCode.DONE)
