"""The demonstration: its chapters one after the other, then the closing. An error ends its chapter alone."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.text import Text

from kafkawire.cli.demo.chapters import Chapter, Ending
from kafkawire.cli.demo.closing import show_closing
from kafkawire.cli.demo.stage import Stage
from kafkawire.cli.demo.your_broker import checked_address
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.visible import visible
from kafkawire.wire.kafka_errors import KafkaError


def play(chapters: Sequence[Chapter], *, broker: str | None, out: Path | None, pause: bool) -> bool:
    """Show chapters on standard output.

    Args:
        chapters: in this order.
        broker: host:port of a broker of the user. It is checked before anything is shown.
        out: folder for the files; a new temporary one by default, which stays.
        pause: wait for Enter between chapters, until the input ends.

    Returns:
        Whether each chapter was shown to its end or left out.

    Raises:
        CommandError: the broker does not respond, or the folder is not empty.
    """
    address = None if broker is None else checked_address(broker)
    with closing(Stage(Console(), _folder(out), address)) as stage:
        endings: dict[Chapter, Ending] = {}
        for chapter in chapters:
            if pause and endings:
                pause = _next_is_wanted(stage, chapter)
            stage.heading(f"{chapter.number}. {chapter.title}")
            endings[chapter] = _shown(stage, chapter)
    show_closing(stage, endings)
    if not any(stage.folder.iterdir()):
        stage.folder.rmdir()
    return Ending.ENDED_EARLY not in endings.values()


def _folder(out: Path | None) -> Path:
    """An empty folder that stays."""
    if out is None:
        return Path(tempfile.mkdtemp(prefix="kafkawire-demo-"))
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise CommandError(f"--out: {out} is not an empty folder; name a new one", ExitCode.USAGE)
    out.mkdir(parents=True, exist_ok=True)
    return out.resolve()


def _next_is_wanted(stage: Stage, chapter: Chapter) -> bool:
    """Wait for Enter; false at the end of the input, where waiting makes no sense."""
    try:
        stage.console.input(Text(f"\nEnter goes on with chapter {chapter.number}; Ctrl-C ends. ", "dim"))
    except EOFError:
        return False
    return True


def _shown(stage: Stage, chapter: Chapter) -> Ending:
    missing = chapter.missing()
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        stage.say(f"Left out: it needs {' and '.join(missing)}, which {verb} not installed.", "yellow")
        return Ending.LEFT_OUT
    try:
        chapter.show(stage)
    except (CommandError, KafkaError, OSError) as error:
        stage.line(f"This chapter ended early: {visible(str(error))}", "red")
        return Ending.ENDED_EARLY
    return Ending.SHOWN
