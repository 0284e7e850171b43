"""What a report becomes: one file, data that cannot leave its element, and a policy that names the page's own parts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from kafkawire.report.contents import ACLS, Count, LogReport, Numbers, Section
from kafkawire.report.rendering import render_page

HOSTILE = "</script><script>alert(1)</script><!--\u2028&amp;"


class Elements(HTMLParser):
    """Names of elements with the text inside, as a browser takes a page apart."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {}
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes.append((tag, dict(attrs)))
        self.texts.setdefault(tag, []).append("")
        self._open.append(tag)

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._open = []


@pytest.fixture(scope="module")
def page() -> str:
    rows = [(None, HOSTILE, "*", "TOPIC", "t", "LITERAL", "READ", "ALLOW", None, 5)]
    numbers = Numbers(rows=4, shown=1, ended=4, complete_from=4, holding={"ALLOW": Count(3, [(4, -2), (5, -1)])})
    report = LogReport(
        title=HOSTILE, began=0, ended=9, acls=Section(ACLS, rows, {None: numbers}), logs=[HOSTILE], clusters=[None]
    )
    return render_page(report, written_at=0)


def test_the_data_of_a_page_equals_the_given_data(page: str) -> None:
    data = json.loads(Elements(page).texts["script"][0])
    assert data["title"] == HOSTILE
    assert data["logs"] == [HOSTILE]
    acls = data["sections"]["acls"]
    assert acls["fields"] == list(ACLS)
    row = dict(zip(acls["fields"], acls["rows"][0], strict=True))
    assert data["texts"][row["principal"]] == HOSTILE
    assert (row["cluster"], row["from"], row["to"]) == (None, None, 5)
    assert "principal" in acls["texts"]
    assert "to" not in acls["texts"]
    *_, note = data["notes"]
    assert note == (
        "Showing 1 of 4 ACL rows: the 1 newest that ended. Counts and charts cover all 4; "
        "lists lack 3 that ended up to 1970-01-01 00:00:00 UTC. To list all, use --max-rows 4."
    )
    (numbers,) = acls["numbers"]
    assert numbers["holding"] == {"ALLOW": {"before": 3, "width": 1, "steps": [4, -2, 1, -1]}}


def test_nothing_hostile_becomes_an_element(page: str) -> None:
    elements = Elements(page)
    assert len(elements.texts["script"]) == 2
    assert elements.texts["title"] == [HOSTILE]
    assert "alert(1)</script>" not in page
    assert "<!--" not in page


def test_policy_allows_the_style_and_the_program_of_the_page_alone(page: str) -> None:
    elements = Elements(page)
    policy = next(attributes["content"] for tag, attributes in elements.attributes if "http-equiv" in attributes)
    assert policy is not None
    for directive, text in (("style-src", elements.texts["style"][0]), ("script-src", elements.texts["script"][1])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")


def test_page_names_no_other_file(page: str) -> None:
    assert not [attributes for _, attributes in Elements(page).attributes if "src" in attributes]
    addresses = set(re.findall(r"https?://[^\s\"']+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of SVG's elements, which browsers do not fetch
    assert "url(" not in page
    assert "@import" not in page
