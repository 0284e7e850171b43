"""The command and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from kafkawire.cli.demo.chapters import CHAPTERS, chosen_chapters
from kafkawire.cli.outcome import ExitCode

_NAMES: Final = ", ".join(f"{chapter.number} {chapter.name}" for chapter in CHAPTERS)


def run(
    broker: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="A broker of yours, without TLS and login; adds a chapter about it."),
    ] = None,
    chapter: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHAPTER",
            help=f"Show only this chapter, by number or name; repeatable. There are {_NAMES}.",
        ),
    ] = None,
    pause: Annotated[bool, typer.Option("--pause", help="Wait for Enter between chapters.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="New or empty folder for the files, which stay; by default a temporary one."),
    ] = None,
) -> None:
    """Show the main parts in chapters: generator, codec, broker, declared state, logs as tables, report.

    A chapter whose libraries are not installed is left out. The files stay, so that the printed commands can be run.
    The last line is the path of the report, if that was written.

    Exit code: 0 if all chapters were shown or left out, 1 if one ended early, 2 for wrong usage.
    """
    chapters = chosen_chapters(chapter or (), with_broker=broker is not None)
    from kafkawire.cli.demo.playing import play  # noqa: PLC0415 slow to import; help and completion do without

    if not play(chapters, broker=broker, out=out, pause=pause):
        raise typer.Exit(ExitCode.FAILED)
