"""``kafkawire replicas merge``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec
import typer

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.replicas.log_options import CompactedOption, LogsOption, replicated_logs
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.tables.table_batches import command_errors
from kafkawire.column_roles import ColumnRole
from kafkawire.logs import Merged, merge_replicas


class MergedLogRow(Row, frozen=True):
    """A log that was merged from its replicas.

    Attributes:
        log: name of the log.
        path: of the folder that was written.
        first_offset: of its first batch; null if no replica has a sound one.
        last_offset: of its last batch.
        batches: how many it has.
        bytes: their size.
        taken: how many of them come from each replica.
        snapshots: how many snapshots of the metadata log it has.
        dropped: how many batches a leader of a later epoch did not have, and so are left out.
        lost: offsets that no replica has, such as `10-12`.
    """

    log: str
    path: str
    first_offset: int | None
    last_offset: int | None
    batches: int
    bytes: int
    taken: dict[str, int]
    snapshots: int
    dropped: int
    lost: tuple[str, ...]

    ROLES: ClassVar = {"path": ColumnRole.DETAIL, "taken": ColumnRole.DETAIL, "lost": ColumnRole.ERROR}

    @classmethod
    def of(cls, each: Merged) -> MergedLogRow:
        """The row of a log."""
        lost = tuple(f"{first}-{last}" for first, last in each.lost)
        return msgspec.convert({**asdict(each), "lost": lost}, cls)


def merge(
    log: LogsOption,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Folder in which a folder of each partition is made; none of them may exist."),
    ],
    compacted: CompactedOption = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Merge the replicas of logs that several brokers have: a sound batch for each offset that any of them has.

    Where they differ, the batches of the higher leader epoch are taken, as a follower does (KIP-101, KIP-279). What is
    written is for reading with kafkawire and kafka-dump-log. A source is never changed.

    Exit code: 0 if every offset between the first and the last has its batch, 3 if some are lost, 1 for a failure, 2
    for wrong usage.
    """
    for path in log:
        if out.resolve().is_relative_to(Path(path).resolve()):
            raise CommandError(f"--out {out} is in {path}, which is only read: give another folder", ExitCode.USAGE)
    with command_errors():
        merged = [merge_replicas(one, out, compacted=compacted) for one in replicated_logs(log)]
    print_rows([MergedLogRow.of(each) for each in merged], MergedLogRow, output)
    if any(each.lost for each in merged):
        raise typer.Exit(ExitCode.SOME_FAILED)
