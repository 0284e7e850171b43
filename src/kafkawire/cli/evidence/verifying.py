"""``kafkawire evidence verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

import typer

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole
from kafkawire.logs import Manifest, ManifestError, verify_manifest


class EvidenceRow(Row, frozen=True):
    """A file of a manifest, and what it is now.

    Attributes:
        path: where it should be.
        part: `input` or `result`.
        state: `same`, `grew`, `differs`, `missing` or `unreadable`; an input that a broker appended to is `grew`.
        reason: what is wrong; null if nothing is.
    """

    path: str
    part: str
    state: str
    reason: str | None

    ROLES: ClassVar = {"state": ColumnRole.CONTENT, "reason": ColumnRole.ERROR}


def verify(
    manifest: Annotated[
        Path, typer.Argument(metavar="FILE", help="A manifest, such as acls.csv.manifest.json.", show_default=False)
    ],
    moved: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OLD=NEW", help="A folder or URI in the manifest, and where its files are now; repeatable."
        ),
    ] = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Say whether the inputs and the result of a manifest are still there with the same bytes.

    Exit code: 0 if they all are, 1 if a file is missing or differs or the manifest cannot be read, 2 for wrong usage.
    """
    places = dict(map(_old_and_new, moved or ()))
    try:
        read = Manifest.decode(manifest.read_bytes())
    except ManifestError as error:
        raise CommandError(f"{manifest}: {error}") from None
    files = list(verify_manifest(read, moved=places))
    rows = [
        EvidenceRow(file.path, "result" if file.is_result else "input", file.state.value, file.reason) for file in files
    ]
    print_rows(rows, EvidenceRow, output)
    if not all(file.state.is_unchanged for file in files):
        raise typer.Exit(ExitCode.FAILED)


def _old_and_new(text: str) -> tuple[str, str]:
    old, is_pair, new = text.partition("=")
    if not (is_pair and old and new):
        raise CommandError(f"--moved {text}: give OLD=NEW, two folders or URIs", ExitCode.USAGE)
    return old, new
