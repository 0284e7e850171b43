"""What a page shows, as plain data: rows of each section, bounded, and what had to be left out of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Cell: TypeAlias = str | int | float | None
"""Text, a number, or nothing; times are milliseconds since 1970."""

Row: TypeAlias = tuple[Cell, ...]

INTERVAL: Final = ("from", "to")
"""The last two fields of a row that holds for a time: null is before the log, and still so at its end."""

ACLS: Final = (
    *("cluster", "principal", "host", "resourceType", "resourceName", "patternType", "operation", "permission"),
    *INTERVAL,
)
QUOTAS: Final = ("cluster", "entity", "quota", "value", *INTERVAL)
TOPICS: Final = ("cluster", "topic", "id", "partitions", *INTERVAL)
CONFIGS: Final = ("cluster", "resourceType", "resourceName", "name", "value", *INTERVAL)


@dataclass(frozen=True)
class Section:
    """Rows of one kind.

    Attributes:
        fields: what the cells of each row are.
        rows: the rows.
        left_out: how many more there are.
        complete_from: all rows that hold at this time or later are there; None if all are there at any time.
        complete: false if even rows that still hold were left out.
        counts: how many rows hold from when on, those that were left out among them: (time, count) by kind of row.
    """

    fields: Sequence[str]
    rows: Sequence[Row] = ()
    left_out: int = 0
    complete_from: int | None = None
    complete: bool = True
    counts: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class LogEnd:
    """Where the log of a partition ends.

    Attributes:
        offset: after its last record; None if the log is not there to be read.
        points: where it ended at earlier times at least, as (time, offset), thinned out.
    """

    offset: int | None = None
    points: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Committed:
    """The latest offset that a group committed for a partition.

    Attributes:
        time: when, in milliseconds; None if unknown.
        points: this and earlier commits as (time, offset), thinned out.
        has_all_points: whether nothing was thinned out.
        deleted: when it was deleted; None if it is still there.
        end: of the partition's own log.
    """

    cluster: str | None
    group: str
    topic: str
    partition: int
    offset: int
    time: int | None
    points: Sequence[tuple[int, int]] = ()
    has_all_points: bool = True
    deleted: int | None = None
    end: LogEnd = field(default_factory=LogEnd)


@dataclass(frozen=True)
class LogAccount:
    """What reading the logs of one topic took: bytes by what became of them, and errors by their code."""

    log: str
    rows: int
    records: int
    bytes_read: int
    bytes_decoded: int
    bytes_skipped: Mapping[str, int]
    errors: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class LogReport:
    """All that a page shows.

    Attributes:
        began, ended: what the logs cover, in milliseconds.
        as_of: the date that the page opens at; None for the end.
        logs: the partition folders that were read.
        commit_times: how many commits there were from one time to another.
        commits_left_out: how many groups' partitions are not in ``commits``.
    """

    title: str
    began: int
    ended: int
    acls: Section = field(default_factory=lambda: Section(ACLS))
    quotas: Section = field(default_factory=lambda: Section(QUOTAS))
    topics: Section = field(default_factory=lambda: Section(TOPICS))
    configs: Section = field(default_factory=lambda: Section(CONFIGS))
    commits: Sequence[Committed] = ()
    commit_times: Sequence[tuple[int, int, int]] = ()
    commits_left_out: int = 0
    accounts: Sequence[LogAccount] = ()
    logs: Sequence[str] = ()
    clusters: Sequence[str] = ()
    as_of: int | None = None
