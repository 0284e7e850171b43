"""``kafkawire specs``: the definitions and where they come from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.recheck import recheck
from kafkawire.codegen.importing.run import ImportRequest, ImportResult, import_specs
from kafkawire.codegen.importing.summary import ReleaseCount, changes_of, counts_of
from kafkawire.codegen.merge.released_versions import Relation, read_released_versions, releases_of
from kafkawire.codegen.specs_tree import load_specs

_SHOWN_FILES = 20


def import_(
    sources: Annotated[Path, typer.Option(help="What to import: releases, artifacts, digests, decisions.")] = Path(
        "specs/sources.toml"
    ),
    specs: Annotated[Path, typer.Option(help="The folder of definitions to write.")] = Path("specs"),
    offline_jars: Annotated[
        Path | None,
        typer.Option(file_okay=False, exists=True, help="Take jars from here (VERSION/NAME.jar), without Maven."),
    ] = None,
    pin: Annotated[bool, typer.Option("--pin", help="Record the sha256 of jars that have none yet.")] = False,
) -> None:
    """Fetch the releases with Maven, check and merge their definitions, prove the merge, and write them.

    Correct files are not touched; a failed import changes nothing.
    """
    if not sources.is_file():
        raise CommandError(
            f"--sources: {sources} is not a file; give the one that lists the releases to import", ExitCode.USAGE
        )
    console = Console(stderr=True)
    try:
        with console.status("importing") as status:
            result = import_specs(ImportRequest(sources, specs, offline_jars, pin), status.update)
    except SpecsImportError as problem:
        raise CommandError("the import failed:\n  " + "\n  ".join(problem.problems), ExitCode.FAILED) from problem
    _show(result, specs)


def check(specs: Annotated[Path, typer.Option(help="The folder of definitions.")] = Path("specs")) -> None:
    """Compare the definitions with the record of the releases that they were imported from, without Maven."""
    if not specs.is_dir():
        raise CommandError(f"--specs: {specs} is not a folder; give the folder of the definitions", ExitCode.USAGE)
    versions = read_released_versions(specs)
    loaded = load_specs(specs)
    errors = [f"{f.file}:{f.span.line}: {f.rule}: {f.message}" for f in loaded.findings if f.severity == "error"]
    problems = [*errors, *recheck(loaded.messages, versions)]
    if not versions:
        problems.append(f"{specs} has no record of releases")
    if problems:
        raise CommandError("\n  ".join(["the definitions are not those of the releases:", *problems]), ExitCode.FAILED)
    held = [version for version in versions if version.version >= 0]
    messages = {version.merged_message for version in held}
    print(f"{len(messages)} messages hold {len(held)} versions of {', '.join(releases_of(versions))} unchanged")


def _show(result: ImportResult, specs: Path) -> None:
    Console().print(_counts_table(counts_of(result.versions), result))
    for line in _lines(result, specs):
        print(line)


def _lines(result: ImportResult, specs: Path) -> Iterator[str]:
    """What later releases changed, then what was done."""
    for change in changes_of(result.versions):
        what = "; ".join(str(difference) for difference in change.differences)
        yield f"{change.release} {change.message} {change.versions} {change.relation}: {what}"
    for jar in result.pinned:
        yield f"pinned the sha256 of {jar}"
    yield from result.notes
    changes = result.changes
    for verb, names in (("wrote", changes.written), ("removed", changes.removed)):
        yield from (f"{verb} {specs / name}" for name in names[:_SHOWN_FILES])
        if len(names) > _SHOWN_FILES:
            yield f"{verb} {_files(len(names) - _SHOWN_FILES, 'more file')}"
    written, removed = len(changes.written), len(changes.removed)
    yield f"{_files(written, 'file')} written, {removed} removed, {changes.unchanged} unchanged"


def _files(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _counts_table(counts: tuple[ReleaseCount, ...], result: ImportResult) -> Table:
    table = Table(title="Imported definitions", box=SIMPLE_HEAD, collapse_padding=True)
    for heading in ("release", "messages", "retired", "versions", *get_args(Relation)):
        table.add_column(heading, justify="left" if heading == "release" else "right")
    for count in counts:
        relations = [str(count.relations.get(relation, 0)) for relation in get_args(Relation)]
        table.add_row(count.release, str(count.messages), str(count.retired), str(count.versions), *relations)
    merged = sum(len(list(message.valid_versions)) for message in result.messages)
    table.add_row("merged", str(len(result.messages)), "", str(merged), "", "", "", "", style="bold")
    return table
