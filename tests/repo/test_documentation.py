"""What the README and the documentation show is true: pages run like scripts.

``tests/pages/page.py`` says how the blocks of a page are carried out. A block whose title is the path of a file of this
repository is an excerpt of it, with ``...`` between stretches of lines. ``tests/pages/proofs.py`` lists how each other
block is proven.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from tests.pages.page import blocks, run_page
from tests.pages.proofs import OWN_FOLDERS, PAGES, ROOT, RUN_ELSEWHERE, runs, with_name

from kafkawire.codegen.generate import print_pages
from kafkawire.codegen.package_data import specs_dir

GENERATED_PAGES = ROOT / "docs" / "reference" / "protocol"
FIRST_PAGES = ("README.md", "docs/how-to/test-with-a-broker.md")
"""`make test` runs these alone."""
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


def test_the_readme_shows_an_example() -> None:
    assert any(block.executed for block in blocks((ROOT / "README.md").read_text()))


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=with_name(page), marks=[pytest.mark.extended] * (with_name(page) not in FIRST_PAGES))
        for page in PAGES
        if runs(page) and with_name(page) not in RUN_ELSEWHERE
    ],
)
def test_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_in(page, tmp_path, monkeypatch)


def run_in(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Carry out the blocks of a page in an empty folder."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CI", "true")  # hypothesis gives properties no deadline then: this machine may be busy
    run_page(page, {"__name__": "page"})


@pytest.fixture(scope="module")
def generated() -> set[Path]:
    """Where the pages would lie that are made while the documentation is built."""
    return {GENERATED_PAGES / path for path, _ in print_pages(specs_dir(), "kafkawire.protocol")}


@pytest.mark.parametrize("page", PAGES, ids=with_name)
def test_links_lead_somewhere(page: Path, generated: set[Path]) -> None:
    targets = [target for target in LINK.findall(page.read_text()) if "://" not in target]
    paths = [(page.parent / target).resolve() for target in targets]
    assert [path for path in paths if not path.exists() and path not in generated] == []


EXCERPTS = [
    (page, block.title, block.text)
    for page in PAGES
    for block in blocks(page.read_text())
    if Path(block.title).parts[:1] in [(folder,) for folder in OWN_FOLDERS]
]


def test_how_it_works_shows_the_real_files() -> None:
    shown = {Path(title).parts[0] for page, title, _ in EXCERPTS if page.name == "how-it-works.md"}
    assert shown == set(OWN_FOLDERS)


@pytest.mark.parametrize(("page", "title", "text"), EXCERPTS, ids=[title for _, title, _ in EXCERPTS])
def test_an_excerpt_equals_its_file(page: Path, title: str, text: str) -> None:
    rest = (ROOT / title).read_text()
    for stretch in text.split("...\n"):
        _, found, rest = rest.partition(stretch)
        assert found, f"{page.name} shows what {title} does not say there:\n{stretch}"


def tables_without_words(text: str) -> list[int]:
    """The lines where tables begin that follow a heading, another table or nothing; comments do not count."""
    found = []
    before, in_code = "", False
    for number, line in enumerate(text.splitlines(), 1):
        in_code ^= line.lstrip().startswith("```")
        if in_code or not line.strip() or line.startswith("<!--"):
            before = before if line.strip() else before + "\n"
            continue
        follows = before.endswith("\n") or not before
        if line.startswith("|") and follows and (not before.strip() or before.startswith(("#", "|"))):
            found.append(number)
        before = line
    return found


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent != ROOT], ids=with_name)
def test_a_line_in_words_is_above_each_table(page: Path) -> None:
    assert tables_without_words(page.read_text()) == []


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = LINK.findall((folder / "index.md").read_text())
    assert listed == sorted(page.name for page in folder.glob("[0-9]*.md"))
