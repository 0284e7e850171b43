"""Two dates compared on the report's page: who gained, who lost, in lists, in the address and in files."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

import pytest
from tests.browser.chromium import Page
from tests.browser.report_pages import BEGAN, ENDED, MINUTE, click, compare, downloaded, follow, search, shown, texts
from tests.made.reports import commits_of, section_of

from kafkawire.report.contents import Committed, LogReport, Row

pytestmark = pytest.mark.extended

FORMULA: Final = '=cmd|"x"!A1'


def at(minute: int) -> int:
    return BEGAN + minute * MINUTE


def acl(principal: str, operation: str, begin: int | None, end: int | None) -> Row:
    times = (None if begin is None else at(begin), None if end is None else at(end))
    return ("c1", principal, "*", "TOPIC", "orders", "LITERAL", operation, "ALLOW", *times)


REPORT: Final = LogReport(
    title="Logs",
    began=BEGAN,
    ended=ENDED,
    acls=section_of(
        "acls",
        [
            acl("User:ann", "READ", None, None),
            acl("User:bob", "READ", 10, 40),
            acl("User:bob", "WRITE", 15, None),
            acl("User:eve", "READ", 20, 25),
            acl("User:kim", "READ", 0, 20),
            acl("User:kim", "READ", 30, None),
            acl(FORMULA, "READ", 35, None),
        ],
    ),
    quotas=section_of(
        "quotas",
        [
            ("c1", "user ann", "ann", "producer_byte_rate", 1e6, at(5), at(30)),
            ("c1", "user ann", "ann", "producer_byte_rate", 2.5e6, at(30), None),
        ],
    ),
    topics=section_of(
        "topics",
        [
            ("c1", "orders", "a", 6, BEGAN, at(20)),
            ("c1", "orders", "b", 6, at(25), None),
            ("c1", "new", "c", 1, at(50), None),
        ],
    ),
    configs=section_of(
        "configs",
        [
            ("c1", "TOPIC", "orders", "cleanup.policy", "compact", at(1), at(20)),
            ("c1", "TOPIC", "orders", "cleanup.policy", "delete", at(20), at(22)),
            ("c1", "TOPIC", "orders", "cleanup.policy", "compact", at(22), None),
            ("c1", "BROKER", "1", "ssl.key.password", "[hidden]", at(1), at(20)),
            ("c1", "BROKER", "1", "ssl.key.password", "[hidden]", at(20), None),
        ],
    ),
    users=section_of(
        "users",
        [
            ("c1", "ann", "SCRAM_SHA_256", 4096, at(1), at(30)),
            ("c1", "ann", "SCRAM_SHA_256", 4096, at(30), None),
            ("c1", "bob", "SCRAM_SHA_512", 8192, at(1), at(30)),
        ],
    ),
    commits=commits_of(
        [
            Committed("c1", "billing", "orders", 0, 90, at(50), at(5), points=[(at(5), 10), (at(50), 90)]),
            Committed("c1", "late", "orders", 0, 3, at(40), at(40), points=[(at(40), 3)]),
        ]
    ),
    clusters=["c1"],
)


@pytest.fixture
def page(browser: Page, tmp_path: Path) -> Page:
    page = shown(browser, REPORT, tmp_path)
    compare(page, "2026-01-01 00:17", "2026-01-01 00:59")
    return page


def differences(page: Page) -> list[tuple[str, ...]]:
    rows = cast(
        list[list[str]],
        page.evaluate(
            "[...document.querySelectorAll('#compare-table tbody tr')]"
            ".map((row) => [...row.cells].map((cell) => cell.textContent))"
        ),
    )
    return sorted(tuple(row) for row in rows)


def test_what_differs_between_two_dates_is_listed(page: Page) -> None:
    assert differences(page) == sorted(
        [
            ("gained", "ACL", f"{FORMULA} ALLOW READ on TOPIC orders", ""),
            ("lost", "ACL", "User:bob ALLOW READ on TOPIC orders", ""),
            ("changed", "Topic", "orders", "deleted and created again"),
            ("gained", "Topic", "new", "1 partition"),
            ("changed", "Quota", "producer_byte_rate of user ann", "1,000,000 bytes/s → 2,500,000 bytes/s"),
            ("changed", "Configuration", "ssl.key.password of BROKER 1", "set again, with another value"),
            ("changed", "SCRAM credential", "SCRAM-SHA-256 of ann", "set again, with another value"),
            ("lost", "SCRAM credential", "SCRAM-SHA-512 of bob", "8,192 iterations"),
            ("changed", "Committed offset", "billing at orders-0", "10 → 90 (+80)"),
            ("gained", "Committed offset", "late at orders-0", "3"),
        ]
    )
    assert texts(page, "#compare-found") == ["10 differences"]
    assert texts(page, "#compare-totals tr:first-child td") == ["1", "1", "0"]
    who = texts(page, "#compare-principals tbody tr")
    assert sorted(who) == sorted([f"{FORMULA}+10", "User:bob0\u22121"])
    assert page.complaints == []


def test_a_total_filters_the_list_and_so_does_a_search(page: Page) -> None:
    click(page, "#compare-totals tr:first-child td:nth-child(3) button")
    assert [row[2] for row in differences(page)] == ["User:bob ALLOW READ on TOPIC orders"]
    assert texts(page, "#compare-found") == ["1 of 10 differences"]
    click(page, "#compare-which input[value='']")
    click(page, "#compare-change input[value='']")
    search(page, "compare-search", "billing")
    assert [row[2] for row in differences(page)] == ["billing at orders-0"]


def test_the_address_reproduces_the_comparison(page: Page, browser: Page, tmp_path: Path) -> None:
    click(page, "#compare-change input[value=lost]")
    page.evaluate("new Promise((done) => setTimeout(done, 450))")
    address = cast(str, page.evaluate("location.hash"))
    assert "from=2026-01-01T00%3A17%3A00.000Z&to=2026-01-01T00%3A59%3A00.000Z" in address
    expected = differences(page)
    page.call("Page.navigate", url="about:blank")
    again = shown(browser, REPORT, tmp_path)
    assert differences(again) != expected
    follow(again, address)
    assert differences(again) == expected
    assert again.evaluate("document.getElementById('compare-from').value") == "2026-01-01 00:17:00"


@pytest.mark.parametrize(
    ("preset", "dates"),
    [
        (1, ["2026-01-01 00:00:00", "2026-01-01 01:00:00"]),
        (2, ["2026-01-01 00:00:00", "2026-01-01 00:30:00"]),
        (3, ["2026-01-01 00:30:00", "2026-01-01 01:00:00"]),
        (4, ["2026-01-01 00:40:00", "2026-01-01 00:50:00"]),
    ],
)
def test_dates_can_be_chosen_by_a_button(page: Page, preset: int, dates: list[str]) -> None:
    page.evaluate("document.getElementById('date').value = '2026-01-01 00:30'")
    page.evaluate("document.getElementById('date').dispatchEvent(new Event('change'))")
    click(page, f"#compare-presets button:nth-child({preset})")
    found = [page.evaluate(f"document.getElementById('compare-{name}').value") for name in ("from", "to")]
    assert found == dates


def test_the_earlier_date_comes_first_and_an_invalid_one_changes_nothing(page: Page) -> None:
    expected = differences(page)
    compare(page, "soon", "2026-01-01 00:59")
    assert page.evaluate("document.getElementById('compare-from').getAttribute('aria-invalid')") == "true"
    assert differences(page) == expected
    compare(page, "2026-01-01 00:59", "2026-01-01 00:17")
    assert differences(page) == expected


def test_the_comparison_is_saved_as_csv_that_no_spreadsheet_calculates(page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    rows = list(csv.DictReader(io.StringIO(downloaded(page, 1, folder), newline="")))
    assert len(rows) == 10
    by_thing = {(row["table"], row["principal"], row["group"], row["name"], row["user"]): row for row in rows}
    gained = by_thing["acls", f"'{FORMULA}", "", "", ""]
    assert (gained["change"], gained["operation"], gained["resource_name"]) == ("gained", "READ", "orders")
    changed = by_thing["commits", "", "billing", "", ""]
    assert (changed["change"], changed["before"], changed["after"]) == ("changed", "10", "90")
    assert page.complaints == []


def test_the_comparison_is_saved_as_json_with_exact_names(page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    click(page, "#compare-which input[value=acls]")
    saved = json.loads(downloaded(page, 2, folder))
    assert (saved["from"], saved["to"]) == ("2026-01-01T00:17:00.000Z", "2026-01-01T00:59:00.000Z")
    assert [row["principal"] for row in saved["acls"]["gained"]] == [FORMULA]
    (lost,) = saved["acls"]["lost"]
    assert (lost["principal"], lost["valid_from"], lost["valid_to"]) == (
        *("User:bob", "2026-01-01T00:10:00.000Z", "2026-01-01T00:40:00.000Z"),
    )
    assert saved["quotas"] == {"gained": [], "lost": [], "changed": []}


def test_a_comparison_that_lacks_rows_says_so(browser: Page, tmp_path: Path) -> None:
    acls = [acl(f"User:u{number}", "READ", 0, 10 + number) for number in range(20)]
    page = shown(browser, replace(REPORT, acls=section_of("acls", acls, 5)), tmp_path)
    compare(page, "2026-01-01 00:05", "2026-01-01 00:59")
    assert texts(page, "#compare-lacking")[0].startswith("Not all rows of these dates are on this page")
    assert page.evaluate("document.getElementById('compare-lacking').checkVisibility()") is True
    compare(page, "2026-01-01 00:26", "2026-01-01 00:59")
    assert page.evaluate("document.getElementById('compare-lacking').checkVisibility()") is False
