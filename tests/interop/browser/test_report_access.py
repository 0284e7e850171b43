"""The access to a resource on the report's page: every ACL that applies, decided as Kafka decides."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypedDict, cast

import pytest
from msgspec.structs import replace
from tests.browser.chromium import Page
from tests.browser.report_pages import BEGAN, ENDED, MINUTE, click, go_to, search, shown, texts
from tests.made.reports import section_of

from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.acls.evaluation import EVERYBODY, AclEvaluator
from kafkawire.model.acls.hosts import is_within
from kafkawire.report.contents import LogReport, Row

pytestmark = pytest.mark.extended

TOPIC: Final = ResourceType.TOPIC
NAMES: Final = ("orders", "orders.eu", "order", "clicks", "o")
PREFIXES: Final = ("o", "ord", "orders", "orders.", "clicks.eu", "c")
PRINCIPALS: Final = ("User:ann", "User:bob", "Group:ops", EVERYBODY)
HOSTS: Final = ("*", "*", "10.0.0.1", "10.0.0.2", "10.0.0.0/31")
OPERATIONS: Final = tuple(
    getattr(AclOperation, name)
    for name in ("READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS")
)


class Verdict(TypedDict):
    """A chip of a principal in the box of a resource."""

    operation: str
    denied: bool
    only: list[str] | None
    excepted: list[str] | None


class Box(NamedTuple):
    """The operations of each principal in a resource's box, and the ACLs that decide them."""

    may: Mapping[str, list[Verdict]]
    sources: Mapping[str, list[str]]


def acl_row(acl: AclBinding, begin: int | None = None, end: int | None = None) -> Row:
    kinds = (acl.resource_type.name, acl.resource_name, acl.pattern_type.name)
    return ("c1", acl.principal, acl.host, *kinds, acl.operation.name, acl.permission_type.name, begin, end)


def allow(principal: str, operation: AclOperation, name: str, pattern: str = "LITERAL", **more: str) -> Row:
    permission = AclPermissionType[more.get("permission", "ALLOW")]
    host = more.get("host", "*")
    return acl_row(AclBinding(TOPIC, name, principal, operation, permission, host, PatternType[pattern]))


def report_of(acls: Sequence[Row], topics: Iterable[str] = (), limit: int = 100_000) -> LogReport:
    made = [("c1", name, "id", 1, None, None) for name in topics]
    return LogReport(
        title="Logs",
        began=BEGAN,
        ended=ENDED,
        acls=section_of("acls", acls, limit),
        topics=section_of("topics", made),
        clusters=["c1"],
    )


def by_resource(page: Page) -> Mapping[str, Box]:
    """The content of each resource's box, after opening all boxes."""
    click(page, "input[value=resource]")
    page.evaluate(
        "[...document.querySelectorAll('#access-holders details:not([open]) > summary')].forEach((s) => s.click())"
    )
    page.settle()
    expression = """[...document.querySelectorAll("#access-holders details")].map((box) => [
        box.querySelector("summary span").textContent,
        [...box.querySelectorAll("div.grant")].map((grant) => [
            grant.querySelector(".name").textContent,
            [...grant.querySelectorAll(".may .chip")].map((chip) => {
                const [small, ...others] = [...chip.querySelectorAll("small")];
                if (others.length) throw new Error("two conditions");
                const words = small?.textContent ?? "";
                const hosts = small?.querySelector(".name").textContent.split(", ") ?? null;
                return {
                    operation: chip.querySelector(".name").textContent,
                    denied: chip.matches(".deny"),
                    only: words.startsWith(" from ") ? hosts : null,
                    excepted: words.startsWith(" except from ") ? hosts : null,
                };
            }),
            [...grant.querySelectorAll(".source")].map((line) => line.textContent),
        ]),
    ])"""
    found = cast(list[tuple[str, list[tuple[str, list[Verdict], list[str]]]]], page.evaluate(expression))
    return {
        resource: Box({who: may for who, may, _ in grants}, {who: sources for who, _, sources in grants})
        for resource, grants in found
    }


def says_allowed(verdicts: Sequence[Verdict], operation: str, host: str) -> bool:
    """The decision that the chips show; an operation without a chip is part of ALL."""
    named = {verdict["operation"]: verdict for verdict in verdicts}
    verdict = named.get(operation, named.get("ALL"))
    if verdict is None or verdict["denied"]:
        return False
    if verdict["only"] is not None:
        return any(is_listed(host, listed) for listed in verdict["only"])
    return not any(is_listed(host, listed) for listed in verdict["excepted"] or ())


