"""``kafkawire generate``: definitions to a Python package."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from keyword import iskeyword
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.progress import progress_bar
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.generate import (
    DefinitionsRefusedError,
    ForeignFilesError,
    Summary,
    Target,
    checked_specs,
    generate,
    stale_files,
)
from kafkawire.codegen.merge.released_versions import ReleasedVersionsError
from kafkawire.codegen.package_data import checkout_dir, specs_dir
from kafkawire.codegen.parse.error_codes import ErrorCodesError
from kafkawire.codegen.report.text import counted, render_text
from kafkawire.codegen.specs_tree import LoadedSpecs

OWN_PACKAGE = "kafkawire.protocol"


def run(
    specs: Annotated[Path | None, typer.Option(help="Folder of definitions; by default those of Apache Kafka.")] = None,
    package: Annotated[str, typer.Option(help="Dotted name of the package.")] = OWN_PACKAGE,
    out: Annotated[
        Path | None, typer.Option(help="Folder that will hold the package; required outside a checkout of kafkawire.")
    ] = None,
    tests: Annotated[Path | None, typer.Option(help="Folder for the property tests; none by default.")] = None,
    docs: Annotated[Path | None, typer.Option(help="Folder for Markdown pages about it; none by default.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a file is not up to date.")] = False,
) -> None:
    """Generate a typed Python package from message definitions.

    Only files that changed are written. Warnings about definitions are printed on standard error, except for those that
    were imported from releases: these cannot be changed, and schema lint lists their warnings. Definitions with errors
    are rejected with all their findings, and the output stays as it was.

    Exit code: 0 if the package is written or up to date, 1 if definitions have errors or --check found a file that is
    not up to date, 2 for wrong usage.
    """
    target = make_target(specs, package, out, tests, docs)
    console = Console(stderr=True)
    try:
        loaded = _load(target, console)
        if check:
            _check(target, loaded, console)
        else:
            run_generation(target, loaded, console)
    except (ErrorCodesError, ForeignFilesError, ReleasedVersionsError) as error:
        raise CommandError(str(error)) from None


def _load(target: Target, console: Console) -> LoadedSpecs:
    """Read the definitions, and print the warnings about those that were not imported from a release."""
    try:
        with progress_bar(console) as progress:
            loaded = checked_specs(target.specs, progress)
    except DefinitionsRefusedError as error:
        print(render_text(error.findings, error.sources), end="", file=sys.stderr)
        raise CommandError(str(error)) from None
    print_warnings(loaded.own_findings, loaded)
    return loaded


def print_warnings(findings: Sequence[Finding], specs: LoadedSpecs) -> None:
    """Print findings of checked definitions, none of which is an error, and their number on standard error."""
    if findings:
        print(render_text(findings, specs.sources), end="", file=sys.stderr)
        print(f"{counted(len(findings), 'warning')} in the definitions", file=sys.stderr)


def make_target(
    specs: Path | None, package: str, out: Path | None, tests: Path | None = None, docs: Path | None = None
) -> Target:
    """The target that the options name; in a checkout the defaults are the project's own folders.

    Raises:
        CommandError: if the package name is invalid, or a folder is missing or conflicts with another.
    """
    if not all(part.isidentifier() and not iskeyword(part) for part in package.split(".")):
        raise CommandError(
            f"--package: {package!r} is not the name of a package; give one such as acme.protocol", ExitCode.USAGE
        )
    if specs is not None and not specs.is_dir():
        raise CommandError(
            f"--specs: {specs} is not a folder; give the folder that holds the definitions", ExitCode.USAGE
        )
    if specs is not None and specs.resolve() != specs_dir().resolve() and package.partition(".")[0] == "kafkawire":
        raise CommandError(
            f"{package} belongs to kafkawire itself, which would no longer find its own messages: "
            "name a package of your own, such as --package acme.protocol",
            ExitCode.USAGE,
        )
    checkout = checkout_dir()
    if out is None and (specs is not None or package != OWN_PACKAGE or checkout is None):
        raise CommandError("--out is missing; give the folder that will hold the package", ExitCode.USAGE)
    if out is None and checkout is not None:
        own_tests = checkout / "tests" / "laws" / "protocol"
        return Target(specs_dir(), package, checkout / "generated", tests or own_tests, docs)
    for option, folder in (("--out", out), ("--tests", tests), ("--docs", docs)):
        if folder is not None and folder.exists() and not folder.is_dir():
            raise CommandError(f"{option}: {folder} is not a folder; give another one", ExitCode.USAGE)
    target = Target(specs or specs_dir(), package, out or Path(), tests, docs)
    _refuse_nested_folders(target)
    return target


def _refuse_nested_folders(target: Target) -> None:
    """A manifest among the definitions would be read as one of them; and a folder has one manifest."""
    specs, package = target.specs.resolve(), target.package_folder.resolve()
    others = [folder.resolve() for folder in (target.tests, target.docs) if folder is not None]
    for folder in (package, *others):
        if folder.is_relative_to(specs):
            raise CommandError(f"{folder} is inside the folder of the definitions; name another one", ExitCode.USAGE)
    for folder in others:
        if folder.is_relative_to(package):
            raise CommandError(f"{folder} is inside the folder of the package; name another one", ExitCode.USAGE)
    if len(set(others)) < len(others):
        raise CommandError(f"{others[0]} cannot hold both tests and pages; name another one", ExitCode.USAGE)


def run_generation(target: Target, specs: LoadedSpecs, console: Console) -> Summary | None:
    """Generate from the definitions of the target's folder with a progress bar, and print the result."""
    started = time.monotonic()
    with progress_bar(console) as progress:
        summary = generate(target, specs, progress)
    seconds = time.monotonic() - started
    if summary is None:
        console.print(f"{target.package_folder} is up to date ({seconds:.1f} s)", soft_wrap=True)
    else:
        console.print(f"{target.package} in {target.package_folder}", soft_wrap=True)
        console.print(summary_table(summary, seconds))
    return summary


def summary_table(summary: Summary, seconds: float) -> Table:
    """The result of a generation as a table."""
    changes = (summary.package, summary.tests, summary.docs)
    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, value in (
        ("messages", summary.messages),
        ("message versions", summary.versions),
        ("distinct message layouts", summary.layouts),
        ("distinct struct layouts", summary.struct_layouts),
        ("fields in them", summary.fields),
        ("lines of Python", summary.lines),
        ("files written", sum(len(change.written) for change in changes)),
        ("files removed", sum(len(change.removed) for change in changes)),
        ("files unchanged", sum(change.unchanged for change in changes)),
    ):
        table.add_row(name, f"{value:,}".replace(",", " "))
    table.add_row("seconds", f"{seconds:.1f}")
    return table


def _check(target: Target, specs: LoadedSpecs, console: Console) -> None:
    with progress_bar(console) as progress:
        stale = stale_files(target, specs, progress)
    if stale:
        for path in stale:
            print(path, file=sys.stderr)
        number = f"{len(stale)} generated file{'s are' if len(stale) > 1 else ' is'}"
        raise CommandError(f"{number} not up to date; run the command without --check, and keep the result")
    print("all generated files are up to date", file=sys.stderr)
