"""Made-up reports: rows as a page shows them, with their numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, cast

from kafkawire.report.contents import Cluster, Commits, Committed, Numbers, Row, Section
from kafkawire.report.counting import CountOverTime, HoldersOverTime
from kafkawire.report.sections import GatheredSection
from kafkawire.report.shown_histories import SHOWN_HISTORIES, SHOWN_STATES

_HISTORIES: Final = {history.section: history for history in (*SHOWN_HISTORIES, *SHOWN_STATES)}
_BAR: Final = 1 << 16


def section_of(name: str, rows: Sequence[Row], limit: int = 100_000) -> Section:
    """A section of rows, of which no more than a limit are on the page."""
    gathered = GatheredSection(_HISTORIES[name], limit)
    for row in rows:
        begin, end = cast(tuple[int | None, int | None], row[-2:])
        gathered.add_row(row, begin, end)
    return gathered.section()


def commits_of(latest: Sequence[Committed]) -> Commits:
    """Committed offsets, all of them on the page, each with one commit when it began."""
    clusters = defaultdict[Cluster, list[Committed]](list)
    for commit in latest:
        clusters[commit.cluster].append(commit)
    return Commits(
        latest,
        {cluster: _numbers(own) for cluster, own in clusters.items()},
        {
            cluster: [
                (commit.began // _BAR * _BAR, commit.began // _BAR * _BAR + _BAR, 1) for commit in own if commit.began
            ]
            for cluster, own in clusters.items()
        },
    )


def _numbers(commits: Sequence[Committed]) -> Numbers:
    holding, groups = CountOverTime(), HoldersOverTime()
    for commit in commits:
        holding.add(commit.began, commit.deleted)
        groups.add(commit.group, commit.began, commit.deleted)
    return Numbers(len(commits), len(commits), holding={"": holding.count()}, holders=groups.count())
