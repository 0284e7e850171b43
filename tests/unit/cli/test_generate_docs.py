"""``kafkawire generate --docs``: pages about the user's own messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.made.packages import field, message, write_definitions

from kafkawire.cli.app import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the definitions of two messages."""
    write_definitions(
        tmp_path / "specs", message("Note", field("Text", "string")), message("Mark", field("At", "int8"))
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def generate(*more: str) -> int:
    return main(["generate", "--specs", "specs", "--package", "acme.protocol", "--out", "src", *more])


def pages(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}


def test_pages_follow_the_definitions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate("--docs", "pages") == 0
    assert pages(folder) == {f"pages/{name}.md" for name in ("index", "history", "messages/mark", "messages/note")}
    capsys.readouterr()
    assert generate("--docs", "pages") == 0
    assert "is up to date" in capsys.readouterr().err
    (folder / "specs" / "Mark.json").unlink()
    assert generate("--docs", "pages", "--check") == 1
    assert "pages/messages/mark.md" in capsys.readouterr().err
    assert generate("--docs", "pages") == 0
    assert pages(folder) == {f"pages/{name}.md" for name in ("index", "history", "messages/note")}


def test_a_changed_page_is_written_again(folder: Path) -> None:
    assert generate("--docs", "pages") == 0
    page = folder / "pages" / "messages" / "note.md"
    written = page.read_text()
    page.write_text(written + "A remark.\n")
    assert generate("--docs", "pages", "--check") == 1
    assert generate("--docs", "pages") == 0
    assert page.read_text() == written


def test_pages_of_the_user_are_never_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pages").mkdir()
    (folder / "pages" / "index.md").write_text("# Ours\n")
    assert generate("--docs", "pages") == 1
    assert "pages holds 1 file that kafkawire did not generate, index.md for one" in capsys.readouterr().err
    assert pages(folder) == {"pages/index.md"}
    assert not (folder / "src").exists()


@pytest.mark.parametrize(
    ("docs", "words"),
    [
        ("specs/pages", "is inside the folder of the definitions"),
        ("src/acme/protocol/pages", "is inside the folder of the package"),
        ("checks", "cannot hold both tests and pages"),
    ],
)
def test_pages_need_a_folder_of_their_own(
    folder: Path, capsys: pytest.CaptureFixture[str], docs: str, words: str
) -> None:
    assert generate("--tests", "checks", "--docs", docs) == 2
    assert words in capsys.readouterr().err
    assert not (folder / "src").exists()
