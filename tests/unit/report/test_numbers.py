"""The numbers of a report equal those of the tables, for two clusters and at many dates."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import pytest
from tests.browser.report_data import PageData, data_of, number_at, rows_of
from tests.kafka_logs.tables_of_dates import Rows, Tables
from tests.made.clusters import BEGAN, MadeCluster

from kafkawire.cli.app import main

CLUSTERS = ("first", "second")
DATES = [BEGAN + 10**9 * part // 4 for part in range(1, 6)]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first cluster has more of everything, and later."""
    folder = tmp_path_factory.mktemp("clusters")
    MadeCluster(folder / "1", "first", 1).write(acls=1_500, changes=900, commits=2_000)
    MadeCluster(folder / "2", "second", 2).write(acls=300, changes=300, commits=600)
    return folder


@pytest.fixture(scope="module", params=[None, 1_000, 50])
def data(request: pytest.FixtureRequest, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> PageData:
    """At the default all rows are on the page, else those of one cluster, or of none."""
    page = tmp_path_factory.mktemp("page") / "report.html"
    most = () if request.param is None else ("--max-rows", str(request.param))
    assert main(["report", "logs", str(logs), "--out", str(page), *most]) == 0
    return data_of(page)


@pytest.fixture(scope="module")
def tables(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return Tables(logs, tmp_path_factory.mktemp("tables"))


def in_both(found: Mapping[str, int]) -> list[int]:
    return [found.get(cluster, 0) for cluster in CLUSTERS]


def counted(rows: Rows, *columns: str) -> list[int]:
    """How many different values of columns each cluster has."""
    return [
        len({tuple(row[name] for name in columns) for row in rows if row["cluster"] == cluster}) for cluster in CLUSTERS
    ]


def holding(data: PageData, section: str, date: int) -> list[int]:
    return [
        sum(number_at(count, date) for count in numbers["holding"].values())
        for numbers in data["sections"][section]["numbers"]
    ]


@pytest.mark.usefixtures("one_engine")
def test_the_rows_of_a_date_equal_those_of_the_histories(data: PageData, tables: Tables) -> None:
    assert data["clusters"] == list(CLUSTERS)
    for date in DATES:
        acls = tables.rows("acl_history", date)
        assert holding(data, "acls", date) == counted(acls, "acl_id")
        for permission in ("ALLOW", "DENY"):
            found = [number_at(numbers["holding"][permission], date) for numbers in data["sections"]["acls"]["numbers"]]
            assert found == counted([acl for acl in acls if acl["permission"] == permission], "acl_id")
        principals = [number_at(numbers["holders"], date) for numbers in data["sections"]["acls"]["numbers"]]
        assert principals == counted(acls, "principal")
        assert holding(data, "topics", date) == counted(tables.rows("topic_history", date), "topic_id")
        quotas = tables.rows("quota_history", date)
        assert holding(data, "quotas", date) == counted(quotas, "user", "client_id", "ip", "key")
        users = tables.rows("scram_history", date)
        assert holding(data, "users", date) == counted(users, "user", "mechanism")
        named = [number_at(numbers["holders"], date) for numbers in data["sections"]["users"]["numbers"]]
        assert named == counted(users, "user")
        configs = [row for row in tables.rows("config_history", date) if row["value"] is not None]
        assert holding(data, "configs", date) == counted(configs, "resource_type", "resource_name", "name")


@pytest.mark.usefixtures("one_engine")
def test_groups_and_committed_offsets_are_those_of_the_commits_up_to_each_date(data: PageData, tables: Tables) -> None:
    commits = tables.rows("offset_commits")
    for date in DATES:
        committed = dict[tuple[object, ...], Mapping[str, object]]()
        for row in commits:
            if datetime.fromisoformat(str(row["append_time"])).timestamp() * 1000 <= date:
                key = tuple(row[name] for name in ("cluster", "group_id", "topic", "partition"))
                if row["tombstone"]:
                    committed.pop(key, None)
                else:
                    committed[key] = row
        still = list(committed.values())
        assert holding(data, "commits", date) == counted(still, "group_id", "topic", "partition")
        groups = [number_at(numbers["holders"], date) for numbers in data["sections"]["commits"]["numbers"]]
        assert groups == counted(still, "group_id")
    kept = [row for row in commits if not row["tombstone"]]
    bars = [sum(count for _, _, count in of_cluster) for of_cluster in data["commitTimes"]]
    assert bars == in_both({name: sum(row["cluster"] == name for row in kept) for name in CLUSTERS})


@pytest.mark.usefixtures("one_engine")
def test_changes_and_things_are_of_all_rows(data: PageData, tables: Tables) -> None:
    topics, quotas = (tables.rows(f"{name}_history") for name in ("topic", "quota"))
    for section, rows, names in (
        ("topics", topics, ("name",)),
        ("quotas", quotas, ("user", "client_id", "ip", "key")),
    ):
        assert [numbers["things"] for numbers in data["sections"][section]["numbers"]] == counted(rows, *names)
    begins_and_ends = [row for end in ("valid_from", "valid_to") for row in topics if row[end] is not None]
    assert [number_at(numbers["changes"], DATES[-1]) for numbers in data["sections"]["topics"]["numbers"]] == in_both(
        {name: sum(row["cluster"] == name for row in begins_and_ends) for name in CLUSTERS}
    )
    moments = counted(
        [{**row, "moment": row[end]} for end in ("valid_from", "valid_to") for row in quotas if row[end] is not None],
        *("user", "client_id", "ip", "key", "moment"),
    )
    found = [number_at(numbers["changes"], DATES[-1]) for numbers in data["sections"]["quotas"]["numbers"]]
    assert found == moments


@pytest.mark.usefixtures("one_engine")
def test_each_cluster_has_its_own_share_of_the_rows(data: PageData) -> None:
    for name, section in data["sections"].items():
        rows = rows_of(data, name)
        for cluster, numbers in zip(CLUSTERS, section["numbers"], strict=True):
            assert numbers["shown"] == sum(row["cluster"] == cluster for row in rows)
            assert numbers["shown"] >= min(numbers["rows"], 50)


@pytest.mark.usefixtures("one_engine")
def test_everything_that_is_valid_at_the_end_is_on_the_page(data: PageData, tables: Tables) -> None:
    """Whatever ``--max-rows`` is: it limits the rows that ended."""
    columns = ("principal", "host", "resource_type", "resource_name", "pattern_type", "operation", "permission")
    fields = ("principal", "host", "resourceType", "resourceName", "patternType", "operation", "permission")
    for name, table, of, named in (
        ("acls", "acl_history", columns, fields),
        ("quotas", "quota_history", ("user", "key", "value"), ("user", "quota", "value")),
        ("topics", "topic_history", ("name", "topic_id"), ("topic", "id")),
        ("users", "scram_history", ("user", "mechanism", "iterations"), ("user", "mechanism", "iterations")),
    ):
        expected = [
            [row[column] for column in ("cluster", *of)] for row in tables.rows(table) if row["valid_to"] is None
        ]
        found = [[row[field] for field in ("cluster", *named)] for row in rows_of(data, name) if row["to"] is None]
        assert sorted(map(str, found)) == sorted(map(str, expected))


def test_the_page_says_how_many_rows_it_shows(data: PageData) -> None:
    for name, section in data["sections"].items():
        rows, shown = (sum(numbers[field] for numbers in section["numbers"]) for field in ("rows", "shown"))
        words = {"configs": "configuration rows", "commits": "committed offsets", "alerts": "alerts"}.get(
            name, f"{name.lower()[:-1]} rows"
        )
        noted = [note.replace("ACL", "acl") for note in data["notes"]]
        said = [note for note in noted if note.startswith(f"Showing {shown:,} of {rows:,} {words}: ")]
        assert bool(said) == (shown < rows)