def is_listed(host: str, listed: str) -> bool:
    """Whether a host is that of a chip, an address or ``10.0.0.0/31 without 10.0.0.1``."""
    outer, _, without = listed.partition(" without ")
    return is_within(host, outer) and host not in without.split(" and ")


def random_acls(chosen: random.Random) -> Iterator[AclBinding]:
    for _ in range(chosen.randrange(1, 25)):
        pattern = chosen.choice((PatternType.LITERAL, PatternType.PREFIXED))
        names = (*NAMES, "*") if pattern is PatternType.LITERAL else PREFIXES
        yield AclBinding(
            chosen.choices((TOPIC, ResourceType.GROUP), (9, 1))[0],
            chosen.choice(names),
            chosen.choice(PRINCIPALS),
            chosen.choice((*OPERATIONS, AclOperation.ALL)),
            chosen.choices((AclPermissionType.ALLOW, AclPermissionType.DENY), (3, 1))[0],
            chosen.choice(HOSTS),
            pattern,
        )


@pytest.mark.parametrize("seed", range(12))
def test_the_page_decides_as_the_authorizer_for_random_acls(browser: Page, tmp_path: Path, seed: int) -> None:
    acls = list(dict.fromkeys(random_acls(random.Random(seed))))
    boxes = by_resource(shown(browser, report_of([acl_row(acl) for acl in acls], NAMES), tmp_path))
    evaluator = AclEvaluator(acls)
    allowed = 0
    for name in NAMES:
        may = boxes[f"TOPIC{name}"].may
        for principal in (*PRINCIPALS[:3], "User:other"):
            verdicts = may.get(principal, may.get(EVERYBODY, []))
            for operation in OPERATIONS:
                for host in ("10.0.0.0", "10.0.0.1", "10.0.0.2", "10.9.9.9"):
                    expected = evaluator.decide(principal, operation, TOPIC, name, host).allowed
                    assert says_allowed(verdicts, operation.name, host) == expected, (name, principal, operation, host)
                    allowed += expected
    assert allowed
    assert browser.complaints == []


def test_a_resource_shows_every_acl_that_applies_and_its_origin(browser: Page, tmp_path: Path) -> None:
    acls = [
        allow("User:ann", AclOperation.READ, "orders.eu"),
        allow("User:ann", AclOperation.WRITE, "orders", "PREFIXED", permission="DENY"),
        allow("User:ann", AclOperation.ALL, "*"),
        allow("User:bob", AclOperation.READ, "ord", "PREFIXED", host="10.0.0.1"),
        allow(EVERYBODY, AclOperation.DESCRIBE, "*"),
        allow("User:eve", AclOperation.READ, "orders.us", "PREFIXED"),
    ]
    page = shown(browser, report_of(acls), tmp_path)
    box = by_resource(page)["TOPICorders.eu"]
    assert list(box.may) == ["User:*", "User:ann", "User:bob"]
    assert [(each["operation"], each["denied"]) for each in box.may["User:ann"]] == [("ALL", False), ("WRITE", True)]
    assert {each["operation"]: each["only"] for each in box.may["User:bob"]} == {"DESCRIBE": None, "READ": ["10.0.0.1"]}
    assert box.sources["User:ann"] == [
        "TOPICorders.eu: ALLOW READ",
        "TOPIC PREFIXorders*: DENY WRITE",
        "TOPIC* (every one): ALLOW ALL",
        "TOPIC* (every one) for User:*: ALLOW DESCRIBE",
    ]
    summary = next(text for text in texts(page, "#access-holders summary") if "orders.eu" in text)
    assert summary.endswith("3 principals, 5 ACLs: 1 of its own, 2 of prefixes, 2 of *")


def test_a_topic_without_its_own_acls_is_found_with_those_that_apply(browser: Page, tmp_path: Path) -> None:
    acls = [allow("User:ann", AclOperation.READ, "ord", "PREFIXED"), allow("User:bob", AclOperation.READ, "audit")]
    page = shown(browser, report_of(acls, ["orders", "clicks"]), tmp_path)
    boxes = by_resource(page)
    assert list(boxes["TOPICorders"].may) == ["User:ann"]
    assert boxes["TOPICclicks"].may == {}
    assert any("No ACL applies" in text for text in texts(page, "#access-holders .grant"))
    assert texts(page, "#access-found") == ["3 resources, 1 pattern"]
    search(page, "access-search", "ann read")
    assert list(by_resource(page)) == ["TOPICorders", "TOPIC PREFIXord*"]
    search(page, "access-search", " orders")
    assert list(by_resource(page)) == ["TOPICorders"]
    click(page, "#access-which input[value=deny]")
    assert by_resource(page) == {}


