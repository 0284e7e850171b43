"""Transactions and share groups on the report's page in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.browser.chromium import Page
from tests.browser.report_pages import BEGAN, ENDED, MINUTE, click, search, shown, texts
from tests.made.reports import section_of

from kafkawire.report.contents import LogReport

HOSTILE = "</script><img src=x onerror='window.stolen = 1'>"

REPORT = LogReport(
    title="Coordinators",
    began=BEGAN,
    ended=ENDED,
    topics=section_of("topics", [("c1", "orders", "Qk3fA", 6, BEGAN, None)]),
    transactions=section_of(
        "transactions",
        [
            ("c1", "billing", "Ongoing", 7, 3, 2, BEGAN, BEGAN + 20 * MINUTE),
            ("c1", "billing", "CompleteAbort", 7, 3, 0, BEGAN + 20 * MINUTE, None),
            ("c1", HOSTILE, "CompleteCommit", 8, 0, 0, BEGAN, BEGAN + 5 * MINUTE),
        ],
    ),
    shares=section_of(
        "shares",
        [
            ("c1", "payments", "Qk3fA", 0, None, 0, 0, 0, BEGAN, BEGAN + 20 * MINUTE),
            ("c1", "payments", "Qk3fA", 0, 40, 3, 10, 0, BEGAN + 20 * MINUTE, None),
            ("c1", "audits", "Zz9fA", 1, 5, None, None, None, None, None),
        ],
    ),
    clusters=["c1"],
)


@pytest.fixture
def page(browser: Page, tmp_path: Path) -> Page:
    return shown(browser, REPORT, tmp_path)


def bars(page: Page, section: str) -> list[str]:
    return [text for text in texts(page, f"#{section} .bar .name") if text]


def test_transactions_are_lanes_of_states(page: Page) -> None:
    assert page.complaints == []
    assert texts(page, "#transactions .lane .of") == ["billing", HOSTILE]
    assert bars(page, "transactions") == ["Ongoing", "CompleteAbort", "CompleteCommit"]
    assert texts(page, "#transactions-found") == ["2 transactional ids"]
    assert page.evaluate("window.stolen") is None
    click(page, "#transactions-which input[value=now]")
    assert texts(page, "#transactions .lane .of") == ["billing"]
    assert texts(page, "#transactions-found") == ["1 transactional id"]


def test_share_groups_have_the_names_of_their_topics(page: Page) -> None:
    assert texts(page, "#shares .lane .of") == ["paymentspartition orders-0", "auditspartition Zz9fA-1"]
    assert bars(page, "shares") == ["not started", "offset 40, 3 available, 10 acknowledged", "offset 5"]
    search(page, "shares-search", "orders")
    assert texts(page, "#shares-found") == ["1 of 2 share partitions"]


def test_without_such_logs_the_page_has_no_such_sections(browser: Page, tmp_path: Path) -> None:
    page = shown(browser, LogReport(title="Logs", began=BEGAN, ended=ENDED, topics=REPORT.topics), tmp_path)
    assert page.complaints == []
    hidden = page.evaluate("['transactions', 'shares'].map((name) => document.getElementById(name).hidden)")
    assert hidden == [True, True]
