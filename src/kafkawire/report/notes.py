"""Notes at the top of a page: what it does not show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from kafkawire.logs.folding.coordinator_log import CONSUMER_OFFSETS
from kafkawire.logs.registry import METADATA_TOPIC
from kafkawire.report.contents import Cluster, LogReport, Numbers

_SHOWN_OF: Final = {
    METADATA_TOPIC: "ACLs, topics, quotas, configurations, users, tokens, brokers and features",
    CONSUMER_OFFSETS: "committed offsets",
}
_NAMES: Final = {
    "acls": "ACL rows",
    "quotas": "quota rows",
    "topics": "topic rows",
    "partitions": "partition rows",
    "configs": "configuration rows",
    "users": "user rows",
    "tokens": "token rows",
    "brokers": "broker rows",
    "controllers": "controller rows",
    "features": "feature rows",
    "transactions": "rows of transactional ids",
    "shares": "rows of share groups",
}


def notes_on(report: LogReport) -> Iterator[str]:
    """The notes of a report."""
    for log, what in _SHOWN_OF.items():
        if log not in report.accounts:
            yield f"No log of {log} was found: this page shows no {what}."
    if report.copies:
        yield (
            f"Of each log one copy was read, the one that goes furthest; {len(report.copies):,} others of the same "
            "clusters were not, and are listed at the foot of this page."
        )
    if report.unnamed:
        yield (
            f"{report.unnamed[0]} {_and_others(len(report.unnamed) - 1)}found more than once, without a "
            "meta.properties beside it that names the cluster. If these are copies, each of them is counted."
        )
    for name, section in report.sections():
        yield from _left_out(_NAMES[name], section.numbers)
    yield from _left_out("committed offsets", report.commits.numbers)
    yield from _alerts_left_out(report.alerts.numbers)


def _and_others(others: int) -> str:
    return f"and {others:,} other logs were " if others else "was "


def _left_out(name: str, numbers: Mapping[Cluster, Numbers]) -> Iterator[str]:
    """What the lists of a section omit, for all clusters together."""
    rows, shown = sum(of.rows for of in numbers.values()), sum(of.shown for of in numbers.values())
    if rows == shown:
        return
    valid, cut = sum(of.rows - of.ended for of in numbers.values()), _last_cut(numbers)
    yield (
        f"Showing {shown:,} of {rows:,} {name}: {_valid(valid)}the {shown - valid:,} newest that ended. Counts and "
        f"charts cover all {rows:,}; lists lack {rows - shown:,} that ended"
        f"{'' if cut is None else f' up to {_date(cut)}'}. "
        f"To list all, use --max-rows {max(of.ended for of in numbers.values())}."
    )


def _alerts_left_out(numbers: Mapping[Cluster, Numbers]) -> Iterator[str]:
    rows, shown = sum(of.rows for of in numbers.values()), sum(of.shown for of in numbers.values())
    if shown < rows:
        most = max(of.rows for of in numbers.values())
        yield f"Showing {shown:,} of {rows:,} alerts: the newest of each cluster. To list all, use --max-rows {most}."


def _valid(number: int) -> str:
    return f"all {number:,} that are valid at the end of the log, and " if number else ""


def _last_cut(numbers: Mapping[Cluster, Numbers]) -> int | None:
    return max((of.complete_from for of in numbers.values() if of.complete_from is not None), default=None)


def _date(milliseconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):  # the clock of a broker may be wrong
        return f"{milliseconds} milliseconds after 1970"
