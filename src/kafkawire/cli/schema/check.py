"""``kafkawire schema check``: whether peers of two sets of definitions still understand each other."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.schema.sides import ORIGINS_HELP, load_sides, print_lines
from kafkawire.codegen.evolve.checking.accepted import Acceptance, AcceptedError, read_accepted
from kafkawire.codegen.evolve.checking.result import PURPOSES, CheckResult, check_sides
from kafkawire.codegen.evolve.render.as_json import check_json
from kafkawire.codegen.evolve.render.as_markdown import check_markdown
from kafkawire.codegen.evolve.render.as_text import check_lines
from kafkawire.codegen.evolve.render.check_wording import entries_of, rules_of, summary
from kafkawire.codegen.report.entry import RepositoryPaths
from kafkawire.codegen.report.github import render_github
from kafkawire.codegen.report.sarif import render_sarif
from kafkawire.version import __version__


class Format(StrEnum):
    """How the findings are printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github"
    SARIF = "sarif"


class ProfileName(StrEnum):
    """The rules to apply."""

    KAFKAWIRE = "kafkawire"
    UPSTREAM = "upstream"


def run(
    old: Annotated[str, typer.Argument(metavar="OLD", help=f"The older definitions: {ORIGINS_HELP}.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The newer definitions, likewise.")],
    output: Annotated[
        Format,
        typer.Option(
            "-o",
            "--format",
            help="Text for people, JSON for programs, Markdown for a comment on a change, commands for GitHub Actions, "
            "or SARIF 2.1.0.",
        ),
    ] = Format.TEXT,
    profile: Annotated[
        ProfileName, typer.Option(help="kafkawire's rules, or exactly those of Kafka's own checker.")
    ] = ProfileName.KAFKAWIRE,
    allow: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Findings that are accepted, each with its reason (TOML).")
    ] = None,
) -> None:
    """Check whether peers with the OLD and the NEW definitions still understand each other's bytes.

    A finding is breaking (peers misread or reject something), risky (the bytes are understood, but information may be
    lost) or safe (for information). Changes of versions that OLD marks unstable are safe. Besides the rules, the
    layouts are compared: whether each side can read what the other writes, for every version that both have.

    Exit code: 0 if nothing is breaking except what --allow accepts, 1 if something is, 2 if a side or FILE cannot be
    read.
    """
    acceptances = _acceptances(allow)
    result = check_sides(*load_sides(old, new), profile.value, acceptances)
    if output is Format.TEXT:
        print_lines(check_lines(result))
    else:
        typer.echo(_rendered(result, output), nl=False)
        typer.echo(summary(result), err=True)
    raise typer.Exit(ExitCode.FAILED if result.fails else ExitCode.DONE)


def _acceptances(file: Path | None) -> tuple[Acceptance, ...]:
    """The file may name the rules of every profile, so that one file serves them all."""
    if file is None:
        return ()
    try:
        return read_accepted(file, {rule: purpose for rules in PURPOSES.values() for rule, purpose in rules.items()})
    except AcceptedError as error:
        raise CommandError(str(error), ExitCode.USAGE) from None


def _rendered(result: CheckResult, output: Format) -> str:
    """A result for programs."""
    entries = entries_of(result, RepositoryPaths(Path()))
    match output:
        case Format.JSON:
            return check_json(result)
        case Format.MARKDOWN:
            return check_markdown(result)
        case Format.GITHUB:
            return render_github(entries)
        case _:
            return render_sarif(entries, rules_of(result), __version__)
