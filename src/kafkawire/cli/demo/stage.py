"""What the chapters share: the output, the folder whose files stay, and the broker that they administer."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kafkawire.cli.demo.broker_process import BrokerProcess
from kafkawire.cli.demo.kafka_tools import KafkaTools, ToolsAbsentError
from kafkawire.cli.demo.printed_command import Word, command_lines
from kafkawire.cli.demo.users import SetUp, set_up
from kafkawire.cli.outcome import CommandError


@dataclass
class Stage:
    """One run of the demonstration.

    Attributes:
        console: where to.
        folder: holds all files, and stays.
        your_broker: host:port of a broker of the user, or None.
        request: file of a request that ``kafkawire codec`` decodes, once it is written.
        changed: a time before and one after the changes that the chapter on history makes, once they are made; in UTC,
            as ``--as-of`` takes them.
        report: the page of the chapter on the report, once it is written.
    """

    console: Console
    folder: Path
    your_broker: str | None = None
    request: Path | None = None
    changed: tuple[str, str] | None = None
    report: Path | None = None
    _set_up: SetUp | None = field(default=None, init=False)
    _failed: bool = field(default=False, init=False)

    @cached_property
    def broker(self) -> BrokerProcess:
        """The broker of the demonstration, perhaps not started."""
        return BrokerProcess(self.folder)

    @property
    def metadata_log(self) -> Path:
        """Folder of the broker's metadata log."""
        return self.broker.data_dir / "__cluster_metadata-0"

    @property
    def broker_data(self) -> Path | None:
        """Folder of the broker's data, if it has any."""
        return None if self._set_up is None else self.broker.data_dir

    @cached_property
    def tools(self) -> KafkaTools | ToolsAbsentError:
        """Kafka's own tools, or why there are none. Maven may fetch them, once."""
        try:
            return KafkaTools.found(self.say)
        except ToolsAbsentError as error:
            return error

    def prepare(self) -> None:
        """Set up the broker for a chapter that comes after that which does so, if that was not shown."""
        if self._set_up is None and not self._failed:
            self.say("First a broker gets the topics, ACLs and quotas of chapter 3.")
        self.set_up_broker()

    def set_up_broker(self) -> SetUp:
        """Let the broker run with its topics, ACLs and quotas. They are created once.

        Returns:
            What was done.

        Raises:
            CommandError: the broker does not start, or did not for an earlier chapter.
            KafkaError: it does not respond.
            OSError: its files cannot be written.
        """
        if self._failed:
            raise CommandError("it needs the broker, which failed above")
        self._failed = True
        self.broker.start()
        if self._set_up is None:
            with self.console.status("The broker gets topics, ACLs and quotas"):
                self._set_up = set_up(self.broker.bootstrap_servers)
        self._failed = False
        return self._set_up

    def heading(self, title: str) -> None:
        """The heading of a chapter."""
        self.console.print()
        self.console.rule(Text(title, "bold"), align="left")

    def gap(self) -> None:
        """An empty line."""
        self.console.print()

    def say(self, text: str, style: str = "") -> None:
        """A paragraph, wrapped between words."""
        self.console.print(Text(text, style))

    def item(self, text: str, style: str = "") -> None:
        """The same, indented."""
        self.console.print(Padding(Text(text, style), (0, 0, 0, 4), expand=False))

    def line(self, text: str, style: str = "") -> None:
        """A line that holds a path or the like: only the terminal wraps it, so that it can be copied."""
        self.console.print(Text(text, style), soft_wrap=True)

    def command(self, *words: Word) -> None:
        """A command of kafkawire that the user can run, broken where a line would be too long."""
        for line in command_lines(words, self.console.width):
            self.line(line, "cyan")

    def table(
        self, headings: Sequence[str], rows: Sequence[Sequence[str | Text]], *, right: Collection[str] = ()
    ) -> None:
        """A table without frame.

        Args:
            headings: of the columns.
            rows: of cells.
            right: the headings of the columns of numbers.
        """
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for heading in headings:
            table.add_column(heading, justify="right" if heading in right else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
        self.console.print(table)

    def close(self) -> None:
        """End the broker."""
        if "broker" in self.__dict__:
            self.broker.kill()


@contextmanager
def timed() -> Iterator[list[float]]:
    """Yield a list that holds the seconds of the block after it."""
    seconds: list[float] = []
    begin = time.perf_counter()
    yield seconds
    seconds.append(time.perf_counter() - begin)


def now() -> str:
    """The time in UTC, in milliseconds as in Kafka's logs, such as 2026-03-01T12:30:00.000Z."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
