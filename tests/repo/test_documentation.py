"""What the README and the documentation show is true: pages run like scripts.

The blocks of a page are carried out in order in an empty folder. ``python`` is executed; ``json``, ``toml`` and
``python`` with a ``title="FILE"`` are written to the file; in ``console`` each ``$`` line is run, and what follows it
must be what it prints, where ``...`` matches anything; without such lines it must end well. A block whose title is the
path of a file of this repository is an excerpt of it, with ``...`` between stretches of lines. Other blocks are only
read by people.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from kafkawire.codegen.generate import print_pages
from kafkawire.codegen.package_data import specs_dir

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN_ELSEWHERE = {"spark.md"}
"""Pages that need what other tests have running: see ``tests/interop/spark/test_page.py``."""

GENERATED_PAGES = ROOT / "docs" / "reference" / "protocol"
OWN_FOLDERS = ("specs", "templates", "generator", "generated", "src")
TITLED = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```', flags=re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r'^```(python|json|toml|console)(?: title="([^"]+)")?\n(.*?)^```', flags=re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", flags=re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    title: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(found[1], found[2] or "", found[3], text.count("\n", 0, found.start(3))) for found in BLOCK.finditer(text)
    ]


def with_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_the_readme_shows_an_example() -> None:
    assert any(block.language == "python" for block in blocks(ROOT / "README.md"))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page) and page.name not in RUN_ELSEWHERE], ids=with_name
)
def test_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_blocks(page, tmp_path, monkeypatch)


def run_blocks(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Carry out the blocks of a page in an empty folder."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CI", "true")  # hypothesis gives properties no deadline then: this machine may be busy
    namespace: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        if block.language == "python" and not block.title:
            exec(compile("\n" * block.line + block.text, page, "exec"), namespace)  # noqa: S102 the page is ours
        elif block.language == "console":
            for command, shown in COMMAND.findall(block.text):
                check_command(command, shown)
        elif block.title:
            file = folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)


def check_command(command: str, shown: str) -> None:
    run = subprocess.run(
        ["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if shown:
        pattern = re.escape(shown.strip()).replace(re.escape("..."), ".*")
        printed = "\n".join(line.rstrip() for line in run.stdout.splitlines()).strip()
        assert re.fullmatch(pattern, printed, flags=re.DOTALL), run.stdout
    else:
        assert run.returncode == 0, run.stdout


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
    (page, title, text)
    for page in PAGES
    for title, text in TITLED.findall(page.read_text())
    if Path(title).parts[0] in OWN_FOLDERS
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
