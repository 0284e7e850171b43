"""``kafkawire specs``: the definitions and where they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.codegen.importing.problem import ImportProblem
from kafkawire.codegen.importing.run import ImportRequest, ImportResult, import_specs
from kafkawire.codegen.importing.summary import ReleaseCount, counts_of

app = typer.Typer(help="Message definitions: import them from Apache Kafka's releases.", no_args_is_help=True)

_SHOWN_FILES = 20


@app.callback()
def specs() -> None:
    """Message definitions: import them from Apache Kafka's releases."""


@app.command("import")
def import_(
    sources: Annotated[Path, typer.Option(help="What to import: releases, artifacts, digests, decisions.")] = Path(
        "specs/sources.toml"
    ),
    specs: Annotated[Path, typer.Option(help="The folder of definitions to write.")] = Path("specs"),
    offline_jars: Annotated[
        Path | None,
        typer.Option(file_okay=False, exists=True, help="Take jars from this folder (VERSION/NAME.jar), without Maven."),
    ] = None,
    pin: Annotated[bool, typer.Option("--pin", help="Record the sha256 of jars that have none in the sources.")] = False,
) -> None:
    """Fetch the releases with Maven, check and merge their definitions, prove the merge, and write them.

    What is already right is not touched; an import that fails leaves everything as it was.
    """
    told = Console(stderr=True)
    try:
        with told.status("importing") as status:
            result = import_specs(ImportRequest(sources, specs, offline_jars, pin), status.update)
    except ImportProblem as problem:
        raise CommandError("the import failed:\n  " + "\n  ".join(problem.problems), ExitCode.FAILED) from problem
    _show(result, specs)


def _show(result: ImportResult, specs: Path) -> None:
    console = Console()
    console.print(_counts_table(counts_of(result.versions), result))
    for version in result.versions:
        if version.relation != "same":
            changes = "; ".join(str(difference) for difference in version.differences)
            console.print(f"{version.release} {version.message} {version.version} {version.relation}: {changes}")
    for jar in result.pinned:
        console.print(f"pinned the sha256 of {jar}")
    for note in result.notes:
        console.print(note, style="yellow")
    changes = result.changes
    for verb, names in (("wrote", changes.written), ("removed", changes.removed)):
        for name in names[:_SHOWN_FILES]:
            console.print(f"{verb} {specs / name}")
        if len(names) > _SHOWN_FILES:
            console.print(f"{verb} {len(names) - _SHOWN_FILES} more files")
    console.print(f"{len(changes.written)} files written, {len(changes.removed)} removed, {changes.unchanged} unchanged")


def _counts_table(counts: tuple[ReleaseCount, ...], result: ImportResult) -> Table:
    table = Table(title="Imported definitions")
    for heading in ("", "messages", "retired", "versions", "same", "renamed", "extended", "replaced"):
        table.add_column(heading, justify="right" if heading else "left")
    for count in counts:
        relations = [str(count.relations[relation]) for relation in ("same", "renamed", "extended", "replaced")]
        table.add_row(count.release, str(count.messages), str(count.retired), str(count.versions), *relations)
    merged = sum(len(list(message.valid_versions)) for message in result.messages)
    table.add_row("merged", str(len(result.messages)), "", str(merged), "", "", "", "", style="bold")
    return table
