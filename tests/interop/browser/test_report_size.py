"""Large and odd logs on the report's page: numbers count everything that was read; lists and names are limited."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from tests.browser.chromium import Page
from tests.browser.report_data import PackedNumbers, data_of, number_at
from tests.browser.report_pages import BEGAN, ENDED, MINUTE, click, go_to, opened, search, shown, texts
from tests.made.clusters import BEGAN as MADE_FROM, MadeCluster
from tests.made.reports import commits_of, section_of

from kafkawire.cli.app import main
from kafkawire.report.contents import Committed, Count, LogReport, Numbers, Row, Section
from kafkawire.report.shown_histories import SHOWN_HISTORIES

pytestmark = pytest.mark.extended

TILES = (
    ("acls", "holding"),
    ("acls", "holders"),
    ("topics", "holding"),
    ("partitions", "holding"),
    ("quotas", "holding"),
    ("configs", "holding"),
    ("users", "holders"),
    ("tokens", "holding"),
    ("brokers", "holding"),
    ("commits", "holders"),
    ("alerts", "changes"),
)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clusters, the second with fewer and older commits."""
    folder = tmp_path_factory.mktemp("clusters")
    MadeCluster(folder / "1", "first", 1).write(acls=400, changes=300, commits=600)
    MadeCluster(folder / "2", "second", 2).write(acls=90, changes=90, commits=200)
    return folder


def expected_tiles(numbers: Sequence[dict[str, PackedNumbers]], date: int) -> list[str]:
    """The expected numbers of some clusters. Unit tests compare them with the tables."""

    def number(of: PackedNumbers, what: str) -> int:
        if what == "holders":
            return number_at(of["holders"], date)
        if what == "changes":
            return number_at(of["changes"], date)
        return sum(number_at(count, date) for count in of["holding"].values())

    return [f"{sum(number(of[section], what) for of in numbers):,}" for section, what in TILES]


@pytest.mark.parametrize("most", [100_000, 25])
def test_tiles_count_all_rows_of_the_chosen_clusters_at_every_date(
    browser: Page, logs: Path, tmp_path: Path, most: int
) -> None:
    file = tmp_path / "report.html"
    assert main(["report", "logs", str(logs), "--out", str(file), "--max-rows", str(most)]) == 0
    data = data_of(file)
    numbers = [{name: data["sections"][name]["numbers"][at] for name in data["sections"]} for at in (0, 1)]
    page = opened(browser, file)
    for chosen, of in (("", numbers), ("0", numbers[:1]), ("1", numbers[1:])):
        page.evaluate(f"document.getElementById('cluster').value = {chosen!r}")
        page.evaluate("document.getElementById('cluster').dispatchEvent(new Event('change'))")
        for part in (2, 7, 10):
            date = MADE_FROM + part * 10**8
            go_to(page, datetime.fromtimestamp(date / 1000, UTC).isoformat())
            tiles = expected_tiles(of, date)
            assert texts(page, ".tile b") == tiles
            assert "0" not in tiles[:-1]
            assert texts(page, "#access-found")[0].startswith(f"{tiles[0]} ACLs, {tiles[1]} principals")
    bars = page.evaluate("[...document.querySelectorAll('#commits-chart rect')].length")
    assert bars == len(data["commitTimes"][1])
    assert browser.complaints == []


def test_the_number_above_a_list_says_how_many_are_on_the_page(browser: Page, tmp_path: Path) -> None:
    topics: list[Row] = [
        ("c1", f"t{number}", "id", 1, BEGAN + number, None if number < 10 else ENDED - number) for number in range(50)
    ]
    values = ("c1", "TOPIC", "t", "cleanup.policy")
    configs: list[Row] = [(*values, f"v{number}", BEGAN + number, BEGAN + number + 1) for number in range(9)]
    report = LogReport(
        title="Logs",
        began=BEGAN,
        ended=ENDED,
        topics=section_of("topics", topics, 10),
        configs=section_of("configs", [*configs, (*values, "v9", BEGAN + 9, None)], 2),
        clusters=["c1"],
    )
    page = shown(browser, report, tmp_path)
    assert texts(page, "#topics-found") == ["50 topics, 20 of them on this page"]
    search(page, "topics-search", "t10")
    assert texts(page, "#topics-found") == ["1 of 50 topics, 20 of them on this page"]
    assert texts(page, "#configs-found") == ["1 configuration"]
    assert texts(page, "#changes-found") == ["100 changes, 33 of them on this page"]
    (first,) = (row for row in texts(page, "#changes-table tr") if "v7" in row and "v6" not in row and "v8" not in row)
    assert "set" in first  # whether it was added or changed is not on the page
    assert "added" not in first


def test_an_approximate_number_is_marked(browser: Page, tmp_path: Path) -> None:
    wide = Count(5, [(BEGAN, 3), (BEGAN + 2 * MINUTE, -1)], MINUTE)
    history = next(history for history in SHOWN_HISTORIES if history.section == "topics")
    row = ("c1", "t", "id", 1, None, None)
    section = Section(history.fields, [row], {"c1": Numbers(8, 1, 7, holding={"": wide})})
    page = shown(browser, LogReport("Logs", BEGAN, ENDED, topics=section, clusters=["c1"]), tmp_path)
    for date, expected in (("00:00:30", "≈ 8"), ("00:01:00", "8"), ("00:02:10", "≈ 7"), ("00:03:00", "7")):
        go_to(page, f"2026-01-01 {date}")
        assert texts(page, ".tile b")[2] == expected


