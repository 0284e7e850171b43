"""A report as the data of its page: texts as numbers, and times as differences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from kafkawire.model.acls.bindings import CLUSTER_NAME, WILDCARD, AclOperation
from kafkawire.model.acls.evaluation import EVERYBODY, IMPLIED_BY
from kafkawire.model.acls.operation_sets import CHECKED, operations_in
from kafkawire.model.configs.sensitive import HIDDEN
from kafkawire.report.contents import Cell, Cluster, Commits, Count, LogEnd, LogReport, Numbers, Section
from kafkawire.report.evidence import packed_evidence
from kafkawire.report.notes import notes_on

_NO_NUMBERS: Final = Numbers()


def packed_report(report: LogReport, written_at: int) -> dict[str, object]:
    """The data for the page's program.

    Args:
        report: what the page shows.
        written_at: when it is written, in milliseconds since 1970.
    """
    texts: dict[str, int] = {}
    commits = report.commits
    ends = list({id(commit.end): commit.end for commit in commits.latest if commit.end.points}.values())
    sections = {
        name: _packed(section, texts, report.clusters)
        for name, section in (*report.sections(), ("commits", _commits(commits, ends)), ("alerts", report.alerts))
    }
    return {
        "title": report.title,
        "writtenAt": written_at,
        "asOf": report.as_of,
        "from": report.began,
        "to": report.ended,
        "clusters": report.clusters,
        "logs": report.logs,
        "copies": report.copies,
        "notes": list(notes_on(report)),
        "texts": list(texts),
        "sections": sections,
        "points": [_steps(commit.points) for commit in commits.latest],
        "ends": [_steps(end.points) for end in ends],
        "commitTimes": [commits.times.get(cluster, ()) for cluster in report.clusters],
        "acls": {
            "wildcard": WILDCARD,
            "everybody": EVERYBODY,
            "impliedBy": {
                implied.name: sorted(by.name for by in operations) for implied, operations in IMPLIED_BY.items()
            },
            "operations": [operation.name for operation in AclOperation],
            "asked": {
                kind.name: [operation.name for operation in operations_in(checked)] for kind, checked in CHECKED.items()
            },
            "clusterName": CLUSTER_NAME,
        },
        "alertRules": {
            rule.id: {"title": rule.title, "remedy": rule.remedy, "looksAt": rule.looks_at}
            for rule in report.alert_rules
        },
        "hidden": HIDDEN,
        "evidence": packed_evidence(report.evidence),
        "accounts": [
            {
                "log": topic,
                "rows": accounts.rows,
                "records": accounts.records_read,
                "read": accounts.bytes_read,
                "decoded": accounts.bytes_decoded,
                "skipped": accounts.bytes_skipped,
                "errors": accounts.errors,
            }
            for topic, accounts in report.accounts.items()
        ],
    }


def _commits(commits: Commits, ends: Sequence[LogEnd]) -> Section:
    """Committed offsets; ``ends`` is the index of the partition among those with points."""
    fields = ("cluster", "group", "topic", "partition", "offset", "time", "exact", "from", "to", "end", "ends")
    numbers = {id(end): number for number, end in enumerate(ends)}
    rows = [
        (
            *(commit.cluster, commit.group, commit.topic, commit.partition, commit.offset, commit.time),
            *(int(commit.has_all_points), commit.began, commit.deleted),
            *(commit.end.offset, numbers.get(id(commit.end))),
        )
        for commit in commits.latest
    ]
    return Section(fields, rows, commits.numbers)


def _steps(points: Sequence[tuple[int, int]]) -> Sequence[int]:
    """The first point, then the difference of each to the one before: small numbers make a small page."""
    before, steps = (0, 0), list[int]()
    for point in points:
        steps += (point[0] - before[0], point[1] - before[1])
        before = point
    return steps


def _packed(section: Section, texts: dict[str, int], clusters: Sequence[Cluster]) -> dict[str, object]:
    """Texts as numbers: names of principals and topics occur many times."""
    of_texts = [
        field
        for column, field in enumerate(section.fields)
        if any(isinstance(row[column], str) for row in section.rows)
    ]
    rows = [[_numbered(cell, texts) for cell in row] for row in section.rows]
    numbers = [_packed_numbers(section.numbers.get(cluster, _NO_NUMBERS)) for cluster in clusters]
    return {"fields": list(section.fields), "texts": of_texts, "rows": rows, "numbers": numbers}


def _packed_numbers(numbers: Numbers) -> dict[str, object]:
    return {
        "rows": numbers.rows,
        "shown": numbers.shown,
        "completeFrom": numbers.complete_from,
        "things": numbers.things,
        "holding": {kind: _packed_count(count) for kind, count in numbers.holding.items()},
        "holders": _packed_count(numbers.holders),
        "changes": _packed_count(numbers.changes),
    }


def _packed_count(count: Count) -> dict[str, object]:
    times = [time for time, _ in count.changes]
    later = [time - before for before, time in pairwise(times)]
    changes = zip((*times[:1], *later), count.changes, strict=True)
    steps = [step for time, (_, change) in changes for step in (time, change)]
    return {"before": count.before, "width": count.width, "steps": steps}


def _numbered(cell: Cell, texts: dict[str, int]) -> int | float | None:
    return texts.setdefault(cell, len(texts)) if isinstance(cell, str) else cell
