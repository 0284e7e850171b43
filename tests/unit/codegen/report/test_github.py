"""Workflow commands: what GitHub's runner reads back is what was said."""

from __future__ import annotations

import pytest

from kafkawire.codegen.definition import Span
from kafkawire.codegen.report.entry import Entry, Level
from kafkawire.codegen.report.github import render_github

SPAN = Span(3, 5, 3, 9)


def entry(
    message: str = "A: wrong", path: str | None = "specs/A.json", level: Level = "error", span: Span = SPAN
) -> Entry:
    return Entry("A.json", path, span, level, "some-rule", message)


def command(text: str) -> tuple[str, dict[str, str], str]:
    """A command as the runner reads it: name, properties, message."""
    assert text.endswith("\n")
    assert text.count("\n") == 1
    _, head, message = text[:-1].split("::", 2)
    name, _, written = head.partition(" ")
    pairs = (pair.split("=", 1) for pair in written.split(","))
    return name, {key: _unescaped(value) for key, value in pairs}, _unescaped(message)


def _unescaped(text: str) -> str:
    for letter, escape in (("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C"), ("%", "%25")):
        text = text.replace(escape, letter)
    return text


def test_a_finding_is_one_command_with_its_place() -> None:
    assert render_github([entry()]) == (
        "::error file=specs/A.json,line=3,endLine=3,col=5,endColumn=9,title=some-rule::A: wrong\n"
    )


@pytest.mark.parametrize(("level", "name"), [("error", "error"), ("warning", "warning"), ("note", "notice")])
def test_levels_have_commands(level: Level, name: str) -> None:
    assert command(render_github([entry(level=level)]))[0] == name


def test_what_to_do_follows_the_message() -> None:
    text = render_github([Entry("A.json", "A.json", SPAN, "error", "some-rule", "A: wrong", "fix it")])

    assert command(text)[2] == "A: wrong; fix it"


@pytest.mark.parametrize("path", ["a,b.json", "a:b.json", "100%.json", "a=b.json", "a::b.json", "größe.json", "%2C"])
def test_paths_come_through(path: str) -> None:
    assert command(render_github([entry(path=path)]))[1]["file"] == path


@pytest.mark.parametrize("message", ["100% wrong", "two\nlines", "a::b", "::error::x", "%0A", "a, b: c"])
def test_messages_come_through(message: str) -> None:
    assert command(render_github([entry(message)]))[2] == message


def test_no_finding_can_start_a_second_command() -> None:
    lines = render_github([entry("x\r\n::set-env name=A::b", "a\n::error::c.json")]).splitlines()

    assert len(lines) == 1


def test_nothing_that_a_terminal_would_obey_is_printed() -> None:
    text = render_github([entry("\x1b[31mred\x07", "\x1b]0;\udc80.json")])

    assert text[:-1].isprintable()


def test_columns_are_left_out_of_a_stretch_over_several_lines() -> None:
    properties = command(render_github([entry(span=Span(3, 5, 7, 2))]))[1]

    assert properties == {"file": "specs/A.json", "line": "3", "endLine": "7", "title": "some-rule"}


def test_a_file_outside_the_repository_is_named_in_the_message() -> None:
    _, properties, message = command(render_github([entry(path=None)]))

    assert properties == {"title": "some-rule"}
    assert message == "A.json:3: A: wrong"


def test_no_finding_prints_nothing() -> None:
    assert render_github([]) == ""


def test_a_thing_that_no_text_has_has_no_lines() -> None:
    log = Entry("logs", "logs", None, "warning", "some-rule", "wrong")
    cluster = Entry("", None, None, "warning", "some-rule", "wrong")
    assert command(render_github([log])) == ("warning", {"file": "logs", "title": "some-rule"}, "wrong")
    assert command(render_github([cluster])) == ("warning", {"title": "some-rule"}, "wrong")
