"""What the reference pages look like, letter by letter, and what a Markdown renderer makes of them.

The definitions are made up: two releases, a proposal, records, and texts that contain markup.
``pytest tests/golden --update-golden`` writes ``expected/`` again; read the difference before committing it.
"""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import markdown
import pytest
from tests.made.packages import field, message, write_definitions

from kafkawire.codegen.generate import print_pages
from kafkawire.codegen.parse.load import load_definitions

FOLDER = Path(__file__).parent
EXPECTED = FOLDER / "expected"


@pytest.fixture(scope="module")
def pages() -> Mapping[str, str]:
    return {path.as_posix(): text for path, text in print_pages(FOLDER / "definitions", "made.up")}


class Rendered(HTMLParser):
    """Headings, and tables as rows of cell texts, of a rendered page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.tables: list[list[list[str]]] = []
        self._texts: list[str] | None = None
        self.feed(markdown.markdown(page, extensions=["attr_list", "fenced_code", "footnotes", "tables"]))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self._texts = self.tables[-1][-1]
            self._texts.append("")
        elif tag in ("h1", "h2", "h3"):
            self._texts = self.headings
            self._texts.append("")
        elif tag in ("strong", "em", "a", "b") and self._texts is not None:
            self._texts[-1] += f"<{tag}>"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "h1", "h2", "h3"):
            self._texts = None

    def handle_data(self, data: str) -> None:
        if self._texts is not None:
            self._texts[-1] += data


def test_text_of_pages(pages: Mapping[str, str], update_golden: bool) -> None:
    if update_golden:
        for old in EXPECTED.rglob("*.md"):
            old.unlink()
        for name, text in pages.items():
            (EXPECTED / name).parent.mkdir(parents=True, exist_ok=True)
            (EXPECTED / name).write_text(text)
    assert {path.relative_to(EXPECTED).as_posix() for path in EXPECTED.rglob("*.md")} == set(pages)
    for name, text in pages.items():
        assert text == (EXPECTED / name).read_text(), f"{name} differs"


def test_every_row_has_a_cell_for_each_column(pages: Mapping[str, str]) -> None:
    tables = [table for text in pages.values() for table in Rendered(text).tables]
    assert len(tables) > 20
    for table in tables:
        assert {len(row) for row in table} == {len(table[0])}, table[0]


def test_words_of_a_definition_are_never_markup(pages: Mapping[str, str]) -> None:
    page = Rendered(pages["messages/markup.md"])
    assert page.headings == ["Markup", "Fields", "In Python", "Versions", "On the wire"]
    shown = {row[0]: (row[4], row[1]) for row in page.tables[1][1:]}
    (definition,) = (m for m in load_definitions(FOLDER / "definitions").messages if m.name == "Markup")
    for written in definition.fields[:3]:
        assert shown[written.name.lower()] == (repr(written.default), f"{written.about.removesuffix('.')}.")
    assert shown["lines"] == ("''", "# No heading - no list <!-- no comment -->.")
    assert shown["class_"] == ("''", "A word of Python. Named class in the definition.")


def test_the_name_of_a_message_is_the_title_of_its_page(pages: Mapping[str, str]) -> None:
    for name, text in pages.items():
        assert text.startswith("# "), name
    assert Rendered(pages["messages/shout_request.md"]).headings[0] == "ShoutRequest"


def test_a_message_and_its_partner_lead_to_each_other_and_to_their_api(pages: Mapping[str, str]) -> None:
    request, response = (pages[f"messages/shout_{part}.md"] for part in ("request", "response"))
    assert "The request of the API [Shout](../apis.md), key 3. The response is [ShoutResponse](" in request
    assert "The response of the API [Shout](../apis.md), key 3. It answers [ShoutRequest](" in response


def test_a_page_has_one_spelling_of_names(pages: Mapping[str, str]) -> None:
    page = pages["messages/shout_request.md"]
    assert page.count("WaitMs") == 1
    assert "`wait_ms` is `WaitMs` in the definition" in page


def test_meanings_are_a_column_where_there_are_any(pages: Mapping[str, str]) -> None:
    _, fields, hearer, ear, *_ = Rendered(pages["messages/shout_request.md"]).tables
    assert fields[2] == ["wait_ms", "How long to wait for an echo. Ignorable.", "int32", "1-3", "500"]
    assert hearer[1][1:3] == ["The broker that hears it. Map key.", "int32 (brokerId)"]
    assert ear[0] == ["Field", "Type", "Versions", "Default"]


def test_above_each_table_there_are_words(pages: Mapping[str, str]) -> None:
    for name, text in pages.items():
        blocks = text.split("\n\n")
        for before, block in pairwise(blocks):
            assert not (block.startswith("|") and before.startswith(("#", "<!--", "|"))), (name, block)


def test_history_tells_releases_and_proposals(pages: Mapping[str, str]) -> None:
    summary = Rendered(pages["history.md"]).tables[0]
    assert summary[1] == ["<a>3 Shout", "0-2", "1-3", "0-4, proposed: 4 (kip-1)"]
    versions = Rendered(pages["messages/shout_request.md"]).tables[-1]
    assert [row[:2] for row in versions[1:]] == [
        ["4\xa0(unstable)", "proposal\xa0kip-1"],
        ["3", "2.0"],
        ["2", "all"],
        ["1", "all"],
        ["0\xa0(deprecated)", "1.0"],
    ]
    assert versions[3][3].endswith("; in place since 1.0: Words is now Text")


def test_a_folder_of_plain_definitions_has_neither_releases_nor_tables_of_apis(tmp_path: Path) -> None:
    write_definitions(tmp_path, message("Ping", field("Sent", "int64")))
    pages = {path.as_posix(): text for path, text in print_pages(tmp_path, "made.up")}
    assert set(pages) == {"index.md", "history.md", "messages/ping.md"}
    assert not [text for text in pages.values() if "Apache Kafka" in text or "Releases" in text]