def test_a_box_of_many_acls_is_closed_and_opens_in_steps(browser: Page, tmp_path: Path) -> None:
    def acl(principal: str, number: int) -> Row:
        return ("c1", principal, "*", "TOPIC", f"t{number:04}", "LITERAL", "READ", "ALLOW", None, None)

    acls = [acl("User:many", number) for number in range(5_000)] + [acl("User:few", number) for number in range(20)]
    page = shown(browser, LogReport("Logs", BEGAN, ENDED, acls=section_of("acls", acls), clusters=["c1"]), tmp_path)
    opened_boxes = "[...document.querySelectorAll('#access-holders details')].map((box) => box.open)"
    assert page.evaluate(opened_boxes) == [True, False]
    assert height(page) < 9_000
    click(page, "#access-holders details:not([open]) summary")
    assert len(texts(page, "#access-holders details:nth-child(2) .grant")) == 20
    click(page, "#access-holders details:nth-child(2) .more")
    assert len(texts(page, "#access-holders details:nth-child(2) .grant")) == 40


def test_an_entity_with_very_many_rows_is_folded_in_its_lane_and_its_line(browser: Page, tmp_path: Path) -> None:
    hosts: list[Row] = [
        ("c1", "User:ann", f"10.0.{at // 250}.{at % 250}", "TOPIC", "t", "LITERAL", "READ", "ALLOW", BEGAN, None)
        for at in range(3_000)
    ]
    values: list[Row] = [("c1", "TOPIC", "t", "c", f"v{at}", BEGAN + at, BEGAN + at + 1) for at in range(3_000)]
    report = LogReport(
        *("Logs", BEGAN, ENDED),
        acls=section_of("acls", hosts),
        configs=section_of("configs", values),
        clusters=["c1"],
    )
    page = shown(browser, report, tmp_path)
    assert texts(page, "#acl-lanes .unfold") == ["… 2,988 more"]
    assert texts(page, "#configs-lanes .unfold") == ["… 2,600 more"]
    click(page, "#access-holders summary")
    assert texts(page, "#access-holders .unfold") == ["… 2,980 more"]
    click(page, "input[value=resource]")
    assert len(texts(page, "#access-holders .source")) == 0
    click(page, "#access-holders summary")
    (source,) = texts(page, "#access-holders .source")
    assert source.endswith("… 2,980 more")
    assert height(page) < 11_000
    click(page, "#access-holders .source .unfold")
    assert texts(page, "#access-holders .source")[0].count("ALLOW READ") == 340  # steps, as a list has them
    assert texts(page, "#access-holders .source .unfold") == ["… 2,660 more"]


def height(page: Page) -> int:
    return cast(int, page.evaluate("document.documentElement.scrollHeight"))


def named_report(name: str) -> LogReport:
    return LogReport(
        title=name,
        began=BEGAN,
        ended=ENDED,
        acls=section_of("acls", [(name, name, name, "TOPIC", name, "LITERAL", "READ", "DENY", BEGAN, None)]),
        topics=section_of("topics", [(name, name, "id", 1, BEGAN, None)]),
        quotas=section_of("quotas", [(name, name, name, name, 1.0, BEGAN, None)]),
        configs=section_of("configs", [(name, "TOPIC", name, name, name, BEGAN, None)]),
        users=section_of("users", [(name, name, name, 4096, BEGAN, None)]),
        partitions=section_of("partitions", [(name, name, 0, "no leader", "-1", "", name, BEGAN, None)]),
        tokens=section_of("tokens", [(name, name, name, name, name, ENDED, BEGAN, None)]),
        brokers=section_of("brokers", [(name, "1", "fenced", name, name, BEGAN, None)]),
        controllers=section_of("controllers", [(name, "1", name, BEGAN, None)]),
        features=section_of("features", [(name, name, 1, BEGAN, None)]),
        commits=commits_of([Committed(name, name, name, 0, 1, BEGAN, BEGAN, points=[(BEGAN, 1)])]),
        logs=[name],
        clusters=[name, "other"],
    )


@pytest.mark.parametrize("width", [400, 1400])
def test_a_name_of_ten_thousand_characters_is_folded_everywhere(browser: Page, tmp_path: Path, width: int) -> None:
    browser.resize(width, 1000)
    try:
        page = shown(browser, named_report("x" * 250), tmp_path)
        ordinary = height(page)
        page = shown(browser, named_report("head." + "x" * 9_990 + ".tail"), tmp_path)
        assert height(page) < 1.5 * ordinary
        click(page, "input[value=resource]")
        assert height(page) < 2 * ordinary
        assert page.evaluate("document.documentElement.scrollWidth") == width
        (first, *_) = texts(page, "#access-holders summary .name")
        assert first.startswith("head.xxx")
        assert first.endswith("xxx.tail")
        assert "… 9,760 more characters …" in first
        click(page, "#access-holders summary .unfold")
        assert texts(page, "#access-holders summary .name")[0] == "head." + "x" * 9_990 + ".tail"
        assert page.complaints == []
    finally:
        browser.resize(1400, 1000)
