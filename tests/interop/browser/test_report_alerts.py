"""The alerts on the report's page: up to the date, newest first, by severity and words, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.browser.chromium import Page
from tests.browser.report_data import data_of
from tests.browser.report_pages import BEGAN, ENDED, MINUTE, click, go_to, opened, search, shown, texts

from kafkawire.cli.app import main
from kafkawire.logs import ALERT_RULES, read_alerts
from kafkawire.report.alerts import GatheredAlerts
from kafkawire.report.contents import LogReport

LOGS = Path("tests/fixtures/kafka-4.3.1/logs").resolve()
CELLS = "#alerts-table tbody tr td:nth-child(%d)"


def record(minute: int, rule: str, resource: str = "orders", cluster: str = "c1") -> dict[str, object]:
    return {
        "cluster": cluster,
        "time": BEGAN + minute * MINUTE,
        "log_offset": minute,
        "rule": rule,
        "severity": ALERT_RULES[rule].severity.value,
        "resource_type": "TOPIC",
        "resource_name": resource,
        "principal": None if rule.startswith("retention") else "User:ann",
        "message": f"{rule} at {minute}",
    }


def report_of(*records: dict[str, object], limit: int = 100) -> LogReport:
    gathered = GatheredAlerts(limit)
    for each in records:
        gathered.add(each)
    return LogReport("Logs", BEGAN, ENDED, alerts=gathered.section(), clusters=["c1", "c2"])


RECORDS = (
    record(10, "deny-removed"),
    record(20, "retention-unset", "clicks"),
    record(30, "acl-of-deleted-topic", "old"),
    record(40, "everyone-granted", cluster="c2"),
)


def test_they_follow_the_date_the_cluster_and_the_choice(browser: Page, tmp_path: Path) -> None:
    page = shown(browser, report_of(*RECORDS), tmp_path)
    rules = CELLS % 3
    assert texts(page, rules) == ["everyone-granted", "acl-of-deleted-topic", "retention-unset", "deny-removed"]
    assert texts(page, ".tile b")[-1] == "4"
    go_to(page, "2026-01-01 00:25")
    assert texts(page, rules) == ["retention-unset", "deny-removed"]
    assert texts(page, ".tile b")[-1] == "2"
    click(page, "input[name=alerts-which][value=high]")
    assert texts(page, rules) == ["deny-removed"]
    assert texts(page, "#alerts-found") == ["1 of 2 alerts"]
    click(page, "input[name=alerts-which][value='']")
    search(page, "alerts-search", "clicks")
    assert texts(page, rules) == ["retention-unset"]
    go_to(page, "2026-01-01 00:05")
    assert texts(page, "#alerts-table .nothing:not([hidden])") == ["No alerts up to this date."]
    assert page.complaints == []


def test_each_leads_to_its_time_and_to_what_it_is_about(browser: Page, tmp_path: Path) -> None:
    page = shown(browser, report_of(*RECORDS), tmp_path)
    links = page.evaluate("[...document.querySelectorAll('#alerts-table a.to')].map((link) => link.hash)")
    assert links == ["#principal=User%3Aann", "#topic=old", "#topic=clicks", "#principal=User%3Aann"]
    click(page, "#alerts-table tbody tr:last-child button.link")
    assert texts(page, "#when") == ["2026-01-01 00:10:00 UTC"]
    assert set(texts(page, "#alerts-rules dt")) == {str(each["rule"]) for each in RECORDS}
    assert texts(page, "#alerts-rules dd")[0].endswith(f"To do: {ALERT_RULES['deny-removed'].remedy}.")


def test_of_too_many_the_newest_are_on_the_page_and_all_are_counted(browser: Page, tmp_path: Path) -> None:
    many = [record(minute, "deny-removed") for minute in range(1, 50)]
    page = shown(browser, report_of(*many, limit=10), tmp_path)
    assert len(texts(page, CELLS % 3)) == 10
    assert texts(page, "#alerts-found") == ["49 alerts, 10 of them on this page"]
    assert texts(page, ".tile b")[-1] == "49"
    assert "Showing 10 of 49 alerts" in "".join(texts(page, ".banner.note"))


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\u202eevil"])
def test_hostile_names_stay_text(browser: Page, tmp_path: Path, name: str) -> None:
    hostile = {**record(10, "retention-shortened", name), "message": f"retention of {name}"}
    page = shown(browser, report_of(hostile), tmp_path)
    assert page.evaluate("document.querySelectorAll('#alerts script').length") == 0
    (message,) = texts(page, CELLS % 5)
    assert message == f"retention of {name}".replace("\u202e", "\\u202e")
    assert page.complaints == []


def test_the_page_of_a_log_of_apache_kafka_has_the_alerts_of_the_log(browser: Page, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    assert main(["report", "logs", str(LOGS), "--out", str(file)]) == 0
    page = opened(browser, file)
    alerts = read_alerts(LOGS)
    assert texts(page, CELLS % 5) == [alert.message for alert in reversed(alerts)]
    assert len(data_of(file)["sections"]["alerts"]["rows"]) == len(alerts)
