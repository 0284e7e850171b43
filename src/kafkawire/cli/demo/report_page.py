"""Seventh chapter: the logs become one HTML page."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import Final

from kafkawire.cli.demo.stage import Stage, timed
from kafkawire.cli.destination import whole_file
from kafkawire.cli.tables.table_batches import command_errors
from kafkawire.report.gathering import gather_report
from kafkawire.report.rendering import render_page

_TITLE: Final = "A broker of kafkawire demo"
_ROWS: Final = 100_000
_NAMES: Final = {"acls": "ACLs"}


def show(stage: Stage) -> None:
    """Write the page.

    Raises:
        CommandError: the broker does not start, or its log cannot be read.
        OSError: the page cannot be written.
    """
    stage.prepare()
    page = stage.folder / "report.html"
    with command_errors(), timed() as seconds, stage.console.status("The page is written"):
        contents, _ = gather_report(
            _TITLE, [str(stage.broker.data_dir)], lambda *_: nullcontext(), limit=_ROWS
        )  # fmt: skip
        with whole_file(page) as stream:
            stream.write(render_page(contents, written_at=int(time.time() * 1000)).encode())
    stage.report = page
    things = {
        name: sum(numbers.things or numbers.rows for numbers in section.numbers.values())
        for name, section in contents.sections()
    }
    sections = ", ".join(f"{number:,} {_NAMES.get(name, name)}" for name, number in things.items() if number)
    stage.say(
        f"{sections}, each with its intervals, in one file of {page.stat().st_size / 1000:,.0f} kB after "
        f"{seconds[0]:.2f} s. It needs no network. Move its date, and it shows what was then."
    )
    stage.gap()
    stage.say("The same for the logs of a real cluster, copied or in place:")
    stage.command("report", "logs", stage.broker.data_dir, "--out", page)
