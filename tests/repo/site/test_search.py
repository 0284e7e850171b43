"""People who type a word into the search of the site find its page among the first hits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser.chromium import Page, browser_program, opened_browser
from tests.browser.site_search import Search, served

pytestmark = pytest.mark.extended

WORDS = {
    "create_topics": "api/admin-client.html#kafkawire.admin.AdminClient.create_topics",
    "AdminClient": "api/admin-client.html",
    "BlockingAdminClient": "api/blocking-admin-client.html",
    "EmbeddedBroker": "api/broker.html",
    "ThreadedBroker": "api/broker.html",
    "NewTopic": "api/topics.html",
    "read_table": "api/logs.html",
    "describe_acls": "api/admin-client.html",
    "install": "install.html",
    "pip": "install.html",
    "acl": "a-to-z.html#acl",
    "ACLs": "api/acls.html",
    "quota": "how-to/commands-quotas.html",
    "quotas": "how-to/commands-quotas.html",
    "plan": "how-to/declared-state.html#plan",
    "apply": "how-to/declared-state.html#apply",
    "doctor": "how-to/commands-connect.html",
    "who-can": "how-to/understand-acls.html",
    "who-could": "how-to/ask-the-past.html",
    "kafka-configs": "reference/kafka-configs.html",
    "rpk": "how-to/come-from-other-tools.html",
    "reset offsets": "how-to/commands-groups.html#reset-offsets",
    "topic": "how-to/commands-topics.html",
    "SASL": "a-to-z.html#sasl",
    "SSL": "a-to-z.html#ssl",
    "TLS": "how-to/log-in.html",
    "SCRAM": "api/connection.html",
    "pytest": "how-to/test-with-a-broker.html",
    "fixture": "api/pytest.html",
    "spark": "how-to/spark.html",
    "parquet": "a-to-z.html#parquet",
    "report": "how-to/report-logs.html",
    "CreateTopicsRequest": "reference/protocol/messages/create_topics_request.html",
    "throttle_time_ms": "reference/protocol/messages/",
    "INVALID_REQUEST": "reference/protocol/error-codes.html",
    "TOPIC_ALREADY_EXISTS": "troubleshooting.html",
    "lag": "how-to/commands-groups.html",
    "offsets": "a-to-z.html#offsets",
    "consumer group": "a-to-z.html#consumer-group",
    "broker": "a-to-z.html#broker",
    "timeout": "admin.html#timeouts",
    "kafka-python": "how-to/migrate-to-kafkawire-admin.html",
    "advertised.listeners": "troubleshooting.html",
    "connection refused": "troubleshooting.html#connection-refused",
    "certificate": "troubleshooting.html#the-certificate-is-refused",
    "notebook": "troubleshooting.html#notebooks",
    "jupyter": "a-to-z.html#jupyter",
    "codec": "how-to/codec-filter.html",
    "benchmarks": "benchmarks/index.html",
    "faq": "faq.html",
    "licence": "faq.html",
}
"""What people type, and the page or the section that they want."""

FIRST = {
    "create_topics",
    "AdminClient",
    "BlockingAdminClient",
    "EmbeddedBroker",
    "CreateTopicsRequest",
    "install",
    "pip",
    "acl",
    "apply",
    "plan",
    "quota",
    "reset offsets",
}
"""Words whose page is the first hit."""


@pytest.fixture(scope="module")
def search(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Search]:
    folder = tmp_path_factory.mktemp("browser")
    with served(site) as address, opened_browser(browser_program(), folder) as page:
        yield Search(page, address)


@pytest.mark.parametrize("words", WORDS)
def test_a_word_finds_its_page(search: Search, words: str) -> None:
    found, _ = search.hits(words)
    among = found[:1] if words in FIRST else found
    assert [hit for hit in among if hit.startswith(WORDS[words])], found


def test_a_hit_is_there_before_a_reader_waits(search: Search) -> None:
    times = sorted(search.hits(words)[1] for words in ("describe_configs", "snapshot", "delete_records"))
    assert times[1] < 5


def test_the_index_of_the_search_is_small(site: Path) -> None:
    assert (site / "search.json").stat().st_size < 3_500_000


def test_pages_load_nothing_from_elsewhere(site: Path, tmp_path: Path) -> None:
    with served(site) as address, opened_browser(browser_program(), tmp_path) as page:
        for name in ("index.html", "api/admin-client.html", "reference/protocol/messages/fetch_request.html"):
            page.visit(address + name)
        assert elsewhere(page, address) == []
        assert page.complaints == []


def elsewhere(page: Page, address: str) -> list[str]:
    return [request for request in page.requests if not request.startswith((address, "data:", "about:"))]
