"""The screen of a person at a terminal: ``--watch`` in windows that change their size, job control, widths, Tab."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.made.tmux import PROGRAM, TmuxRun, needs_tmux

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode

pytestmark = [needs_tmux, pytest.mark.usefixtures("ctrl_c")]

READY = "ready>"
NAME = "a-topic-with-a-rather-long-name-00"
BOLD = "\x1b[1m"
WIDE = {
    "topics describe pay*": "payments-of-may",
    "acls list": "albert",
    "groups lag --all": "readers",
    "plan DOCUMENT": "1 to create",
}
"""Commands with wide tables or long lines, and what they show."""

COMPLETED = {
    "kafkawire top": "kafkawire topics",
    "kafkawire topics describe pay": "kafkawire topics describe payments-of-may",
    "kafkawire acls list --principal User:al": "kafkawire acls list --principal User:albert-of-the-far-north",
    "kafkawire groups lag re": "kafkawire groups lag readers",
}
"""What a person types before Tab, and what stands there after it."""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.yaml"
    path.write_text("topics: {a-topic-of-the-far-north: {partitions: 3, configs: {retention.ms: 604800000}}}")
    return path


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[TmuxRun]:
    """An interactive bash."""
    home = {"HOME": str(tmp_path), "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    with TmuxRun("bash", "--norc", "-i", height=16, environment={**home, "PS1": f"{READY} "}) as run:
        run.until(READY)
        yield run


def test_a_watched_list_fits_into_a_window_whatever_its_size(broker: ThreadedBroker) -> None:
    with TmuxRun(PROGRAM, "topics", "list", "--watch", "0.1", "-b", broker.bootstrap_servers) as run:
        run.until("more lines")
        assert len(run.lines) == 23, "as many lines as the window has, and one for the cursor"
        run.resize(50, 10)
        run.wait(lambda: len(run.screen.split("\n")) == 9, "it does not become lower")
        run.wait(lambda: all(len(line) <= 50 for line in run.screen.split("\n")), "it does not become narrower")
        assert "replication_factor " not in run.screen
        run.resize(120, 50)
        run.until("payments-of-may")
        assert "more lines" not in run.screen
        assert run.screen.count(NAME) == 1
        run.press("C-c")
        assert run.ended() == ExitCode.INTERRUPTED
        assert run.shows_cursor()
        assert run.screen.endswith("^C")


def test_a_watched_list_is_drawn_in_place(broker: ThreadedBroker) -> None:
    with TmuxRun(PROGRAM, "topics", "list", "pay*", "--watch", "0.1", "-b", broker.bootstrap_servers) as run:
        run.until("payments-of-may")
        [first, *_] = run.lines
        run.until_gone(first)
        assert run.screen.count("payments-of-may") == 1
        assert len(run.lines) <= 5, "nothing has scrolled away"


def test_a_suspended_watch_draws_its_list_again(broker: ThreadedBroker, shell: TmuxRun) -> None:
    shell.type(f"kafkawire topics list pay* --watch 0.1 -b {broker.bootstrap_servers}")
    shell.press("Enter")
    shell.until("payments-of-may ")
    shell.press("C-z")
    shell.until("Stopped")
    shell.type("fg")
    shell.press("Enter")
    shell.until_gone("Stopped")
    shell.until("payments-of-may ")
    shell.press("C-c")
    shell.wait(lambda: shell.screen.endswith(READY), "the shell is not back")
    assert "^C\n" in shell.screen, "the prompt has a line of its own"


@pytest.mark.extended
@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("words", WIDE)
def test_every_line_fits_into_the_window(words: str, width: int, broker: ThreadedBroker, document: Path) -> None:
    given = words.replace("DOCUMENT", str(document)).split()
    with TmuxRun(PROGRAM, *given, "-b", broker.bootstrap_servers, width=width, height=100) as run:
        assert run.ended() == ExitCode.DONE
        assert WIDE[words] in run.screen
        assert max(map(len, run.printed)) <= width
        assert BOLD in run.coloured


@pytest.mark.extended
def test_tab_completes_words_and_names_of_the_cluster(tmp_path: Path, broker: ThreadedBroker) -> None:
    home = {
        "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"), "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}",
        "KAFKAWIRE_BOOTSTRAP_SERVER": broker.bootstrap_servers,
    }  # fmt: skip
    subprocess.run(
        [PROGRAM, "--install-completion", "bash"], check=True, env={**os.environ, **home}, capture_output=True
    )
    (tmp_path / "empty").mkdir()
    with (tmp_path / ".bashrc").open("a") as start:
        start.write(f"cd '{tmp_path}/empty'\nPS1='{READY} '\n")
    with TmuxRun("bash", "-i", width=100, environment=home) as run:
        run.until(READY)
        for typed, completed in COMPLETED.items():
            run.type(typed)
            run.press_until("Tab", f"{READY} {completed}")
            assert len(run.lines) == 1, "no message on the line that is typed"
            run.press("C-u")