def test_the_acls_of_a_resource_depend_on_the_date(browser: Page, tmp_path: Path) -> None:
    binding = AclBinding(TOPIC, "ord", "User:ann", AclOperation.READ, pattern_type=PatternType.PREFIXED)
    denial = replace(binding, permission_type=AclPermissionType.DENY)
    acls = [acl_row(binding, BEGAN + MINUTE, None), acl_row(denial, BEGAN + 20 * MINUTE, BEGAN + 40 * MINUTE)]
    page = shown(browser, report_of(acls, ["orders"]), tmp_path)
    for minute, expected in ((10, [False]), (30, [True]), (50, [False])):
        go_to(page, f"2026-01-01 00:{minute}")
        verdicts = by_resource(page)["TOPICorders"].may["User:ann"]
        assert [each["denied"] for each in verdicts if each["operation"] == "READ"] == expected


def test_access_is_undecided_if_the_page_lacks_acls_and_their_number_is_shown(browser: Page, tmp_path: Path) -> None:
    acls = [allow(f"User:u{number:02}", AclOperation.READ, "orders") for number in range(30)]
    ended = [(*acl[:-1], BEGAN + (10 + number) * MINUTE) for number, acl in enumerate(acls)]
    eve = allow("User:eve", AclOperation.READ, "ord", "PREFIXED", permission="DENY")
    page = shown(browser, report_of([*ended, eve], ["orders", "clicks"], limit=9), tmp_path)
    assert "User:eve" in by_resource(page)["TOPICorders"].may
    assert texts(page, "#access .lacking:not([hidden])") == []  # at the end nothing is missing
    go_to(page, "2026-01-01 00:05")
    click(page, "input[value=principal]")
    assert texts(page, ".tile b")[:2] == ["31", "31"]
    assert texts(page, "#access-found") == ["31 ACLs, 31 principals, 10 of them on this page"]
    assert texts(page, "#access .lacking")[0].startswith("21 of the 31 ACLs of this date are not on this page")
    box = by_resource(page)["TOPICorders"]
    assert "User:eve" in box.may
    assert set(map(len, box.may.values())) == {0}
    assert len([text for text in texts(page, "#access-holders .grant") if "Not decided" in text]) == 11
    assert "TOPIC clicksno ACL on this page applies" in [
        text.replace("TOPIC", "TOPIC ") for text in texts(page, "summary")
    ]


def test_an_acl_of_an_unknown_kind_is_shown_as_undecided(browser: Page, tmp_path: Path) -> None:
    newer = ("c1", "User:ann", "*", "TOPIC", "ord", "UNKNOWN(7)", "READ", "ALLOW", None, None)
    page = shown(browser, report_of([newer, allow("User:bob", AclOperation.READ, "orders")]), tmp_path)
    assert texts(page, "#access .lacking")[0].startswith("1 ACL of this date has a kind of pattern or a permission")
    boxes = by_resource(page)
    assert list(boxes["TOPICorders"].may) == ["User:bob"]
    assert list(boxes["TOPIC UNKNOWN(7)ord"].may) == ["User:ann"]


def test_an_acl_known_only_by_its_removal_is_counted_without_a_principal(browser: Page, tmp_path: Path) -> None:
    nameless = ("c1", "ACL x", "*", "ANY", "unknown: added before this log", "LITERAL", "UNKNOWN", "UNKNOWN")
    acls: list[Row] = [(*nameless, None, BEGAN + 30 * MINUTE), allow("User:ann", AclOperation.READ, "orders")]
    page = shown(browser, report_of(acls), tmp_path)
    go_to(page, "2026-01-01 00:10")
    assert texts(page, ".tile b")[:2] == ["2", "1"]
    assert texts(page, "#acl-chart .legend") == ["Allowing 1Denying 0"]
    assert texts(page, "#access-holders summary .name") == ["User:ann"]
    assert texts(page, "#access .lacking")[0].startswith("Of 1 ACL of this date the log has the removal and no more")
    go_to(page, "2026-01-01 00:40")
    assert page.evaluate("document.querySelector('#access .lacking').checkVisibility()") is False
