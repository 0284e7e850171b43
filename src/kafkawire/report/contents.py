"""The contents of a page as plain data: the rows of each section, and what was omitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from kafkawire.logs import ALERT_RULES, Accounts, AlertRule
from kafkawire.report.evidence import PageEvidence

Cell: TypeAlias = str | int | float | None
"""Text, a number, or nothing; times are milliseconds since 1970."""

Row: TypeAlias = tuple[Cell, ...]

INTERVAL: Final = ("from", "to")
"""The last two fields of a row with an interval: null is before the start of the log, or still valid at its end."""

ACLS: Final = (
    *("cluster", "principal", "host", "resourceType", "resourceName", "patternType", "operation", "permission"),
    *INTERVAL,
)
QUOTAS: Final = ("cluster", "entity", "user", "quota", "value", *INTERVAL)
TOPICS: Final = ("cluster", "topic", "id", "partitions", *INTERVAL)
PARTITIONS: Final = ("cluster", "topic", "partition", "state", "leader", "isr", "replicas", *INTERVAL)
CONFIGS: Final = ("cluster", "resourceType", "resourceName", "name", "value", *INTERVAL)
USERS: Final = ("cluster", "user", "mechanism", "iterations", *INTERVAL)
TOKENS: Final = ("cluster", "owner", "token", "requester", "renewers", "expires", *INTERVAL)
BROKERS: Final = ("cluster", "broker", "state", "rack", "endpoints", *INTERVAL)
CONTROLLERS: Final = ("cluster", "controller", "endpoints", *INTERVAL)
FEATURES: Final = ("cluster", "feature", "level", *INTERVAL)
ALERTS: Final = (
    *("cluster", "time", "offset", "rule", "severity"),
    *("resourceType", "resourceName", "principal", "message"),
)
"""An alert has no interval; its time is that of the change."""
TRANSACTIONS: Final = ("cluster", "id", "state", "producer", "epoch", "partitions", *INTERVAL)
SHARES: Final = (
    *("cluster", "group", "topicId", "partition", "start", "available", "acknowledged", "archived"),
    *INTERVAL,
)


Cluster: TypeAlias = str | None
"""The id of a cluster; None where there is no ``meta.properties``."""


@dataclass(frozen=True)
class Count:
    """A number at any date.

    Attributes:
        before: the number before the first change.
        changes: as (time, difference from then on), in order.
        width: 1 if the times are exact; else a change is the sum of all changes within this many milliseconds.
    """

    before: int = 0
    changes: Sequence[tuple[int, int]] = ()
    width: int = 1


@dataclass(frozen=True)
class Numbers:
    """The numbers of a section in one cluster. They count everything that was read, on the page or not.

    Attributes:
        rows: the number of rows.
        shown: how many of them are on the page.
        ended: the number of rows that are no longer valid at the end of the log. Only such rows may not be on the page.
        complete_from: all rows that are valid after this time are on the page; None if all rows are.
        holding: the number of valid rows over time, by kind of row.
        holders: the number of principals with ACLs, of users with SCRAM credentials, or of groups with
            committed offsets, over time.
        changes: the number of changes up to a date.
        things: the number of distinct things that ever existed, such as names of topics.
    """

    rows: int = 0
    shown: int = 0
    ended: int = 0
    complete_from: int | None = None
    holding: Mapping[str, Count] = field(default_factory=dict)
    holders: Count = field(default_factory=Count)
    changes: Count = field(default_factory=Count)
    things: int = 0


@dataclass(frozen=True)
class Section:
    """Rows of one kind.

    Attributes:
        fields: names of the cells of each row.
        rows: the rows on the page.
        numbers: of each cluster.
    """

    fields: Sequence[str]
    rows: Sequence[Row] = ()
    numbers: Mapping[Cluster, Numbers] = field(default_factory=dict)


@dataclass(frozen=True)
class LogEnd:
    """Where the log of a partition ends.

    Attributes:
        offset: after its last record; None if the log is not among the files.
        points: lower bounds of the end at earlier times, as (time, offset), thinned out.
    """

    offset: int | None = None
    points: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Committed:
    """The latest offset that a group committed for a partition.

    Attributes:
        time: of the commit, in milliseconds; None if unknown.
        began: time of the first commit; None if unknown.
        points: this and earlier commits as (time, offset), thinned out.
        has_all_points: whether no point was dropped.
        deleted: time of its deletion; None if it exists.
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
        latest: the offsets on the page.
        numbers: of each cluster; a row is the offset of a group and partition, a holder is a group.
        times: of each cluster, the number of commits in each interval.
    """

    latest: Sequence[Committed] = ()
    numbers: Mapping[Cluster, Numbers] = field(default_factory=dict)
    times: Mapping[Cluster, Sequence[tuple[int, int, int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class LogReport:
    """Everything that a page shows.

    Attributes:
        began, ended: the first and last time of the logs, in milliseconds.
        as_of: the date at which the page opens; None for the end.
        accounts: of the logs of each topic.
        logs: the partition folders that were read.
        copies: folders that were not read, because another copy of the same log was.
        unnamed: logs that were found more than once without the id of a cluster.
        clusters: the clusters of the logs.
        evidence: what the page was made from; None if it does not say so.
        alert_rules: the rules that were applied.
    """

    title: str
    began: int
    ended: int
    acls: Section = field(default_factory=lambda: Section(ACLS))
    quotas: Section = field(default_factory=lambda: Section(QUOTAS))
    topics: Section = field(default_factory=lambda: Section(TOPICS))
    partitions: Section = field(default_factory=lambda: Section(PARTITIONS))
    configs: Section = field(default_factory=lambda: Section(CONFIGS))
    users: Section = field(default_factory=lambda: Section(USERS))
    tokens: Section = field(default_factory=lambda: Section(TOKENS))
    brokers: Section = field(default_factory=lambda: Section(BROKERS))
    controllers: Section = field(default_factory=lambda: Section(CONTROLLERS))
    features: Section = field(default_factory=lambda: Section(FEATURES))
    transactions: Section = field(default_factory=lambda: Section(TRANSACTIONS))
    shares: Section = field(default_factory=lambda: Section(SHARES))
    commits: Commits = field(default_factory=Commits)
    alerts: Section = field(default_factory=lambda: Section(ALERTS))
    accounts: Mapping[str, Accounts] = field(default_factory=dict)
    logs: Sequence[str] = ()
    copies: Sequence[str] = ()
    unnamed: Sequence[str] = ()
    clusters: Sequence[Cluster] = ()
    as_of: int | None = None
    evidence: PageEvidence | None = None
    alert_rules: Sequence[AlertRule] = tuple(ALERT_RULES.values())

    def sections(self) -> tuple[tuple[str, Section], ...]:
        """The sections whose rows have an interval, with their names."""
        return (
            *(("acls", self.acls), ("quotas", self.quotas), ("topics", self.topics)),
            *(("partitions", self.partitions), ("configs", self.configs), ("users", self.users)),
            *(("tokens", self.tokens), ("brokers", self.brokers), ("controllers", self.controllers)),
            *(("features", self.features), ("transactions", self.transactions), ("shares", self.shares)),
        )
