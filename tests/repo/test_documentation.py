"""What the README and the documentation show is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


def examples(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text())


def with_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_the_readme_shows_an_example() -> None:
    assert examples(ROOT / "README.md") != []


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=with_name)
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "example"}
    for source in examples(page):
        exec(compile(source, str(page), "exec"), namespace)  # noqa: S102 the page is ours
    assert len(namespace) > 2, "the examples of a page define something"


@pytest.mark.parametrize("page", PAGES, ids=with_name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = [target for target in LINK.findall(page.read_text()) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []
