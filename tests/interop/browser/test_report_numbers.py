"""The report's page against ``kafkawire tables --as-of``: tiles, lists, the comparison and views at several dates."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

import pytest
from tests.browser.chromium import Page
from tests.browser.report_data import data_of
from tests.browser.report_pages import click, compare, downloaded, follow, go_to, opened, texts
from tests.kafka_logs.tables_of_dates import Rows, Tables
from tests.made.clusters import BEGAN, MadeCluster

from kafkawire.cli.app import main

pytestmark = [pytest.mark.extended, pytest.mark.usefixtures("one_engine")]

State: TypeAlias = Mapping[tuple[object, ...], object]
DATES: Final = [BEGAN + 10**9 * part // 10 for part in (3, 6, 9)]
ACL: Final = ("principal", "host", "resource_type", "resource_name", "pattern_type", "operation", "permission")
TOTALS: Final = (
    *("acls", "topics", "quotas", "configs", "users", "partitions", "tokens", "brokers", "controllers", "features"),
    "commits",
)


def by(rows: Rows, columns: tuple[str, ...], value: str | None = None) -> State:
    return {tuple(row[name] for name in columns): value and row[value] for row in rows}


def milliseconds(time: object) -> float:
    return datetime.fromisoformat(str(time)).timestamp() * 1000


def commits_at(rows: Rows, date: int) -> Rows:
    """The commits that are in force at a date."""
    found = dict[tuple[object, ...], Mapping[str, object]]()
    for row in rows:
        if milliseconds(row["append_time"]) <= date:
            key = tuple(row[name] for name in ("group_id", "topic", "partition"))
            if row["tombstone"]:
                found.pop(key, None)
            else:
                found[key] = row
    return list(found.values())


def trouble_of(row: Mapping[str, object]) -> str | None:
    """What is wrong with a partition."""
    if row["leader"] == -1:
        return "no leader"
    return "under-replicated" if row["is_under_replicated"] else "reassigning" if row["is_reassigning"] else None


STATES: Final[Mapping[str, Callable[[Tables, int], State]]] = {
    "acls": lambda tables, date: by(tables.rows("acl_history", date), ACL),
    "topics": lambda tables, date: by(tables.rows("topic_history", date), ("name",), "topic_id"),
    "quotas": lambda tables, date: by(tables.rows("quota_history", date), ("user", "key"), "value"),
    "configs": lambda tables, date: by(
        [row for row in tables.rows("config_history", date) if row["value"] is not None],
        ("resource_type", "resource_name", "name"),
        "value",
    ),
    "users": lambda tables, date: by(tables.rows("scram_history", date), ("user", "mechanism"), "valid_from"),
    "partitions": lambda tables, date: {
        (row["topic"], row["partition"]): (trouble, row["isr"], row["replicas"])
        for row in tables.rows("partition_history", date)
        if (trouble := trouble_of(row)) is not None
    },
    "tokens": lambda tables, date: by(tables.rows("token_history", date), ("owner", "token_id"), "expires_at"),
    "brokers": lambda tables, date: {
        (row["broker_id"],): tuple(
            str(row[name])
            for name in ("fenced", "rack", "endpoints", *(() if row["fenced"] else ("in_controlled_shutdown",)))
        )
        for row in tables.rows("broker_history", date)
    },
    "controllers": lambda tables, date: by(tables.rows("controller_history", date), ("controller_id",), "endpoints"),
    "features": lambda tables, date: by(tables.rows("feature_history", date), ("name",), "level"),
    "commits": lambda tables, date: by(
        commits_at(tables.rows("offset_commits"), date), ("group_id", "topic", "partition"), "committed_offset"
    ),
}


def words(number: int) -> str:
    return f"{number:,}"


def date_text(date: int) -> str:
    return datetime.fromtimestamp(date / 1000, UTC).isoformat()


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((1_200, 800, 900, 1_500), id="small"),
        pytest.param((70_000, 60_000, 9_000, 100_000), id="100,000 rows", marks=pytest.mark.nightly),
    ],
)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Tables]:
    """The page of a cluster, and the tables of its logs."""
    acls, changes, commits, least = request.param
    folder = tmp_path_factory.mktemp("made")
    MadeCluster(folder / "logs", "c1", 5).write(acls=acls, changes=changes, commits=commits)
    page = folder / "report.html"
    assert main(["report", "logs", str(folder / "logs"), "--out", str(page)]) == 0
    data = data_of(page)
    assert sum(len(section["rows"]) for section in data["sections"].values()) > least
    assert data["notes"] == []
    return page, Tables(folder / "logs", folder)


def test_tiles_and_lists_have_the_numbers_of_the_tables(browser: Page, made: tuple[Path, Tables]) -> None:
    file, tables = made
    page = opened(browser, file)
    for date in DATES:
        go_to(page, date_text(date))
        acls, users = tables.rows("acl_history", date), tables.rows("scram_history", date)
        principals, commits = {row["principal"] for row in acls}, STATES["commits"](tables, date)
        expected = [
            *(len({row["acl_id"] for row in acls}), len(principals)),
            *(len(STATES[name](tables, date)) for name in ("topics", "partitions", "quotas", "configs")),
            *(len({row["user"] for row in users}), len(STATES["tokens"](tables, date))),
            *(len(STATES["brokers"](tables, date)), len({key[0] for key in commits})),
            sum(milliseconds(row["time"]) <= date for row in tables.rows("alerts")),
        ]
        assert texts(page, ".tile b") == [words(number) for number in expected]
        assert 0 not in expected
        assert texts(page, "#access-found") == [f"{words(len(acls))} ACLs, {words(len(principals))} principals"]
        assert texts(page, "#commits-found")[0].startswith(f"{words(len(commits))} committed offsets, ")
        for name, number in (
            ("topics", expected[2]),
            ("partitions", expected[3]),
            ("quotas", expected[4]),
            ("configs", expected[5]),
        ):
            click(page, f"#{name}-which input[value=now]")
            assert texts(page, f"#{name}-found")[0].startswith(f"{words(number)} ")
    assert page.complaints == []


def test_the_comparison_is_that_of_the_tables_of_two_dates(
    browser: Page, made: tuple[Path, Tables], tmp_path: Path
) -> None:
    file, tables = made
    states = {(name, date): STATES[name](tables, date) for name in TOTALS for date in DATES}
    page = opened(browser, file)
    for begin, end in (*pairwise(DATES), (DATES[0], DATES[-1])):
        compare(page, date_text(begin), date_text(end))
        for at, name in enumerate(TOTALS):
            before, after = states[name, begin], states[name, end]
            expected = [
                len(after.keys() - before.keys()),
                len(before.keys() - after.keys()),
                sum(before[key] != after[key] for key in before.keys() & after.keys()),
            ]
            found = texts(page, f"#compare-totals tr:nth-child({at + 1}) td")
            assert found == [words(number) for number in expected], (name, begin, end)
    saved = json.loads(downloaded(page, 2, tmp_path))
    before, after = states["acls", DATES[0]], states["acls", DATES[-1]]
    for change, expected_rows in (("gained", after.keys() - before.keys()), ("lost", before.keys() - after.keys())):
        assert {tuple(row[name] for name in ACL) for row in saved["acls"][change]} == expected_rows
    assert page.complaints == []


def test_views_of_principals_and_topics_have_the_rows_of_the_tables(browser: Page, made: tuple[Path, Tables]) -> None:
    file, tables = made
    page = opened(browser, file)
    for date in DATES:
        go_to(page, date_text(date))
        acls = tables.rows("acl_history", date)
        principal = "User:u5"
        follow(page, f"#principal={principal}")
        own = sum(row["principal"] == principal for row in acls)
        quotas = sum(row["user"] == "u5" for row in tables.rows("quota_history", date))
        facts = texts(page, "#entity-facts")[0]
        assert f": {words(own)} ACL" in facts
        assert f"; {quotas} quota" in facts
        mechanisms = {str(row["mechanism"]) for row in tables.rows("scram_history", date) if row["user"] == "u5"}
        assert all(each.replace("_", "-") in facts for each in mechanisms)
        assert ("no SCRAM credential" in facts) == (not mechanisms)
        topic = next(str(row["resource_name"]) for row in acls if row["pattern_type"] == "LITERAL")
        follow(page, f"#topic={topic}")
        applying = [
            row["principal"]
            for row in acls
            if (row["pattern_type"] == "LITERAL" and row["resource_name"] == topic)
            or (row["pattern_type"] == "PREFIXED" and topic.startswith(str(row["resource_name"])))
        ]
        summary = texts(page, "#entity details summary .hint")[0]
        assert f"{words(len(set(applying)))} principal" in summary
        assert f", {words(len(applying))} ACL" in summary
        page.evaluate("document.getElementById('entity-back').click()")
        page.settle()
    assert page.complaints == []
