"""The views of one principal and of one topic on the report's page: linked, complete, and left with Back."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Final, cast

import pytest
from tests.browser.chromium import Page
from tests.browser.report_pages import (
    BEGAN,
    ENDED,
    MINUTE,
    downloaded,
    follow,
    go_to,
    move,
    search,
    shown,
    texts,
    until,
)
from tests.made.reports import commits_of, section_of

from kafkawire.report.contents import Committed, LogEnd, LogReport, Row

pytestmark = pytest.mark.extended

HOSTILE: Final = "User:<img src=x onerror='window.stolen=1'>&a=b #+%\u202e\0"


def at(minute: int) -> int:
    return BEGAN + minute * MINUTE


def acl(principal: str, operation: str, name: str, pattern: str = "LITERAL", kind: str = "TOPIC") -> Row:
    return ("c1", principal, "*", kind, name, pattern, operation, "ALLOW", at(10), None)


def report(*more: Row) -> LogReport:
    acls = [
        acl("User:ann", "READ", "orders"),
        acl("User:ann", "READ", "bill", "PREFIXED", "GROUP"),
        ("c1", "User:ann", "*", "TOPIC", "audit", "LITERAL", "WRITE", "DENY", at(20), at(40)),
        acl("User:bob", "WRITE", "ord", "PREFIXED"),
        acl("User:*", "DESCRIBE", "*"),
        *more,
    ]
    return LogReport(
        title="Logs",
        began=BEGAN,
        ended=ENDED,
        acls=section_of("acls", acls),
        quotas=section_of(
            "quotas",
            [
                ("c1", "user ann", "ann", "producer_byte_rate", 1e6, at(5), None),
                ("c1", "user <default>", "<default>", "producer_byte_rate", 5e5, at(5), None),
                ("c1", "user annette", "annette", "producer_byte_rate", 2e6, at(5), None),
            ],
        ),
        topics=section_of(
            "topics", [("c1", "orders", "id1", 6, at(1), None), ("c1", "clicks", "id2", 1, at(1), at(50))]
        ),
        configs=section_of(
            "configs",
            [
                ("c1", "TOPIC", "orders", "cleanup.policy", "compact", at(30), None),
                ("c1", "GROUP", "orders", "consumer.session.timeout.ms", "9000", at(30), None),
            ],
        ),
        users=section_of("users", [("c1", "ann", "SCRAM_SHA_256", 4096, at(2), at(50))]),
        partitions=section_of(
            "partitions", [("c1", "orders", 3, "under-replicated", "2", "2, 3", "1, 2, 3", at(45), None)]
        ),
        tokens=section_of("tokens", [("c1", "User:ann", "id-1", "User:bob", "User:eve", at(59), at(6), None)]),
        brokers=section_of("brokers", [("c1", "1", "fenced", "a", "PLAINTEXT://h:9092", at(45), None)]),
        commits=commits_of(
            [
                Committed("c1", "billing", "orders", 0, 90, at(50), at(5), points=[(at(50), 90)], end=LogEnd(100)),
                Committed("c1", "other", "clicks", 0, 3, at(40), at(40), points=[(at(40), 3)]),
            ]
        ),
        clusters=["c1"],
    )


@pytest.fixture
def page(browser: Page, tmp_path: Path) -> Page:
    return shown(browser, report(), tmp_path)


def parts(page: Page) -> dict[str, list[str]]:
    """The rows of each visible part by its heading."""
    expression = """Object.fromEntries([...document.querySelectorAll("#entity .part")]
        .filter((part) => part.checkVisibility()).map((part) => [
            part.querySelector("h3").textContent, [...part.querySelectorAll("tbody tr")].map((row) =>
            [...row.cells].slice(0, 4).map((cell) => cell.textContent).join(" | "))]))"""
    return cast(dict[str, list[str]], page.evaluate(expression))


def sections(page: Page) -> list[str]:
    found = "[...document.querySelectorAll('section')].filter((one) => one.checkVisibility()).map((one) => one.id)"
    return cast(list[str], page.evaluate(found))


def test_the_view_of_a_principal_has_all_that_concerns_it(page: Page) -> None:
    follow(page, "#principal=User:ann")
    assert sections(page) == ["entity"]
    assert texts(page, "#entity-name") == ["User:ann"]
    assert page.evaluate("document.title") == "User:ann · Logs"
    found = parts(page)
    assert found["ACLs"] == [
        "GROUP PREFIXbill* | READ | ALLOW | every host",
        "TOPIC* (every one) for User:* | DESCRIBE | ALLOW | every host",
        "TOPICorders | READ | ALLOW | every host",
    ]
    assert found["Quotas"] == [
        "user <default> | producer_byte_rate | 500,000 bytes/s | 2026-01-01 00:05:00",
        "user ann | producer_byte_rate | 1,000,000 bytes/s | 2026-01-01 00:05:00",
    ]
    assert found["SCRAM credentials"] == []  # removed at 00:50
    assert found["Delegation tokens"] == ["id-1 | expires 2026-01-01 00:59:00 | 2026-01-01 00:06:00"]
    assert found["Committed offsets"] == ["billing | orders | 0 | 90"]
    assert len(found["Changes up to this date"]) == 9
    assert len(texts(page, "#entity .lane")) == 7
    facts = texts(page, "#entity-facts")[0]
    assert "2 ACLs of its own, 1 ACL of User:*; no SCRAM credential; 2 quotas; committed offsets of 1 group" in facts
    go_to(page, "2026-01-01 00:30")
    assert "TOPICaudit | WRITE | DENY | every host" in parts(page)["ACLs"]
    assert parts(page)["SCRAM credentials"] == ["SCRAM-SHA-256 | 4,096 | 2026-01-01 00:02:00"]
    assert page.complaints == []


def test_the_view_of_a_topic_has_all_that_concerns_it(page: Page) -> None:
    follow(page, "#topic=orders")
    found = parts(page)
    assert texts(page, "#entity details .grant > :first-child") == [
        "User:* every other principal",
        "User:ann",
        "User:bob",
    ]
    assert [row.split(" | ")[0] for row in found["ACLs that apply"]] == [
        "User:* every principal",
        "User:ann",
        "User:bob",
    ]
    assert found["Configurations"] == ["cleanup.policy | compact | 2026-01-01 00:30:00"]
    assert found["Unhealthy partitions"] == ["3 | under-replicated, ISR 2, 3 of 1, 2, 3 | 2026-01-01 00:45:00"]
    assert found["Committed offsets"] == ["billing | orders | 0 | 90"]
    assert "exists, 6 partitions, id id1" in texts(page, "#entity-facts")[0]
    follow(page, "#topic=clicks")
    assert "does not exist; deleted 2026-01-01 00:50:00" in texts(page, "#entity-facts")[0]
    follow(page, "#topic=nothing-of-that-name")
    assert "these logs do not have the topic" in texts(page, "#entity-facts")[0]  # what every topic has applies to it
    follow(page, "#principal=User:unknown")
    assert texts(page, "#entity-name") == ["User:unknown"]
    assert page.complaints == []


def test_names_lead_to_their_views_and_back_returns_to_the_same_state(page: Page) -> None:
    search(page, "access-search", "orders")
    page.evaluate("scrollTo({ top: 300, behavior: 'instant' })")
    is_open = "document.querySelector('#access-holders details').open"
    before = page.evaluate(is_open)
    move(
        page, "[...document.querySelectorAll('#access-holders a.to')].find((a) => a.textContent === 'User:ann').click()"
    )
    assert texts(page, "#entity-name") == ["User:ann"]
    assert page.evaluate("scrollY") == 0
    move(page, "[...document.querySelectorAll('#entity a.to')].find((a) => a.textContent === 'orders').click()")
    assert (texts(page, "#entity-kind"), texts(page, "#entity-name")) == (["Topic"], ["orders"])
    move(page, "history.back()")
    assert texts(page, "#entity-name") == ["User:ann"]
    move(page, "history.back()")
    assert "entity" not in sections(page)
    assert page.evaluate("document.getElementById('access-search').value") == "orders"
    assert page.evaluate(is_open) == before
    assert abs(cast(int, page.evaluate("scrollY")) - 300) < 5
    assert page.evaluate("document.title") == "Logs"


def test_the_whole_report_is_a_link_away(page: Page) -> None:
    search(page, "changes-search", "ann")
    follow(page, "#principal=User:bob")
    move(page, "document.getElementById('entity-back').click()")
    assert "access" in sections(page)
    assert page.evaluate("document.getElementById('changes-search').value") == "ann"


def test_a_view_can_be_searched(page: Page) -> None:
    follow(page, "#principal=User:ann")
    search(page, "entity-search", "group")
    found = parts(page)
    assert found["ACLs"] == ["GROUP PREFIXbill* | READ | ALLOW | every host"]
    assert found["Quotas"] == []
    assert len(texts(page, "#entity .lane")) == 1


@pytest.mark.parametrize("name", [HOSTILE, "User:" + "x" * 10_000])
def test_a_hostile_name_has_a_view_and_stays_text(browser: Page, tmp_path: Path, name: str) -> None:
    page = shown(browser, report(acl(name, "READ", "orders")), tmp_path)
    go_to(page, "2026-01-01 00:59")
    link = "[...document.querySelectorAll('#access-holders details')].at(-1).querySelector('summary a.to')"
    if name == HOSTILE:
        link = (
            "[...document.querySelectorAll('#access-holders summary a.to')].find((a) => a.textContent.includes('img'))"
        )
    move(page, f"{link}.click()")
    assert "1 ACL of its own" in texts(page, "#entity-facts")[0]
    assert page.evaluate("typeof window.stolen") == "undefined"
    assert page.evaluate("document.images.length") == 0
    assert page.complaints == []


def test_a_view_is_saved_as_json_and_csv(page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    follow(page, "#principal=User:ann")
    saved = json.loads(downloaded(page, 2, folder, "#entity-downloads"))
    assert (saved["principal"], saved["at"]) == ("User:ann", "2026-01-01T01:00:00.000Z")
    acls = {(row["principal"], row["resource_name"]): row["valid_at_date"] for row in saved["acls"]}
    assert acls == {
        ("User:ann", "orders"): True,
        ("User:ann", "bill"): True,
        ("User:ann", "audit"): False,
        ("User:*", "*"): True,
    }
    assert [(row["user"], row["valid_at_date"]) for row in saved["users"]] == [("ann", False)]
    assert [(row["group"], row["offset"]) for row in saved["commits"]] == [("billing", 90)]
    rows = list(csv.DictReader(io.StringIO(downloaded(page, 1, folder, "#entity-downloads"), newline="")))
    assert sum(row["table"] == "acls" for row in rows) == 4
    assert {row["table"] for row in rows} == {"acls", "quotas", "users", "tokens", "commits"}


@pytest.mark.parametrize("address", ["#principal=User:ann", "#topic=orders"])
def test_a_view_fits_a_telephone(page: Page, address: str) -> None:
    page.resize(400, 900)
    try:
        follow(page, address)
        assert page.evaluate("document.documentElement.scrollWidth") == 400
    finally:
        page.resize(1400, 1000)


@pytest.mark.parametrize(
    ("tile", "section", "rows"),
    [
        *((0, "access", 0), (2, "topics", 1), (3, "partitions", 1), (4, "quotas", 3), (5, "configs", 2)),
        *((6, "users", 0), (7, "tokens", 1), (8, "brokers", 1), (9, "commits", 0), (10, "alerts", 0)),
    ],
)
def test_a_tile_leads_to_the_list_of_what_it_counts(page: Page, tile: int, section: str, rows: int) -> None:
    search(page, f"{section}-search", "no such thing")
    page.evaluate(f"document.querySelectorAll('.tile')[{tile}].click()")
    reached = section if section != "access" else "access-list"
    place = f"document.getElementById('{reached}').getBoundingClientRect().top"
    until(page, f"Math.abs({place} - 500) < 505")
    page.settle()
    assert -5 < cast(float, page.evaluate(place)) < 1000
    assert page.evaluate(f"document.getElementById('{section}-search').value") == ""
    if section not in ("access", "commits"):
        number = texts(page, ".tile b")[tile]
        assert len(texts(page, f"#{section}-lanes .lane")) == rows == int(number)
