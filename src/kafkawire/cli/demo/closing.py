"""The end of the demonstration: what was shown, what to try next, and where the report is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import islice
from typing import Final

from rich.text import Text

from kafkawire.cli.demo.chapters import Chapter, Ending
from kafkawire.cli.demo.printed_command import Word
from kafkawire.cli.demo.stage import Stage

_COLOURS: Final = {Ending.SHOWN: "green", Ending.LEFT_OUT: "yellow", Ending.ENDED_EARLY: "red"}
_INSTALL: Final = "pip install 'kafkawire[all]'"
_SUGGESTIONS: Final = 3


def show_closing(stage: Stage, endings: Mapping[Chapter, Ending]) -> None:
    """Print the summary. If a report was written, the last line is its path.

    Args:
        stage: of the chapters.
        endings: how each ended.
    """
    stage.heading("What you have seen, and what to try next")
    stage.table(
        ("chapter", "title", ""),
        [(str(each.number), each.title, Text(ending.value, _COLOURS[ending])) for each, ending in endings.items()],
        right=("chapter",),
    )
    stage.gap()
    if Ending.LEFT_OUT in endings.values():
        stage.say(f"One command installs what is missing: {_INSTALL}", "yellow")
    if any(stage.folder.iterdir()):
        stage.line(f"The files stay in {stage.folder}")
    for purpose, words in islice(_suggestions(stage), _SUGGESTIONS):
        stage.say(f"{purpose}:")
        stage.command(*words)
    if stage.report is not None:
        stage.say("The report, for your browser:")
        stage.line(str(stage.report), "bold")


def _suggestions(stage: Stage) -> Iterator[tuple[str, Sequence[Word]]]:
    """Commands that work with the files that are there and the libraries that are installed, the best first."""
    data, tables = stage.broker_data, find_spec("pyarrow") is not None
    words: Sequence[Word]
    if data is not None:
        words = ("broker", "--data-dir", data, "--properties", stage.broker.properties, "--port", "0")
        yield "Run the broker with its data again (Ctrl-C stops it)", words
    if data is not None and tables:
        words = ("tables", "--log", data, "--table", "acl_history", "--out", stage.folder / "acls.csv")
        yield "Write all ACLs with their intervals to a file", words
    if data is not None and tables and find_spec("jinja2") is not None:
        words = ("report", "logs", data, "--out", stage.folder / "report-then.html")
        if stage.changed is None:
            yield "Write the report", words
        else:
            yield "Write a report that opens at the date before the changes", (*words, "--as-of", stage.changed[0])
    if stage.request is not None:
        yield "Decode the request", ("codec", "decode", "<", stage.request)
    yield "List all commands", ("--help",)
