"""A report as one HTML file: style, program and data lie inside, and nothing is fetched.

What a log holds is untrusted. It comes into the page as data only, with every character escaped that could end the
element it lies in; the program makes elements of text and never of markup; and the page's own policy lets no style and
no program run but the two that were written here.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from kafkawire.admin.acl_evaluation import EVERYBODY, IMPLIED_BY
from kafkawire.admin.acls import WILDCARD
from kafkawire.cli.report.contents import Cell, Cluster, Commits, Count, LogEnd, LogReport, Numbers, Section
from kafkawire.logs.histories.coordinator_fold import CONSUMER_OFFSETS
from kafkawire.logs.registry import METADATA_TOPIC

__all__ = ["render_page"]

_FOLDER: Final = Path(__file__).resolve().parent / "page"
_PROGRAM: Final = (
    *("elements", "moments", "numbers", "charts", "listing", "lanes"),
    *("decisions", "holders", "access", "changes", "commits", "address"),
    "page",
)
_UNSAFE: Final = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


def render_page(report: LogReport, *, written_at: int) -> str:
    """The text of the HTML file.

    Args:
        report: what it shows.
        written_at: when it was written, in milliseconds since 1970.
    """
    style, program = _read("style.css"), _program()
    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    return environment.get_template("page.html.j2").render(
        title=report.title,
        version=version("kafkawire"),
        style=style,
        style_hash=_hash_source(style),
        script=program,
        script_hash=_hash_source(program),
        data=_data(report, written_at),
    )


def _program() -> Markup:
    """One function around all parts: the page's own names stay its own."""
    parts = "\n".join(_read(f"{name}.js") for name in _PROGRAM)
    return Markup('"use strict";\n(() => {\n') + Markup(parts) + Markup("})();\n")  # noqa: S704 our own text


def _read(name: str) -> Markup:
    return Markup((_FOLDER / name).read_text("utf-8"))  # noqa: S704 our own text


def _hash_source(text: Markup) -> Markup:
    digest = base64.b64encode(hashlib.sha256(str(text).encode()).digest()).decode()
    return Markup(f"sha256-{digest}")  # noqa: S704 base64


def _data(report: LogReport, written_at: int) -> Markup:
    texts: dict[str, int] = {}
    commits = report.commits
    ends = list({id(commit.end): commit.end for commit in commits.latest if commit.end.points}.values())
    sections = {
        name: _packed(section, texts, report.clusters)
        for name, section in (*_sections(report), ("commits", _commits(commits, ends)))
    }
    document = {
        "title": report.title,
        "writtenAt": written_at,
        "asOf": report.as_of,
        "from": report.began,
        "to": report.ended,
        "clusters": report.clusters,
        "logs": report.logs,
        "copies": report.copies,
        "notes": list(_notes(report)),
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
        },
        "accounts": [
            {
                "log": account.log,
                "rows": account.rows,
                "records": account.records,
                "read": account.bytes_read,
                "decoded": account.bytes_decoded,
                "skipped": account.bytes_skipped,
                "errors": account.errors,
            }
            for account in report.accounts
        ],
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.translate(_UNSAFE))  # noqa: S704 what could end the element is escaped


def _sections(report: LogReport) -> tuple[tuple[str, Section], ...]:
    return (
        ("acls", report.acls),
        ("quotas", report.quotas),
        ("topics", report.topics),
        ("configs", report.configs),
    )


def _commits(commits: Commits, ends: Sequence[LogEnd]) -> Section:
    """Committed offsets; ``ends`` is the number of the partition's among all that have points."""
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
    """The first point, and what each later one has more than the one before: small numbers in a small page."""
    before, steps = (0, 0), list[int]()
    for point in points:
        steps += (point[0] - before[0], point[1] - before[1])
        before = point
    return steps


def _packed(section: Section, texts: dict[str, int], clusters: Sequence[Cluster]) -> dict[str, object]:
    """Texts by their number: names of principals and topics come again and again."""
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


def _notes(report: LogReport) -> Iterator[str]:
    """What the page does not show, said at its top."""
    read = {account.log for account in report.accounts}
    for log, what in _TOLD_BY.items():
        if log not in read:
            yield f"No log of {log} was found: this page cannot tell which {what} there were."
    if report.copies:
        yield (
            f"Of each log one copy was read, the one that goes furthest; {len(report.copies):,} others of the same "
            "clusters were not, and are listed at the foot of this page."
        )
    if report.unnamed:
        yield (
            f"{', '.join(report.unnamed)}: found more than once, with no meta.properties beside it that names the "
            "cluster. If these are copies of one log, everything is counted as often."
        )
    for name, section in (*_sections(report), ("commits", Section((), (), report.commits.numbers))):
        yield from _left_out(_NAMES[name], section.numbers)


def _left_out(name: str, numbers: Mapping[Cluster, Numbers]) -> Iterator[str]:
    """What the lists of a section do not show, of all clusters together."""
    rows, shown = sum(of.rows for of in numbers.values()), sum(of.shown for of in numbers.values())
    if rows == shown:
        return
    most = max(of.rows for of in numbers.values())
    lacking = [f"what ended up to {_date(until)}" for until in [_last_cut(numbers)] if until is not None]
    if not all(of.complete for of in numbers.values()):
        lacking.append("some that still hold at the end")
    yield (
        f"Showing {shown:,} of {rows:,} {name}, the newest. Numbers and charts are of all of them; "
        f"lists lack {' and '.join(lacking)}. Use --max-rows {most} to list all."
    )


def _last_cut(numbers: Mapping[Cluster, Numbers]) -> int | None:
    return max((of.complete_from for of in numbers.values() if of.complete_from is not None), default=None)


_TOLD_BY: Final = {
    METADATA_TOPIC: "ACLs, topics, quotas and configurations",
    CONSUMER_OFFSETS: "committed offsets",
}
_NAMES: Final = {
    "acls": "rows of ACLs",
    "quotas": "rows of quotas",
    "topics": "rows of topics",
    "configs": "rows of configurations",
    "commits": "committed offsets",
}
_NO_NUMBERS: Final = Numbers()


def _date(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
