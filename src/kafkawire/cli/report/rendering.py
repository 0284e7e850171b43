"""A report as one HTML file: style, program and data lie inside, and nothing is fetched.

What a log holds is untrusted. It comes into the page as data only, with every character escaped that could end the
element it lies in; the program makes elements of text and never of markup; and the page's own policy lets no style and
no program run but the two that were written here.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from kafkawire.cli.report.contents import Cell, LogEnd, LogReport, Section
from kafkawire.logs.histories.coordinator_fold import CONSUMER_OFFSETS
from kafkawire.logs.registry import METADATA_TOPIC

__all__ = ["render_page"]

_FOLDER: Final = Path(__file__).resolve().parent / "page"
_PROGRAM: Final = (
    *("elements", "moments", "charts", "listing", "lanes", "access", "changes", "commits", "address"),
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
    ends = list({id(commit.end): commit.end for commit in report.commits if commit.end.points}.values())
    commits = _commits(report, ends)
    sections = {name: _packed(section, texts) for name, section in (*_sections(report), ("commits", commits))}
    document = {
        "title": report.title,
        "writtenAt": written_at,
        "asOf": report.as_of,
        "from": report.began,
        "to": report.ended,
        "clusters": report.clusters,
        "logs": report.logs,
        "notes": list(_notes(report)),
        "texts": list(texts),
        "sections": sections,
        "points": [_steps(commit.points) for commit in report.commits],
        "ends": [_steps(end.points) for end in ends],
        "commitTimes": report.commit_times,
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


def _commits(report: LogReport, ends: Sequence[LogEnd]) -> Section:
    """Committed offsets; ``ends`` is the number of the partition's among all that have points."""
    fields = ("cluster", "group", "topic", "partition", "offset", "time", "exact", "to", "end", "ends")
    numbers = {id(end): number for number, end in enumerate(ends)}
    rows = [
        (
            *(commit.cluster, commit.group, commit.topic, commit.partition, commit.offset, commit.time),
            *(int(commit.has_all_points), commit.deleted, commit.end.offset, numbers.get(id(commit.end))),
        )
        for commit in report.commits
    ]
    return Section(fields, rows)


def _steps(points: Sequence[tuple[int, int]]) -> Sequence[int]:
    """The first point, and what each later one has more than the one before: small numbers in a small page."""
    before, steps = (0, 0), list[int]()
    for point in points:
        steps += (point[0] - before[0], point[1] - before[1])
        before = point
    return steps


def _packed(section: Section, texts: dict[str, int]) -> dict[str, object]:
    """Texts by their number: names of principals and topics come again and again."""
    of_texts = [
        field
        for column, field in enumerate(section.fields)
        if any(isinstance(row[column], str) for row in section.rows)
    ]
    rows = [[_numbered(cell, texts) for cell in row] for row in section.rows]
    counts = section.counts if section.left_out else {}
    return {"fields": list(section.fields), "texts": of_texts, "rows": rows, "counts": counts}


def _numbered(cell: Cell, texts: dict[str, int]) -> int | float | None:
    return texts.setdefault(cell, len(texts)) if isinstance(cell, str) else cell


def _notes(report: LogReport) -> Iterator[str]:
    """What the page does not show, said at its top."""
    read = {account.log for account in report.accounts}
    for log, what in _TOLD_BY.items():
        if log not in read:
            yield f"No log of {log} was found: this page cannot tell which {what} there were."
    for name, section in _sections(report):
        if not section.left_out:
            continue
        kept = (
            f"The {len(section.rows):,} newest rows of {_NAMES[name]} are here, {section.left_out:,} older ones are not"
        )
        if not section.complete:
            yield f"{kept}: only the numbers over time are of all."
        elif section.complete_from is not None:
            yield f"{kept}: the page is complete from {_date(section.complete_from)} on."
    if report.commits_left_out:
        yield (
            f"The {len(report.commits):,} latest committed offsets are here, {report.commits_left_out:,} that were "
            "deleted or committed earlier are not."
        )


_TOLD_BY: Final = {
    METADATA_TOPIC: "ACLs, topics, quotas and configurations",
    CONSUMER_OFFSETS: "committed offsets",
}
_NAMES: Final = {"acls": "ACLs", "quotas": "quotas", "topics": "topics", "configs": "configurations"}


def _date(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
