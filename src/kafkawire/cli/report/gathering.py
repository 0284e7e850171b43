"""A report out of logs: every history is read once, and what a page can hold of it is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.console import Console

from kafkawire.cli.report.bounded import NewestRows
from kafkawire.cli.report.committed import COMMIT_COLUMNS, CommitFold
from kafkawire.cli.report.contents import LogReport, Section, TableAccount
from kafkawire.cli.report.intervals import SHOWN_HISTORIES, ShownHistory, rows_of
from kafkawire.cli.report.log_ends import log_ends
from kafkawire.cli.tables.reading import batches_of, found_logs
from kafkawire.logs import Accounts, LogFile, ReadOptions, table_named

__all__ = ["gather_report"]


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
    bars = fold.bars.bars
    times = [*reader.times, *(time for begin, end, _ in bars for time in (begin, end - 1))]
    report = LogReport(
        title=title,
        began=min(times, default=0),
        ended=max(times, default=0),
        acls=sections["acls"],
        quotas=sections["quotas"],
        topics=sections["topics"],
        configs=sections["configs"],
        commits=commits,
        commit_times=bars,
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
        times: the earliest and the latest of each batch of rows.
    """

    def __init__(self, paths: Sequence[str], files: Sequence[LogFile], console: Console) -> None:
        self.accounts: list[TableAccount] = []
        self.total = Accounts()
        self.times: list[int] = []
        self._paths = paths
        self._topics = {file.topic for file in files}
        self._console = console

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
    first, last = None, None
    for record in reader.rows(history.table, history.columns):
        begin, end = _time(record["valid_from"]), _time(record["valid_to"])
        for time in (begin, end):
            if time is not None:
                first = time if first is None else min(first, time)
                last = time if last is None else max(last, time)
        row = history.row(record)
        if row is not None:
            kept.add((*row, begin, end), begin, end)
    reader.times += [time for time in (first, last) if time is not None]
    return kept.section(history.fields)


def _time(cell: object) -> int | None:
    return cell if isinstance(cell, int) else None
