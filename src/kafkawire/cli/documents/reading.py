"""Reads documents for a command: problems are printed, mistakes end it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.codegen.definition import Span
from kafkawire.codegen.findings import Finding, Severity
from kafkawire.codegen.report.text import counted, render_text
from kafkawire.declared.documents.declared import Declared
from kafkawire.declared.documents.problems import Problem, Rule
from kafkawire.declared.documents.reading import read_documents
from kafkawire.declared.documents.text_files import STANDARD_INPUT
from kafkawire.declared.saved_plan import is_saved_plan

_MOST_PRINTED: Final = 100
_HEAD: Final = 4096


def read_sound_documents(paths: Sequence[str]) -> Declared:
    """What documents declare; their problems are printed on standard error.

    Args:
        paths: files, folders, and ``-`` for standard input.

    Raises:
        CommandError: they have mistakes.
    """
    for path in paths:
        if Path(path) != STANDARD_INPUT and _is_saved_plan(Path(path)):
            message = f"{path} is a saved plan, not a document; carry it out alone with kafkawire apply {path}"
            raise CommandError(message, ExitCode.USAGE)
    declared = read_documents(paths)
    sys.stderr.write(problem_text(declared))
    errors = len(declared.errors)
    if errors:
        absent = all(each.rule is Rule.FILE for each in declared.errors)
        raise CommandError(
            f"the documents have {counted(errors, 'error')}; nothing was sent to a broker",
            ExitCode.USAGE if absent else ExitCode.FAILED,
        )
    return declared


def _is_saved_plan(path: Path) -> bool:
    if not path.is_file():
        return False  # what a pipe has can be read once only
    try:
        with path.open("rb") as file:
            return is_saved_plan(file.read(_HEAD))
    except OSError:
        return False  # the reader of documents says why


def problem_text(declared: Declared) -> str:
    """The problems for people: place, what is wrong, the line of the document with carets, and what to do."""
    mistakes_first = sorted(declared.problems, key=lambda each: each.is_warning)
    text = render_text([_finding(each) for each in mistakes_first[:_MOST_PRINTED]], declared.sources)
    left = len(mistakes_first) - _MOST_PRINTED
    return f"{text}and {counted(left, 'more problem')}\n" if left > 0 else text


def _finding(problem: Problem) -> Finding:
    place = problem.position
    span = Span(place.line, place.column, place.end_line, place.end_column)
    severity: Severity = "warning" if problem.is_warning else "error"
    return Finding(place.file, span, problem.rule, severity, problem.message, problem.remedy)
