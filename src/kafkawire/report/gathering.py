"""The contents of a report: logs are read, and the rows and numbers for the page are kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import TypeAlias

from kafkawire.logs import (
    Accounts,
    LogFile,
    ReadMode,
    ReadOptions,
    Table,
    plan,
    table_named,
)
from kafkawire.logs.alert_rules.rules import ALERT_RULES, AlertRule
from kafkawire.logs.alerts.table import AlertRows, AlertsTable
from kafkawire.logs.files.log_files import segments_of
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.history_tables import read_histories_beside
from kafkawire.logs.planning import FoundLogs, find_logs
from kafkawire.logs.registry import METADATA_TOPIC
from kafkawire.logs.table_stream import read_parts
from kafkawire.report.alerts import ALERT_COLUMNS, GatheredAlerts
from kafkawire.report.committed import COMMIT_COLUMNS, CommitFold
from kafkawire.report.contents import Cluster, Commits, LogReport, Section
from kafkawire.report.copies import one_of_each
from kafkawire.report.evidence import GatheredEvidence, Options
from kafkawire.report.log_ends import log_ends
from kafkawire.report.sections import GatheredSection
from kafkawire.report.shown_histories import SHOWN_HISTORIES, SHOWN_STATES, rows_of

ProgressBar: TypeAlias = Callable[[str, int, Accounts], AbstractContextManager[object]]
"""Shows how much of something has been read: its name, its bytes, and the accounts that count them."""


def gather_report(
    title: str,
    paths: Sequence[str],
    bar: ProgressBar,
    *,
    limit: int,
    as_of: datetime | None = None,
    options: Options | None = None,
    alert_rules: tuple[AlertRule, ...] = (),
) -> tuple[LogReport, Accounts]:
    """The contents of a page on some logs, and the accounts of all their bytes.

    Args:
        title: of the page.
        paths: where the logs are.
        bar: shows the progress of each reading.
        limit: the maximum number of ended rows of each cluster in a section, and of alerts; rows that are still valid
            are all kept.
        as_of: the date at which the page opens.
        options: of the command, for the evidence of the page; None for a page without evidence, whose inputs are read
            once.
        alert_rules: rules of a user, beside those that are always there.

    Raises:
        OptionError: as ``find_logs``.
        LogReadError: there are no logs, or they cannot be read.
    """
    found = find_logs(paths).require_any()
    chosen = one_of_each(found)
    logs = replace(found, files=chosen.files)
    evidence = None if options is None else GatheredEvidence(logs, options)
    reader = _Reader(logs, bar, alert_rules)
    alerts = GatheredAlerts(limit)
    sections = _sections(reader, limit, alerts)
    fold = CommitFold(limit)
    for row in reader.coordinator("offset_commits", COMMIT_COLUMNS):
        fold.add(row)
    commits = fold.commits(log_ends(found))
    reader.cover(fold.first)
    reader.cover(fold.last)
    report = LogReport(
        title=title,
        began=reader.began,
        ended=reader.ended,
        acls=sections["acls"],
        quotas=sections["quotas"],
        topics=sections["topics"],
        partitions=sections["partitions"],
        configs=sections["configs"],
        users=sections["users"],
        tokens=sections["tokens"],
        brokers=sections["brokers"],
        controllers=sections["controllers"],
        features=sections["features"],
        transactions=sections["transactions"],
        shares=sections["shares"],
        commits=commits,
        alerts=alerts.section(),
        accounts=reader.accounts,
        logs=sorted({file.folder for file in chosen.files}),
        copies=chosen.copies,
        unnamed=chosen.unnamed,
        clusters=_clusters(found.files, (commits, *sections.values())),
        as_of=None if as_of is None else int(as_of.timestamp() * 1000),
        evidence=None if evidence is None else evidence.after_reading(),
        alert_rules=(*ALERT_RULES.values(), *alert_rules),
    )
    return report, reader.total


class _Reader:
    """Reads the logs, and keeps the accounts.

    Attributes:
        accounts: of the logs of each topic.
        total: of all of them.
        began, ended: the first and the last time in the metadata log, the rows and the commits.
    """

    def __init__(self, logs: FoundLogs, bar: ProgressBar, alert_rules: tuple[AlertRule, ...]) -> None:
        self.accounts: dict[str, Accounts] = {}
        self.total = Accounts()
        self.began = self.ended = 0
        self._covers = False
        self._logs = logs
        self._bar = bar
        self._alert_rules = alert_rules

    def cover(self, time: int | None) -> None:
        """Extend the covered time."""
        if time is not None:
            self.began = min(self.began, time) if self._covers else time
            self.ended = max(self.ended, time) if self._covers else time
            self._covers = True

    def histories(self) -> Iterator[tuple[str, dict[str, object]]]:
        """The rows of all shown histories and alerts, each with the name of its table; none without a metadata log."""
        logs = self._logs.of_table(table_named(SHOWN_HISTORIES[0].table))
        if not logs.files:
            return
        accounts, columns = Accounts(), {history.table: history.columns for history in SHOWN_HISTORIES}
        source = FoldSource(ReadOptions(alert_rules=self._alert_rules), accounts, logs.store)
        schema = table_named(AlertsTable.name, ReadOptions(columns=ALERT_COLUMNS)).schema
        with self._bar("metadata histories", logs.bytes, accounts):
            alerts = partial(AlertRows, schema, source=source, accounts=Accounts())
            for name, batch in read_histories_beside(columns, logs.files, source, alerts):
                for row in rows_of(batch):
                    yield name, row
        self._add_accounts(METADATA_TOPIC, accounts)
        self._cover_ends(logs)

    def _cover_ends(self, logs: FoundLogs) -> None:
        """Cover the first and the last time of the logs, which may lie outside the changes."""
        options = ReadOptions(columns=("max_time",), mode=ReadMode.DROPMALFORMED)
        ends = replace(logs, files=_outermost(logs.files))
        for row in self._rows(table_named("batches", options), ends, options, Accounts()):
            self.cover(_time(row["max_time"]) or None)  # a clock that was not set wrote 0

    def coordinator(self, name: str, columns: tuple[str, ...]) -> Iterator[dict[str, object]]:
        """The rows of a history of a coordinator; none without its log."""
        options, accounts = ReadOptions(columns=columns), Accounts()
        table = table_named(name, options)
        logs = self._logs.of_table(table)
        if not logs.files:
            return
        yield from self._rows(table, logs, options, accounts)
        (topic,) = table.logs
        self._add_accounts(topic, accounts)

    def _rows(
        self, table: Table, logs: FoundLogs, options: ReadOptions, accounts: Accounts
    ) -> Iterator[dict[str, object]]:
        parts = plan(table, logs.files, store=logs.store, options=options)
        with self._bar(table.name, sum(part.bytes for part in parts), accounts):
            for batch in read_parts(table, parts, options, accounts, store=logs.store):
                yield from rows_of(batch)

    def _add_accounts(self, topic: str, accounts: Accounts) -> None:
        self.total.merge(accounts)
        self.accounts[topic] = accounts


def _sections(reader: _Reader, limit: int, alerts: GatheredAlerts) -> dict[str, Section]:
    """All sections by name, and alerts; rows arrive in the order of the log, those of the metadata log mixed."""
    shown = (*SHOWN_HISTORIES, *SHOWN_STATES)
    gathered = {history.table: GatheredSection(history, limit) for history in shown}
    of_coordinators = (
        (history.table, record)
        for history in SHOWN_STATES
        for record in reader.coordinator(history.table, history.columns)
    )
    for name, record in chain(reader.histories(), of_coordinators):
        if name == AlertsTable.name:
            alerts.add(record)
            continue
        begin, end = _time(record["valid_from"]), _time(record["valid_to"])
        reader.cover(begin)
        reader.cover(end)
        gathered[name].add(record, begin, end)
    return {history.section: gathered[history.table].section() for history in shown}


def _clusters(files: Sequence[LogFile], found: Sequence[Section | Commits]) -> Sequence[Cluster]:
    """The clusters of files and rows; the cluster without an id is last."""
    named = {file.cluster for file in files} - {None}
    with_rows = {cluster for each in found for cluster in each.numbers}
    return sorted(named | with_rows, key=lambda cluster: (cluster is None, cluster or ""))


def _outermost(files: Sequence[LogFile]) -> tuple[LogFile, ...]:
    """The first and the last segment of each log, or snapshot if it has only snapshots."""
    logs = defaultdict[str, list[LogFile]](list)
    for file in files:
        logs[file.folder].append(file)
    found = set[LogFile]()
    for own in logs.values():
        segments = segments_of(own) or own
        found |= {min(segments, key=attrgetter("base_offset")), max(segments, key=attrgetter("base_offset"))}
    return tuple(file for file in files if file in found)


def _time(cell: object) -> int | None:
    return cell if isinstance(cell, int) else None
