"""Chapters are chosen by number or name, and left out if a library is missing."""

from __future__ import annotations

import sys

import pytest

from kafkawire.cli.demo.chapters import CHAPTERS, chosen_chapters
from kafkawire.cli.outcome import CommandError, ExitCode


def names(*words: str, with_broker: bool = False) -> list[str]:
    return [chapter.name for chapter in chosen_chapters(words, with_broker=with_broker)]


def test_all_chapters_but_that_of_a_broker_are_shown_by_default() -> None:
    assert names() == ["definitions", "bytes", "broker", "declared", "restart", "history", "report"]


def test_chapters_are_shown_in_their_order_and_once() -> None:
    assert names("restart", "2", "Bytes", " 5 ") == ["bytes", "restart"]


def test_the_chapter_about_a_broker_is_shown_if_one_is_named() -> None:
    assert names("bytes", with_broker=True) == ["bytes", "your-broker"]
    assert names(with_broker=True)[-1] == "your-broker"
    with pytest.raises(CommandError, match="needs a broker: --broker HOST:PORT") as caught:
        names("your-broker")
    assert caught.value.exit_code == ExitCode.USAGE


ALL_CHAPTERS = ", ".join(f"{chapter.number} {chapter.name}" for chapter in CHAPTERS)


@pytest.mark.parametrize(
    ("word", "hint"), [("histroy", "did you mean history?"), ("9", f"give one of {ALL_CHAPTERS}")], ids=str
)
def test_a_chapter_that_there_is_not_is_refused_with_those_that_are_meant(word: str, hint: str) -> None:
    with pytest.raises(CommandError) as caught:
        names(word)
    assert caught.value.exit_code == ExitCode.USAGE
    assert caught.value.message == f"--chapter: there is no chapter '{word}'; {hint}"


def test_missing_libraries_are_those_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    report = CHAPTERS[5]
    assert report.missing() == ()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert report.missing() == ("pyarrow",)
