"""The report's page in a real browser: it is drawn, its date and searches filter, and names stay text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from tests.browser.chromium import Page
from tests.browser.report_pages import BEGAN, ENDED, MINUTE, focus, follow, go_to, move, search, shown, texts
from tests.made.reports import commits_of, section_of

from kafkawire.logs import Accounts
from kafkawire.report.contents import Committed, LogEnd, LogReport, Row

HOSTILE = "</script><img src=x onerror='window.stolen = 1'>"


def acl(principal: str, operation: str, begin: int | None, end: int | None, *, permission: str = "ALLOW") -> Row:
    times = (None if begin is None else BEGAN + begin * MINUTE, None if end is None else BEGAN + end * MINUTE)
    return ("c1", principal, "*", "TOPIC", "orders", "LITERAL", operation, permission, *times)


COMMITTED = [
    Committed(
        *("c1", "billing", "orders", 0, 90, ENDED - MINUTE, BEGAN),
        points=[(BEGAN, 10), (ENDED - MINUTE, 90)],
        end=LogEnd(100, [(BEGAN, 15), (BEGAN + 20 * MINUTE, 40), (ENDED, 100)]),
    ),
    Committed(
        *("c1", "audit", "orders", 1, 5, ENDED - 2 * MINUTE, ENDED - 2 * MINUTE),
        points=[(ENDED - 2 * MINUTE, 5)],
        end=LogEnd(500),
    ),
]


def a_report(acls: Sequence[Row], title: str = "Logs") -> LogReport:
    return LogReport(
        title=title,
        began=BEGAN,
        ended=ENDED,
        acls=section_of("acls", acls),
        quotas=section_of(
            "quotas",
            [
                ("c1", "user ann", "ann", "producer_byte_rate", 1e6, BEGAN + 5 * MINUTE, BEGAN + 30 * MINUTE),
                ("c1", "user ann", "ann", "producer_byte_rate", 2.5e6, BEGAN + 30 * MINUTE, None),
            ],
        ),
        topics=section_of(
            "topics",
            [
                ("c1", "orders", "Qk3fA", 6, BEGAN, BEGAN + 20 * MINUTE),
                ("c1", "orders", "Zz9fA", 12, BEGAN + 25 * MINUTE, None),
                ("c1", "clicks", "Xx1fA", 1, None, None),
            ],
        ),
        configs=section_of("configs", [("c1", "TOPIC", "orders", "cleanup.policy", "compact", BEGAN + MINUTE, None)]),
        commits=commits_of(COMMITTED),
        accounts={
            "__cluster_metadata": Accounts(1000, 900, {"bad_crc": 100}, 10, 4, errors={"bad_crc": 1}),
            "__consumer_offsets": Accounts(100, 100, {}, 2, 2),
        },
        logs=["/data/__cluster_metadata-0"],
        clusters=["c1"],
    )


ORDINARY = a_report(
    [
        acl("User:ann", "READ", None, None),
        acl("User:bob", "READ", 10, 40),
        acl("User:bob", "WRITE", 10, None),
        acl("User:eve", "WRITE", 50, None, permission="DENY"),
    ]
)


@pytest.fixture
def page(browser: Page, tmp_path: Path) -> Page:
    return shown(browser, ORDINARY, tmp_path)


def granted(page: Page) -> dict[str, list[str]]:
    """The operations shown for each principal."""
    expression = """Object.fromEntries([...document.querySelectorAll("#access-holders details")].map((box) => [
        box.querySelector("summary .name").textContent,
        [...box.querySelectorAll(".chip")].map((chip) => (chip.matches(".deny") ? "not " : "") + chip.textContent),
    ]))"""
    return cast(dict[str, list[str]], page.evaluate(expression))


def test_the_page_draws_everything_without_a_request(page: Page, tmp_path: Path) -> None:
    assert page.complaints == []
    assert page.requests == [(tmp_path / "report.html").as_uri()]
    assert granted(page) == {"User:ann": ["READ"], "User:bob": ["WRITE"], "User:eve": ["not WRITE"]}
    assert texts(page, ".tile b") == ["3", "3", "2", "0", "1", "1", "0", "0", "0", "2", "0"]
    assert len(texts(page, "#topics-lanes .lane")) == 2
    assert texts(page, "#quotas-lanes .bar") == ["1,000,000 bytes/s", "2,500,000 bytes/s"]
    assert "bad_crc 1" in "".join(texts(page, "#accounts-table td"))
    assert texts(page, "#acl-chart .legend") == ["Allowing 2Denying 1"]


def test_the_slider_shows_the_state_at_its_date(page: Page) -> None:
    page.evaluate(
        f"const slider = document.getElementById('slider'); slider.value = {BEGAN + 30 * MINUTE};"
        "slider.dispatchEvent(new Event('input'))"
    )
    page.settle()
    assert texts(page, "#when") == ["2026-01-01 00:30:00 UTC"]
    assert granted(page) == {"User:ann": ["READ"], "User:bob": ["READ", "WRITE"]}


def test_arrow_keys_go_from_change_to_change(page: Page) -> None:
    focus(page, "slider")
    page.press("ArrowLeft")
    assert texts(page, "#when") == ["2026-01-01 00:50:00 UTC"]
    page.press("ArrowLeft")
    assert texts(page, "#when") == ["2026-01-01 00:40:00 UTC"]
    assert granted(page) == {"User:ann": ["READ"], "User:bob": ["WRITE"]}
    page.press("Home")
    assert granted(page) == {"User:ann": ["READ"]}
    page.press("ArrowRight")
    assert texts(page, "#when") == ["2026-01-01 00:01:00 UTC"]


def test_date_can_be_written_with_a_zone_or_without(page: Page) -> None:
    for text in ("2026-01-01 00:45", "2026-01-01T02:45+02:00"):
        page.evaluate("document.getElementById('latest').click()")
        focus(page, "date")
        page.evaluate("document.activeElement.value = ''")
        page.write(text)
        page.evaluate("document.activeElement.dispatchEvent(new Event('change'))")
        page.settle()
        assert texts(page, "#when") == ["2026-01-01 00:45:00 UTC"]


@pytest.mark.parametrize(
    ("date", "hint"),
    [("soon", "A date is like"), ("1999-12-31", "The log begins here"), ("2099-01-01", "The log ends here")],
)
def test_invalid_dates_and_dates_outside_the_log_are_reported(page: Page, date: str, hint: str) -> None:
    go_to(page, date)
    assert texts(page, "#when-hint")[0].startswith(hint)
    go_to(page, "2026-01-01 00:20")
    assert texts(page, "#when-hint") == ["As of"]


def test_the_address_of_the_page_has_its_state(page: Page) -> None:
    go_to(page, "2026-01-01 00:20")
    search(page, "access-search", "bob")
    page.evaluate("document.querySelector('input[value=resource]').click()")
    page.evaluate("new Promise((done) => setTimeout(done, 450))")
    address = cast(str, page.evaluate("location.hash"))
    assert address == "#at=2026-01-01T00%3A20%3A00.000Z&access-search=bob&access-by=resource"
    follow(page, "at=2026-01-01")
    assert texts(page, "#access-holders summary .name") == ["User:ann"]
    follow(page, "changes")  # a link within the page, without a date
    assert texts(page, "#when") == ["2026-01-01 00:00:00 UTC"]
    follow(page, address)
    assert texts(page, "#when") == ["2026-01-01 00:20:00 UTC"]
    assert texts(page, "#access-holders summary .name") == ["orders"]
    assert texts(page, "#access-holders .grant > :first-child") == ["User:bob"]


def test_an_address_that_is_followed_is_not_overwritten_before_its_event(page: Page) -> None:
    """The page writes its address a moment after a change, and when a link is clicked."""
    follow(page, "at=2026-01-01")
    change = "document.dispatchEvent(new Event('input')); location.hash = 'at=2026-01-01T00:20:00Z'"
    write = "const link = document.createElement('a'); link.className = 'to'; document.body.append(link); link.click()"
    move(page, f"{change}; {write}; link.remove()")
    assert texts(page, "#when") == ["2026-01-01 00:20:00 UTC"]


def test_the_page_opens_at_the_requested_date(browser: Page, tmp_path: Path) -> None:
    page = shown(browser, replace(ORDINARY, as_of=BEGAN + 20 * MINUTE), tmp_path)
    assert texts(page, "#when") == ["2026-01-01 00:20:00 UTC"]
    assert granted(page)["User:bob"] == ["READ", "WRITE"]


def test_search_finds_principals_and_lanes(page: Page) -> None:
    search(page, "access-search", "bob write")
    assert granted(page) == {"User:bob": ["WRITE"]}
    assert len(texts(page, "#acl-lanes .lane")) == 1
    search(page, "changes-search", "compact")
    assert [row for row in texts(page, "#changes-table tbody tr") if "cleanup.policy" not in row] == []
    search(page, "topics-search", "Zz9fA")
    assert texts(page, "#topics-lanes .of") == ["orders"]
    search(page, "access-search", " nobody")
    assert granted(page) == {}
    assert "Nothing matches." in texts(page, "#access-holders p")


def test_acls_can_be_grouped_by_resource_and_restricted_to_denials(page: Page) -> None:
    page.evaluate("document.querySelector('input[value=resource]').click()")
    page.settle()
    assert texts(page, "#access-holders summary .name") == ["audit", "billing", "clicks", "orders"]
    page.evaluate("document.querySelector('#access-which input[value=deny]').click()")
    page.settle()
    assert texts(page, "#access-holders summary .name") == ["orders"]
    assert texts(page, "#access-holders .grant > :first-child") == ["User:eve"]


def test_changes_of_one_entity_are_one_row_and_link_to_their_dates(page: Page) -> None:
    changed = [row for row in texts(page, "#changes-table tbody tr") if "changed" in row]
    assert len(changed) == 1
    assert "1,000,000 bytes/s → 2,500,000 bytes/s" in changed[0]
    page.evaluate("[...document.querySelectorAll('#changes-table .link')].at(-1).click()")
    page.settle()
    assert texts(page, "#when") == ["2026-01-01 00:00:00 UTC"]


def test_tables_are_sorted_by_a_click_on_their_heading(page: Page) -> None:
    first_cells = "#commits-table tbody td:first-child"
    assert texts(page, first_cells) == ["audit", "billing"]  # by lag at first
    page.evaluate("document.querySelectorAll('#commits-table th button')[3].click()")  # the offset, highest first
    assert texts(page, first_cells) == ["billing", "audit"]
    assert page.evaluate("document.querySelectorAll('#commits-table th')[3].getAttribute('aria-sort')") == "descending"


def test_committed_offsets_and_their_lag_depend_on_the_date(browser: Page, tmp_path: Path) -> None:
    thinned = Committed(
        *("c1", "thinned", "orders", 2, 90, ENDED, BEGAN + 30 * MINUTE),
        points=[(BEGAN + 30 * MINUTE, 10), (ENDED, 90)],
        has_all_points=False,
    )
    deleted = Committed("c1", "gone", "orders", 3, 7, BEGAN, BEGAN, points=[(BEGAN, 7)], deleted=BEGAN + 50 * MINUTE)
    page = shown(browser, replace(ORDINARY, commits=commits_of([*COMMITTED, thinned, deleted])), tmp_path)
    assert rows_of_commits(page) == {
        "billing": ["90", "100", "10", "1 min"],
        "audit": ["5", "500", "495", "2 min"],
        "thinned": ["90", "unknown", "unknown", "0 ms"],
    }
    for date, expected in (
        ("00:25", {"billing": ["10", "≈ 40", "≈ 30", "25 min"], "gone": ["7", "unknown", "unknown", "25 min"]}),
        ("00:50", {"billing": ["10", "≈ 40", "≈ 30", "50 min"], "thinned": ["≈ 10", "unknown", "unknown", "≤ 20 min"]}),
    ):
        go_to(page, f"2026-01-01 {date}")
        assert rows_of_commits(page) == expected
        assert texts(page, ".tile b")[-2] == "2"
        assert f"As of 2026-01-01 {date}:00 UTC" in texts(page, "#commits-hint")[0]


def rows_of_commits(page: Page) -> dict[str, list[str]]:
    """Offset, end of the log, lag and age of each group."""
    cells = [texts(page, f"#commits-table td:nth-child({column})") for column in (1, 4, 5, 6, 8)]
    return {group: list(figures) for group, *figures in zip(*cells, strict=True)}


def test_age_replaces_the_lag_without_the_partitions_own_log(browser: Page, tmp_path: Path) -> None:
    commits = [replace(commit, end=LogEnd()) for commit in COMMITTED]
    page = shown(browser, replace(ORDINARY, commits=commits_of(commits)), tmp_path)
    assert page.complaints == []
    assert "Lag" not in texts(page, "#commits-table th")
    assert texts(page, "#commits-table td:nth-child(6)") == ["2 min", "1 min"]


@pytest.mark.parametrize(
    "name",
    [
        HOSTILE,
        "<!--<script>",
        "]]><svg onload=window.stolen=1>",
        "'\"><b onmouseover=window.stolen=1>",
        "${window.stolen = 1}",
        "\u2028\u2029window.stolen=1",
    ],
)
def test_names_stay_text(browser: Page, tmp_path: Path, name: str) -> None:
    section = section_of("acls", [(name, name, name, "TOPIC", name, "PREFIXED", name, name, BEGAN, None)])
    report = LogReport(title=name, began=BEGAN, ended=ENDED, acls=section, clusters=[name], logs=[name])
    page = shown(browser, report, tmp_path)
    seen = name.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    assert texts(page, "#access-holders summary .name") == [seen]
    assert texts(page, "#acl-lanes .of .name") == [seen, f"{seen}*"]
    assert page.evaluate("document.querySelectorAll('img, b[onmouseover], svg[onload]').length") == 0
    assert page.evaluate("typeof window.stolen") == "undefined"
    assert len(texts(page, "script")) == 2
    assert page.complaints == []
    assert len(page.requests) == 1


def test_bidirectional_characters_are_escaped(browser: Page, tmp_path: Path) -> None:
    page = shown(
        browser, replace(ORDINARY, acls=section_of("acls", [acl("User:\u202egnp.exe", "READ", 0, None)])), tmp_path
    )
    assert list(granted(page)) == ["User:\\u202egnp.exe"]


def test_the_content_security_policy_blocks_other_scripts(page: Page) -> None:
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.stolen = 1\">')")
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.stolen = 1'}))")
    page.settle()
    assert page.evaluate("typeof window.stolen") == "undefined"
    assert any("Content Security Policy" in complaint for complaint in page.complaints)


def test_page_of_many_rows_shows_them_page_by_page(browser: Page, tmp_path: Path) -> None:
    many = [acl(f"User:u{number:05}", "READ", number % 60, None) for number in range(20_000)]
    page = shown(browser, replace(ORDINARY, acls=section_of("acls", many)), tmp_path)
    assert texts(page, ".tile b")[:2] == ["20,000", "20,000"]
    assert len(texts(page, "#access-holders details")) == 40
    page.evaluate("document.querySelector('#access-holders > .more').click()")
    assert len(texts(page, "#access-holders details")) == 80
    assert page.evaluate("document.getElementsByTagName('*').length < 6000") is True
    search(page, "access-search", "u19999")
    assert list(granted(page)) == ["User:u19999"]


def test_boxes_and_rows_that_were_opened_stay_when_the_date_moves(browser: Page, tmp_path: Path) -> None:
    many = [acl(f"User:u{number:03}", "READ", None, None if number else 30) for number in range(100)]
    page = shown(browser, replace(ORDINARY, acls=section_of("acls", many)), tmp_path)
    page.evaluate("document.querySelector('#access-holders > .more').click()")
    page.evaluate("document.querySelectorAll('#access-holders summary')[50].click()")
    page.evaluate("document.querySelectorAll('#access-holders summary')[2].click()")
    go_to(page, "2026-01-01 00:20")
    assert len(texts(page, "#access-holders details")) == 80
    opened = "[...document.querySelectorAll('#access-holders details')].map((box) => box.open)"
    assert page.evaluate(f"{opened}.flatMap((open, at) => open ? [at] : [])") == [0, 1, 2, *range(4, 13), 51]


def test_the_page_of_an_empty_log_has_a_notice(browser: Page, tmp_path: Path) -> None:
    page = shown(browser, LogReport(title="Nothing", began=0, ended=0), tmp_path)
    assert page.complaints == []
    assert texts(page, ".banner")[-1].startswith("There is nothing to show")
    assert seen(page, "section") == ["accounts"]
    assert "1970" not in texts(page, ".about")[0]


def test_a_section_without_rows_has_a_notice_and_no_search(browser: Page, tmp_path: Path) -> None:
    page = shown(browser, replace(ORDINARY, acls=section_of("acls", []), commits=commits_of([])), tmp_path)
    assert page.complaints == []
    nothing = [
        "No ACLs in these logs.",
        "No ACLs.",
        "No credentials in these logs.",
        "No committed offsets in these logs.",
    ]
    assert texts(page, ":is(#access, #users, #commits) .nothing:not([hidden])") == nothing
    assert "access-search" not in seen(page, "input")
    assert "commits-search" not in seen(page, "input")
    assert "topics-search" in seen(page, "input")


def seen(page: Page, selector: str) -> list[str]:
    """The ids of the elements that are not hidden."""
    expression = (
        f"[...document.querySelectorAll({selector!r})].filter((one) => one.checkVisibility()).map((one) => one.id)"
    )
    return cast(list[str], page.evaluate(expression))


def test_the_page_fits_a_telephone_and_tables_stay_tables(page: Page) -> None:
    page.resize(390, 844)
    page.settle()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate("[...document.querySelectorAll('td')].every((cell) => cell.getAttribute('role') === 'cell')")
    assert page.evaluate("getComputedStyle(document.querySelector('td'), '::before').content") == '"Time (UTC)"'
    page.resize(1400, 1000)


def test_clusters_are_chosen_from_a_list(browser: Page, tmp_path: Path) -> None:
    rows = [acl("User:ann", "READ", 0, None), ("c2", *acl("User:bob", "READ", 0, None)[1:])]
    page = shown(browser, replace(ORDINARY, acls=section_of("acls", rows), clusters=["c1", "c2"]), tmp_path)
    assert granted(page) == {"User:ann": ["READ"], "User:bob": ["READ"]}
    assert texts(page, "#access-holders summary small") == [" in c1", " in c2"]
    assert [label.endswith("in c2") for label in texts(page, "#acl-lanes .of")] == [False, True]
    (of_ann,) = (row for row in texts(page, "#changes-table tbody tr") if "User:ann" in row)
    assert of_ann.endswith(" in c1")
    assert texts(page, "#commits-table td:first-child") == ["audit in c1", "billing in c1"]
    page.evaluate(
        "const list = document.getElementById('cluster'); list.value = '1'; list.dispatchEvent(new Event('change'))"
    )
    page.settle()
    assert list(granted(page)) == ["User:bob"]
    assert texts(page, ".tile b")[0] == "1"
    page.evaluate("new Promise((done) => setTimeout(done, 450))")
    assert page.evaluate("location.hash") == "#cluster=c2"
    follow(page, "cluster=c1")
    assert list(granted(page)) == ["User:ann"]


def test_cluster_without_an_id_can_be_chosen_beside_another(browser: Page, tmp_path: Path) -> None:
    rows = [acl("User:ann", "READ", 0, None), (None, *acl("User:bob", "READ", 0, None)[1:])]
    page = shown(browser, replace(ORDINARY, acls=section_of("acls", rows), clusters=["c1", None]), tmp_path)
    assert texts(page, "#cluster option") == ["All clusters", "c1", "a cluster without an id"]
    assert texts(page, ".tile b")[0] == "2"
    follow(page, "cluster=a+cluster+without+an+id")
    assert list(granted(page)) == ["User:bob"]
    assert texts(page, ".tile b")[0] == "1"


def test_boxes_are_open_and_filled_in_print(browser: Page, tmp_path: Path) -> None:
    many = [acl(f"User:u{number:03}", "READ", None, None) for number in range(30)]
    page = shown(browser, replace(ORDINARY, acls=section_of("acls", many)), tmp_path)
    assert len(texts(page, "#access-holders .grant")) == 12
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(texts(page, "#access-holders details[open] .grant")) == 30


def test_labels_do_not_overlap_or_wrap_and_bars_end_with_their_timeline(browser: Page, tmp_path: Path) -> None:
    late = ("c1", "TOPIC", "a.long.name.of.a.topic" * 3, "a.property", "a value " * 30, ENDED - 2 * MINUTE, ENDED)
    page = shown(browser, replace(ORDINARY, configs=section_of("configs", [late])), tmp_path)
    overlapping = """[...document.querySelectorAll(".axis")].filter((axis) => {
        const seen = [...axis.children].filter((one) => one.checkVisibility());
        const boxes = seen.map((one) => one.getBoundingClientRect());
        return boxes.some((box, at) => at && box.left < boxes[at - 1].right);
    }).length"""
    for width in (390, 1024, 1400):
        page.resize(width, 1000)
        page.settle()
        assert page.evaluate(overlapping) == 0
        beyond = """[...document.querySelectorAll(".bar")].filter((bar) =>
            bar.getBoundingClientRect().right > bar.parentElement.getBoundingClientRect().right + 1).length"""
        assert page.evaluate(beyond) == 0
    broken = "[...document.querySelectorAll('#changes-table .chip')].some((chip) => chip.getClientRects().length > 1)"
    assert page.evaluate(broken) is False


def test_an_approximate_offset_is_marked(browser: Page, tmp_path: Path) -> None:
    commit = Committed("c1", "odd", "orders", 0, 2**62 + 1, ENDED, ENDED)
    page = shown(browser, replace(ORDINARY, commits=commits_of([commit])), tmp_path)
    assert texts(page, "#commits-table td:nth-child(4)")[0].startswith("≈ 4,611,686,018,427,")


def test_dark_and_light_differ_and_the_button_changes_them(page: Page) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    page.appear(dark=True)
    dark = page.evaluate(ground)
    page.evaluate("document.getElementById('theme').click()")
    light = page.evaluate(ground)
    page.appear()
    assert light == page.evaluate(ground)
    assert light != dark
