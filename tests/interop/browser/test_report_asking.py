"""The question on the report's page: its rows are those of ``who_could``, for random histories and questions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, cast

import msgspec
import pytest
from tests.browser.chromium import Page
from tests.browser.report_pages import BEGAN, ENDED, MINUTE, click, go_to, shown, texts
from tests.made.reports import section_of

from kafkawire.logs import PastAcl, PastRight, who_could
from kafkawire.model.acls.bindings import (
    OPERATIONS_OF_RESOURCES,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.evaluation import EVERYBODY
from kafkawire.report.contents import LogReport, Row

pytestmark = pytest.mark.extended

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
NAMES: Final = ("orders", "orders.eu", "o", "\U0001f600", "\uffee", "*")
PREFIXES: Final = ("o", "ord", "orders.", "*", "")
PRINCIPALS: Final = ("User:ann", "User:bob", "Group:ops", "User:\U0001f600", "User:\uffee", EVERYBODY)
HOSTS: Final = ("*", "*", "10.0.0.1", "10.0.0.2", "10.0.0.0/31", "2001:db8::/32")

_Shown: TypeAlias = tuple[str, str, str, str, str, str]
"""The cells of a row: principal, host, since, until, by which ACL, denied by which."""


class Question(NamedTuple):
    """A question, and the minute of the log that it is about; None for any time."""

    operation: AclOperation
    resource_type: ResourceType
    name: str
    host: str
    super_users: tuple[str, ...]
    everyone: bool
    minute: int | None


def acls(chosen: random.Random) -> Iterator[PastAcl]:
    for _ in range(chosen.randrange(1, 30)):
        resource_type = chosen.choices((TOPIC, GROUP, CLUSTER), (12, 2, 1))[0]
        pattern = chosen.choices((PatternType.LITERAL, PatternType.PREFIXED), (2, 1))[0]
        name = chosen.choice(NAMES if pattern is PatternType.LITERAL else PREFIXES)
        if resource_type is CLUSTER:
            pattern, name = PatternType.LITERAL, "kafka-cluster"
        operation = chosen.choice(sorted(OPERATIONS_OF_RESOURCES[resource_type]))
        permission = chosen.choices((AclPermissionType.ALLOW, AclPermissionType.DENY), (3, 1))[0]
        principal, host = chosen.choice(PRINCIPALS), chosen.choice(HOSTS)
        first, last = sorted(chosen.choices(range(60), k=2))
        yield PastAcl(
            AclBinding(resource_type, name, principal, operation, permission, host, pattern),
            chosen.choice((None, moment(first))),
            chosen.choice((None, moment(last))),
        )


def questions(chosen: random.Random) -> Iterator[Question]:
    for _ in range(8):
        resource_type = chosen.choices((TOPIC, GROUP, CLUSTER), (12, 2, 1))[0]
        operations = sorted(OPERATIONS_OF_RESOURCES[resource_type] - {AclOperation.ALL})
        yield Question(
            chosen.choice(operations),
            resource_type,
            "kafka-cluster" if resource_type is CLUSTER else chosen.choice((*NAMES[:-1], "other")),
            chosen.choice(("", "", "10.0.0.1", "10.9.9.9", "10.0.0.0", "2001:db8:0:0:0:0:0:7")),
            chosen.choice(((), (), ("User:bob", "User:admin"))),
            chosen.random() < 0.3,
            chosen.choice((None, *range(60))),
        )


def moment(minute: int) -> datetime:
    return datetime.fromtimestamp((BEGAN + minute * MINUTE) / 1000, UTC)


def acl_row(past: PastAcl) -> Row:
    acl = past.acl
    kinds = acl.resource_type.name, acl.resource_name, acl.pattern_type.name
    begin, end = (None if time is None else int(time.timestamp() * 1000) for time in past[1:])
    return ("c1", acl.principal, acl.host, *kinds, acl.operation.name, acl.permission_type.name, begin, end)


def report_of(history: Sequence[PastAcl], limit: int = 100_000) -> LogReport:
    rows = [acl_row(each) for each in history]
    return LogReport("Logs", BEGAN, ENDED, acls=section_of("acls", rows, limit), clusters=["c1"])


def ask(page: Page, question: Question) -> set[_Shown]:
    """Fill in the form, and read the rows."""
    if question.minute is not None:
        go_to(page, f"{moment(question.minute):%Y-%m-%d %H:%M}")
    click(page, f"input[name=ask-when][value={'ever' if question.minute is None else 'date'}]")
    click(page, "input[name=ask-which][value=denied]")
    for name, value, event in (
        ("type", question.resource_type.name, "change"),
        ("operation", question.operation.name, "change"),
        ("name", question.name, "input"),
        ("host", question.host, "input"),
        ("supers", ";".join(question.super_users), "input"),
    ):
        page.evaluate(
            f"{{ const box = document.getElementById('ask-{name}'); box.value = {value!r};"
            f"box.dispatchEvent(new Event('{event}', {{ bubbles: true }})); }}"
        )
    if page.evaluate("document.getElementById('ask-everyone').checked") is not question.everyone:
        click(page, "#ask-everyone")
    page.evaluate("new Promise((done) => setTimeout(done, 100))")  # searches wait for more to be typed
    page.settle()
    while page.evaluate("!document.querySelector('#ask-table .more').hidden"):
        click(page, "#ask-table .more")
    rows = page.evaluate(
        "[...document.querySelectorAll('#ask-table tbody tr')].map((row) =>"
        "[...row.querySelectorAll('td')].map((cell) => cell.textContent))"
    )
    return {cast(_Shown, tuple(row)) for row in cast(list[list[str]], rows)}


def expected(history: Sequence[PastAcl], question: Question) -> set[_Shown]:
    """The rows that the page should have."""
    asked = None if question.minute is None else moment(question.minute)
    rights = who_could(
        history,
        question.operation,
        question.resource_type,
        question.name,
        since=asked,
        until=asked,
        host=question.host or None,
        super_users=question.super_users,
        allow_everyone_if_no_acl=question.everyone,
    )
    return {row_of(right) for right in rights}


def row_of(right: PastRight) -> _Shown:
    is_super = right.reason.value == "super user"
    others = f" except {', '.join(right.excepted)}" if right.excepted else ""
    hosts = f" except {', '.join(right.excepted_hosts)}" if right.excepted_hosts else ""
    reason = "super user" if is_super else "no ACL concerned the resource, which was open to everyone"
    return (
        right.principal + (f" every principal without a row{others}" if right.principal == EVERYBODY else ""),
        f"every host{hosts}" if right.host == "*" else right.host,
        "always" if is_super else shown_time(right.valid_from, "before this log"),
        "always" if is_super else shown_time(right.valid_to, "still at the end"),
        reason if right.acl is None else words(right.acl),
        "" if right.denied_by is None else words(right.denied_by),
    )


def shown_time(time: datetime | None, unknown: str) -> str:
    return unknown if time is None else f"{time:%Y-%m-%d %H:%M:%S}"


def words(acl: AclBinding) -> str:
    may = "may not" if acl.permission_type == AclPermissionType.DENY else "may"
    kind, name, host = acl.resource_type.name, acl.resource_name, "" if acl.host == "*" else f" from {acl.host}"
    if acl.pattern_type == PatternType.PREFIXED:
        kind, name = f"{kind} PREFIX", f"{name}*"
    elif name == "*":
        name = "* (every one)"
    return f"{acl.principal} {may} {acl.operation} {kind} {name}{host}"


@pytest.mark.parametrize("seed", range(12))
def test_the_rows_are_those_of_the_python_function_for_random_histories(
    browser: Page, tmp_path: Path, seed: int
) -> None:
    chosen = random.Random(seed)
    history = list(acls(chosen))
    page = shown(browser, report_of(history), tmp_path)
    answered = 0
    for question in questions(chosen):
        rows = expected(history, question)
        assert ask(page, question) == rows, question
        answered += len(rows)
    assert answered
    assert browser.complaints == []


READ: Final = AclBinding(TOPIC, "ord", "User:ann", AclOperation.READ, pattern_type=PatternType.PREFIXED)
DENIAL: Final = AclBinding(TOPIC, "orders", "User:ann", AclOperation.ALL, AclPermissionType.DENY, "10.0.0.7")
HISTORY: Final = (PastAcl(READ, moment(10), moment(40)), PastAcl(DENIAL, moment(20)))
ASKED: Final = Question(AclOperation.READ, TOPIC, "orders", "", (), False, 30)

NETWORKS: Final[Sequence[str]] = (
    "10.0.0.0", "10.0.0.1", "010.000.0.0", "0.0.0.1", "172.16.0.0", "10.0.0", "10.0.0.256", "\u0663.0.0.1",
    "::", "::1", "2001:db8::", "[2001:DB8::]", "2001:db8::%eth0", "::10.0.0.0", "::ffff:0:0",
    "1::2::3", "g::", "1:2:3:4:5:6:7:8:9",
)  # fmt: skip
LENGTHS: Final[Sequence[str]] = (
    "", "/0", "/7", "/8", "/08", "/31", "/32", "/33", "/+32", "/064", "/128", "/129", "/",
    "/8/8", "/-1", "/1" + 99 * "0",
)  # fmt: skip


@pytest.mark.parametrize("client", ["10.0.0.1", "172.16.5.4", "0:0:0:0:0:0:0:1", "2001:db8:0:0:0:0:0:7"])
def test_ranges_of_addresses_have_the_clients_that_the_python_function_says(
    browser: Page, tmp_path: Path, client: str
) -> None:
    hosts = [f"{network}{length}" for network in NETWORKS for length in LENGTHS]
    history = [PastAcl(msgspec.structs.replace(READ, principal=f"User:{host}", host=host)) for host in hosts]
    rows = ask(shown(browser, report_of(history), tmp_path), ASKED._replace(host=client))
    assert rows == expected(history, ASKED._replace(host=client))
    assert 4 < len(rows) < len(hosts) / 2
    assert browser.complaints == []


def test_without_a_name_nothing_is_asked_and_denied_rows_are_shown_on_request(browser: Page, tmp_path: Path) -> None:
    page = shown(browser, report_of(HISTORY), tmp_path)
    assert texts(page, "#ask-table .nothing:not([hidden])") == ["Type the name of a resource."]
    assert len(ask(page, ASKED)) == 2
    click(page, "input[name=ask-which][value=could]")
    assert len(texts(page, "#ask-table tbody tr")) == 1
    assert texts(page, "#ask-found") == ["1 principal could"]
    go_to(page, "2026-01-01 00:50")
    assert texts(page, "#ask-table .nothing:not([hidden])") == ["No principal could do it."]


def test_an_address_restores_the_question(browser: Page, tmp_path: Path) -> None:
    page = shown(browser, report_of(HISTORY), tmp_path)
    ask(page, ASKED._replace(operation=AclOperation.DESCRIBE, host="10.0.0.7", everyone=True))
    page.evaluate("new Promise((done) => setTimeout(done, 500))")  # browsers limit changes of the address
    address = cast(str, page.evaluate("location.href"))
    before = texts(page, "#ask-table td")
    page.visit("about:blank")
    page.visit(address)
    page.settle()
    assert texts(page, "#ask-table td") == before
    assert len(before) == 6
    assert page.evaluate("document.getElementById('ask-operation').value") == "DESCRIBE"
    assert page.evaluate("document.getElementById('ask-everyone').checked") is True


def test_clusters_are_answered_by_themselves(browser: Page, tmp_path: Path) -> None:
    one, other = acl_row(PastAcl(READ)), ("c2", *acl_row(PastAcl(DENIAL))[1:])
    rows = section_of("acls", [one, other])
    page = shown(browser, LogReport("Logs", BEGAN, ENDED, acls=rows, clusters=["c1", "c2"]), tmp_path)
    (row,) = ask(page, ASKED)
    assert row[0] == "User:ann in c1"


def test_it_is_not_decided_where_acls_are_not_on_the_page(browser: Page, tmp_path: Path) -> None:
    many = [PastAcl(READ, moment(minute), moment(minute + 5)) for minute in range(40)]
    page = shown(browser, report_of([*many, HISTORY[1]], limit=5), tmp_path)
    assert ask(page, ASKED._replace(minute=10)) == set()
    assert texts(page, "#ask-table .nothing:not([hidden])") == ["Not decided."]
    assert texts(page, "#ask-lacking")[0].startswith("Not all ACLs of this time are on this page.")
    assert ask(page, ASKED._replace(minute=None)) == set()
    assert len(ask(page, ASKED._replace(minute=43))) == 2


def test_it_is_not_decided_where_an_acl_is_not_known(browser: Page, tmp_path: Path) -> None:
    nameless = ("c1", "ACL x", "*", "ANY", "unknown: added before this log", "LITERAL", "UNKNOWN", "UNKNOWN")
    rows: list[Row] = [(*nameless, None, BEGAN + 30 * MINUTE), acl_row(PastAcl(READ))]
    report = LogReport("Logs", BEGAN, ENDED, acls=section_of("acls", rows), clusters=["c1"])
    page = shown(browser, report, tmp_path)
    assert ask(page, ASKED._replace(minute=10)) == set()
    assert texts(page, "#ask-lacking")[0].startswith("Of 1 ACL of this time the log has the removal and no more")
    assert len(ask(page, ASKED._replace(minute=40))) == 1
