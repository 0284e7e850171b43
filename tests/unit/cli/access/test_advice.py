"""Advice of the library to programs is replaced by words of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire import admin
from kafkawire.cli.access.advice import IN_WORDS_OF_THE_COMMAND, in_words_of_the_command

SOURCES = "\n".join(path.read_text("utf-8") for path in Path(admin.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("words", IN_WORDS_OF_THE_COMMAND)
def test_the_library_still_has_these_words(words: str) -> None:
    parts = words.split(" Tls(") if " Tls(" in words else [words]
    assert all(part in SOURCES or part.replace("or ", "", 1) in SOURCES for part in parts)


def test_a_message_without_advice_stays() -> None:
    assert in_words_of_the_command("no node answers") == "no node answers"
