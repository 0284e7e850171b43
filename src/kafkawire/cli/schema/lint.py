"""``kafkawire schema lint``: definitions against the rules of the language."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kafkawire.cli.outcome import ExitCode
from kafkawire.codegen.check import RULES
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.parse.load import load_paths
from kafkawire.codegen.report.entry import Entry, ReportedRule, RepositoryPaths
from kafkawire.codegen.report.github import render_github
from kafkawire.codegen.report.sarif import render_sarif
from kafkawire.codegen.report.text import render_json, render_json_lines, render_text, summary
from kafkawire.version import __version__


class Format(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    GITHUB = "github"
    SARIF = "sarif"


def run(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", exists=True, help="Definition files, or folders of them.")
    ],
    output: Annotated[
        Format,
        typer.Option(
            "-o",
            "--format",
            help="Text for people, JSON or JSON lines for programs, commands for GitHub Actions, or SARIF 2.1.0.",
        ),
    ] = Format.TEXT,
) -> None:
    """Check message definitions against the rules of the definition language.

    A folder is read with its sub-folders (every *.json file), and the messages of each folder are also checked
    together: unique keys, requests with their responses, keys of records with their values, header versions. Single
    files are checked separately, because their partners may be elsewhere.

    Exit code: 0 if there is nothing worse than a warning, 1 if there is an error, 2 if a path does not exist.
    """
    definitions = load_paths(paths)
    findings = definitions.findings
    line = summary(findings, len(definitions.files))
    if output is Format.TEXT:
        typer.echo(render_text(findings, definitions.sources) + line)
    else:
        typer.echo(_rendered(findings, output), nl=False)
        typer.echo(line, err=True)
    raise typer.Exit(ExitCode.FAILED if definitions.has_errors else ExitCode.DONE)


def _rendered(findings: Sequence[Finding], output: Format) -> str:
    """Findings for programs."""
    if output is Format.JSON:
        return render_json(findings)
    if output is Format.JSONL:
        return render_json_lines(findings)
    paths = RepositoryPaths(Path())
    entries = [_entry(finding, paths) for finding in findings]
    if output is Format.GITHUB:
        return render_github(entries)
    rules = (ReportedRule(rule.id, rule.purpose, rule.remedy) for rule in RULES.values())
    return render_sarif(entries, rules, __version__)


def _entry(finding: Finding, paths: RepositoryPaths) -> Entry:
    return Entry(
        finding.file,
        paths.of(finding.file),
        finding.span,
        finding.severity,
        finding.rule,
        finding.message,
        finding.remedy,
    )
