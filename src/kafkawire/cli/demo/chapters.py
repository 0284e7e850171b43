"""The chapters: what each is called and needs, and how those to show are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.near_names import did_you_mean

if TYPE_CHECKING:
    from kafkawire.cli.demo.stage import Stage

YOUR_BROKER: Final = "your-broker"
"""The chapter that needs ``--broker``."""


class Ending(Enum):
    """How a chapter ended."""

    SHOWN = "shown"
    LEFT_OUT = "left out"
    ENDED_EARLY = "ended early"


@dataclass(frozen=True)
class Chapter:
    """A chapter. Its module is imported when it is shown, since the module may need libraries of an extra.

    Attributes:
        number: from 1.
        name: one word for the command line.
        title: its heading.
        module: where its function ``show`` is.
        needs: the libraries of extras that it imports.
    """

    number: int
    name: str
    title: str
    module: str
    needs: tuple[str, ...] = ()

    def missing(self) -> tuple[str, ...]:
        """The needed libraries that are not installed."""
        return tuple(library for library in self.needs if find_spec(library) is None)

    def show(self, stage: Stage) -> None:
        """Show it.

        Raises:
            CommandError, KafkaError, OSError: it cannot go on.
        """
        import_module(f"kafkawire.cli.demo.{self.module}").show(stage)


CHAPTERS: Final = (
    Chapter(1, "definitions", "Kafka's definitions become a Python package", "definitions", ("jinja2", "ruff")),
    Chapter(2, "bytes", "A request byte by byte, and a broken one", "request"),
    Chapter(3, "broker", "A broker in Python, and a thousand users in two calls", "administration"),
    Chapter(4, "declared", "A declared state: planned, understood, applied", "declared", ("yaml",)),
    Chapter(5, "restart", "kill -9: topics, ACLs and quotas are still there", "restart"),
    Chapter(6, "history", "What the log remembers", "history", ("pyarrow",)),
    Chapter(7, "report", "The report: one page for a browser", "report_page", ("pyarrow", "jinja2")),
    Chapter(8, YOUR_BROKER, "Your broker", "your_broker"),
)


def chosen_chapters(words: Sequence[str], *, with_broker: bool) -> Sequence[Chapter]:
    """The chapters to show, in their order.

    Args:
        words: numbers and names; none for all chapters.
        with_broker: whether the user named a broker. Its chapter is shown in any case then.

    Raises:
        CommandError: there is no such chapter, or it needs a broker that the user did not name.
    """
    chosen = {_chapter(word) for word in words} or set(CHAPTERS[:-1])
    if CHAPTERS[-1] in chosen and not with_broker:
        raise CommandError(f"--chapter {YOUR_BROKER} needs a broker: --broker HOST:PORT", ExitCode.USAGE)
    if with_broker:
        chosen.add(CHAPTERS[-1])
    return [chapter for chapter in CHAPTERS if chapter in chosen]


def _chapter(word: str) -> Chapter:
    wanted = word.strip().casefold()
    for chapter in CHAPTERS:
        if wanted in {chapter.name, str(chapter.number)}:
            return chapter
    listed = ", ".join(f"{chapter.number} {chapter.name}" for chapter in CHAPTERS)
    hint = did_you_mean(wanted, [chapter.name for chapter in CHAPTERS]) or f"give one of {listed}"
    raise CommandError(f"--chapter: there is no chapter {word!r}; {hint}", ExitCode.USAGE)
