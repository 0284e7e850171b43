"""``kafkawire schema lint``: definitions against the rules of the language."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kafkawire.cli.outcome import ExitCode
from kafkawire.codegen.lint import render_json, render_text, summary
from kafkawire.codegen.parse import load_paths


class Format(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"


def run(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", exists=True, help="Definition files, or folders of them.")
    ],
    output: Annotated[
        Format, typer.Option("--format", help="Text for people, or one JSON object a line for programs.")
    ] = Format.TEXT,
) -> None:
    """Check message definitions against the rules of the definition language.

    A folder is read with its sub-folders (every *.json file), and the messages of each folder are also checked
    together: unique keys, requests with their responses, keys of records with their values, header versions. Files
    that are named one by one are checked each by itself, for their partners may lie elsewhere.

    Exit code: 0 if there is nothing worse than a warning, 1 if there is an error, 2 if a path does not exist.
    """
    definitions = load_paths(paths)
    findings = definitions.findings
    line = summary(findings, len(definitions.files))
    if output is Format.JSON:
        typer.echo(render_json(findings), nl=False)
        typer.echo(line, err=True)
    else:
        typer.echo(render_text(findings, definitions.sources) + line)
    raise typer.Exit(ExitCode.FAILED if definitions.has_errors else ExitCode.DONE)
