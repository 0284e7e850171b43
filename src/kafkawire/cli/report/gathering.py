"""A report out of logs: every history is read once, and what a page can hold of it is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from rich.console import Console

from kafkawire.cli.report.bounded import CountOverTime, NewestRows
from kafkawire.cli.report.committed import COMMIT_COLUMNS, CommitFold
from kafkawire.cli.report.contents import LogReport, Section, TableAccount
from kafkawire.cli.report.intervals import SHOWN_HISTORIES, ShownHistory, rows_of
from kafkawire.cli.report.log_ends import log_ends
from kafkawire.cli.tables.reading import batches_of, found_logs
from kafkawire.logs import Accounts, LogFile, ReadOptions, table_named

__all__ = ["gather_report"]

_STEPS: Final = 600


def gather_report(
    title: str, paths: Sequence[str], console: Console, *, limit: int, as_of: datetime | None = None
) -> tuple[LogReport, Accounts]:
    """What a page shows of some logs, and what became of all their bytes.

    Args:
        title: of the page.
        paths: where the logs are.
        console: for progress bars, if it is a terminal.
        limit: how many rows a section may have.
        as_of: the date that the page opens at.

    Raises:
        CommandError: there are no logs, or they cannot be read.
    """
    files = found_logs(paths)
    reader = _Reader(paths, files, console)
    sections = {history.section: _section(reader, history, limit) for history in SHOWN_HISTORIES}
    fold = CommitFold()
    for row in reader.rows("offset_commits", COMMIT_COLUMNS):
        fold.add(row)
    commits, commits_left_out = fold.committed(limit, log_ends(files))
    reader.cover(fold.first)
    reader.cover(fold.last)
    report = LogReport(
        title=title,
        began=reader.began,
        ended=reader.ended,
        acls=sections["acls"],
        quotas=sections["quotas"],
        topics=sections["topics"],
        configs=sections["configs"],
        commits=commits,
        commit_times=fold.bars.bars,
        commits_left_out=commits_left_out,
        accounts=reader.accounts,
        logs=sorted({file.folder for file in files}),
        clusters=sorted({file.cluster for file in files if file.cluster is not None}),
        as_of=None if as_of is None else int(as_of.timestamp() * 1000),
    )
    return report, reader.total


class _Reader:
    """Reads tables of the same logs, and keeps their accounts.

    Attributes:
        accounts: of each table.
        total: of all of them.
        began, ended: the first and the last time that rows tell.
    """

    def __init__(self, paths: Sequence[str], files: Sequence[LogFile], console: Console) -> None:
        self.accounts: list[TableAccount] = []
        self.total = Accounts()
        self.began = self.ended = 0
        self._covers = False
        self._paths = paths
        self._topics = {file.topic for file in files}
        self._console = console

    def cover(self, time: int | None) -> None:
        """Take a time into what is covered."""
        if time is not None:
            self.began = min(self.began, time) if self._covers else time
            self.ended = max(self.ended, time) if self._covers else time
            self._covers = True

    def rows(self, table: str, columns: tuple[str, ...]) -> Iterator[dict[str, object]]:
        """The rows of a table; none if its log is not there."""
        options = ReadOptions(columns=columns)
        if self._topics.isdisjoint(table_named(table, options).logs):
            return
        accounts = Accounts()
        for batch in batches_of(table, self._paths, options, accounts, self._console):
            yield from rows_of(batch)
        self.total.merge(accounts)
        self.accounts.append(
            TableAccount(
                table=table,
                rows=accounts.rows,
                records=accounts.records_read,
                bytes_read=accounts.bytes_read,
                bytes_decoded=accounts.bytes_decoded,
                bytes_skipped=accounts.bytes_skipped,
                errors=accounts.errors,
            )
        )


def _section(reader: _Reader, history: ShownHistory, limit: int) -> Section:
    kept = NewestRows(limit)
    counts: dict[str, CountOverTime] = defaultdict(lambda: CountOverTime(_STEPS))
    for record in reader.rows(history.table, history.columns):
        begin, end = _time(record["valid_from"]), _time(record["valid_to"])
        reader.cover(begin)
        reader.cover(end)
        row = history.row(record)
        if row is not None:
            kept.add((*row, begin, end), begin, end)
            counts["" if history.kind is None else str(row[history.kind])].add(begin, end)
    section = kept.section(history.fields)
    return replace(section, counts={kind: count.steps(reader.began) for kind, count in counts.items()})


def _time(cell: object) -> int | None:
    return cell if isinstance(cell, int) else None
