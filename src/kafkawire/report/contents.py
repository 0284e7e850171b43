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


Cluster: TypeAlias = str | None
"""The id of a cluster; None where there is no ``meta.properties``."""


@dataclass(frozen=True)
class Count:
    """How many there were at any date.

    Attributes:
        before: how many before the first change.
        changes: as (time, how many more or less from then on), in order.
        width: 1 if the times are exact; else a change stands for all within so many milliseconds from its time.
    """

    before: int = 0
    changes: Sequence[tuple[int, int]] = ()
    width: int = 1


@dataclass(frozen=True)
class Numbers:
    """What is counted of a section in one cluster: of all that was read, whatever of it is on the page.

    Attributes:
        rows: how many there are.
        shown: how many of them are on the page.
        complete: false if even rows that still hold are not on the page.
        complete_from: all rows that hold after this time are on the page; None if all of any time are.
        holding: how many rows hold when, by kind of row.
        holders: how many principals have ACLs, or groups committed offsets.
        changes: how many changes there were up to a date.
        things: how many different things there ever were, such as names of topics.
    """

    rows: int = 0
    shown: int = 0
    complete: bool = True
    complete_from: int | None = None
    holding: Mapping[str, Count] = field(default_factory=dict)
    holders: Count = field(default_factory=Count)
    changes: Count = field(default_factory=Count)
    things: int = 0


@dataclass(frozen=True)
class Section:
    """Rows of one kind.

    Attributes:
        fields: what the cells of each row are.
        rows: those on the page.
        numbers: of each cluster.
    """

    fields: Sequence[str]
    rows: Sequence[Row] = ()
    numbers: Mapping[Cluster, Numbers] = field(default_factory=dict)


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
        began: when the first offset was committed for it; None if unknown.
        points: this and earlier commits as (time, offset), thinned out.
        has_all_points: whether nothing was thinned out.
        deleted: when it was deleted; None if it is still there.
        end: of the partition's own log.
    """

    cluster: Cluster
    group: str
    topic: str
    partition: int
    offset: int
    time: int | None
    began: int | None = None
    points: Sequence[tuple[int, int]] = ()
    has_all_points: bool = True
    deleted: int | None = None
    end: LogEnd = field(default_factory=LogEnd)


@dataclass(frozen=True)
class Commits:
    """The committed offsets.

    Attributes:
        latest: those on the page.
        numbers: of each cluster; its rows are offsets of groups' partitions, its holders groups.
        times: how many commits there were from one time to another, for each cluster.
    """

    latest: Sequence[Committed] = ()
    numbers: Mapping[Cluster, Numbers] = field(default_factory=dict)
    times: Mapping[Cluster, Sequence[tuple[int, int, int]]] = field(default_factory=dict)


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
        copies: folders that were not read, since others with a copy of the same log were.
        unnamed: logs that come more than once without the id of a cluster.
        clusters: those that the logs are of.
    """

    title: str
    began: int
    ended: int
    acls: Section = field(default_factory=lambda: Section(ACLS))
    quotas: Section = field(default_factory=lambda: Section(QUOTAS))
    topics: Section = field(default_factory=lambda: Section(TOPICS))
    configs: Section = field(default_factory=lambda: Section(CONFIGS))
    commits: Commits = field(default_factory=Commits)
    accounts: Sequence[LogAccount] = ()
    logs: Sequence[str] = ()
    copies: Sequence[str] = ()
    unnamed: Sequence[str] = ()
    clusters: Sequence[Cluster] = ()
    as_of: int | None = None

    def sections(self) -> tuple[tuple[str, Section], ...]:
        """Those of rows that hold for a time, each with its name."""
        return (("acls", self.acls), ("quotas", self.quotas), ("topics", self.topics), ("configs", self.configs))
