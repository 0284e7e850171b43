"""The blocks of a page, carried out in order in the current folder.

``python`` is executed, and pytest runs the test functions in it. ``console`` is run: what follows a ``$`` line must be
what it prints, where ``...`` matches anything; without such lines it must end well. ``text`` that begins with ``$ ``
is run on a terminal: all must be as shown except numbers, times and ids. A broker that a ``console`` block starts runs
until the page ends, on a free port. Any other block with a ``title="FILE"`` is written to the file. Blocks may be
indented, as those in tabs and lists are.

This file imports only the standard library, so ``python -P page.py PAGE`` runs a page in any environment.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

FENCED = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)(?P=fence) *$",
    flags=re.MULTILINE | re.DOTALL,
)
_INFO = re.compile(r'(?P<language>\S*)(?: title="(?P<title>[^"]+)")?\s*')
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", flags=re.MULTILINE)
_LISTENS = "kafkawire broker listens on "
_ADDRESS = "localhost:9092"
"""Of the broker that a page starts."""

_TEST = re.compile(r"^(?:async )?def (test_\w+)", flags=re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        language: the word after the fence, empty if there is none.
        title: the name of a file, or empty.
        text: without the indentation of the fence.
        line: the number of the line with the opening fence, from 1.
    """

    language: str
    title: str
    text: str
    line: int

    @property
    def executed(self) -> bool:
        """Whether it is a part of the page's program."""
        return self.language == "python" and not self.title

    @property
    def on_terminal(self) -> bool:
        """Whether it shows what commands print on a terminal."""
        return self.language == "text" and self.text.startswith("$ ")

    @property
    def tests(self) -> list[str]:
        """The names of the test functions in it."""
        return _TEST.findall(self.text) if self.executed else []


def blocks(text: str) -> Iterator[Block]:
    """All fenced blocks of a page.

    Raises:
        ValueError: what follows a fence is neither a language nor a title.
    """
    for found in FENCED.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        info = _INFO.fullmatch(found["info"].strip())
        if info is None:
            raise ValueError(f'line {line}: after the fence stands {found["info"]!r}, not LANGUAGE title="FILE"')
        content = re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
        yield Block(info["language"], info["title"] or "", content, line)


def program(shown: list[Block]) -> str:
    """The Python blocks as one program, on the lines that they have on the page."""
    lines: list[str] = []
    for block in shown:
        if block.executed:
            lines += [""] * (block.line - len(lines)) + block.text.splitlines()
    return "\n".join(lines) + "\n"


def run_page(page: Path, namespace: dict[str, Any]) -> None:
    """Carry out the blocks of a page in the current folder, which is empty.

    Args:
        page: its file.
        namespace: of the page's program.

    Raises:
        AssertionError: a command or a test of the page failed, or printed something else.
    """
    shown = list(blocks(page.read_text()))
    with contextlib.ExitStack() as started:
        address = _ADDRESS
        for number, block in enumerate(shown):
            if block.executed:
                code = compile("\n" * block.line + block.text, page, "exec", dont_inherit=True)
                exec(code, namespace)  # noqa: S102 the page is ours
                if block.tests:
                    _run_tests(shown[: number + 1], block)
            elif block.language == "console" or block.on_terminal:
                for command, printed in _COMMAND.findall(block.text):
                    if printed.startswith(_LISTENS):
                        address = started.enter_context(_running(command))
                    else:
                        check = check_on_terminal if block.on_terminal else check_command
                        check(command.replace(_ADDRESS, address), printed)
            elif block.title:
                _write(Path(block.title), block.text)


@contextlib.contextmanager
def _running(command: str) -> Iterator[str]:
    """The address of a broker that runs in the meantime."""
    words = ["sh", "-c", f"exec {command} --port 0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as broker:
        assert broker.stdout is not None
        try:
            line = broker.stdout.readline()
            assert line.startswith(_LISTENS), (
                f"$ {command}\n{line}{'' if broker.poll() is None else broker.stdout.read()}"
            )
            yield line.removeprefix(_LISTENS).strip()
        finally:
            broker.terminate()


def _run_tests(shown: list[Block], last: Block) -> None:
    """Run the tests of the last block as a reader would who has put all blocks so far into one module."""
    folder = Path(f"tests_of_line_{last.line}")
    for block in shown:
        if block.title:
            _write(folder / block.title, block.text)
    _write(folder / "test_page.py", program(shown))
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    tests = [f"test_page.py::{name}" for name in last.tests]
    ran = subprocess.run([*words, *tests], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def check_command(command: str, shown: str) -> None:
    """Run a command and compare what it prints with what the page shows."""
    run = subprocess.run(
        ["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if shown:
        pattern = re.escape(shown.strip()).replace(re.escape("..."), ".*")
        printed = "\n".join(line.rstrip() for line in run.stdout.splitlines()).strip()
        assert re.fullmatch(pattern, printed, flags=re.DOTALL), f"$ {command}\n{run.stdout}"
    else:
        assert run.returncode == 0, f"$ {command}\n{run.stdout}"


def check_on_terminal(command: str, shown: str) -> None:
    """Run a command on a terminal and compare what it prints with what the page shows."""
    assert _stable(printed_on_terminal(command)) == _stable(shown), command


def printed_on_terminal(command: str) -> str:
    """What a command prints on a terminal of 80 columns without colours."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    started = subprocess.Popen(
        ["sh", "-c", command], stdin=its, stdout=its, stderr=its, env={**variables, "TERM": "dumb", "NO_COLOR": "1"}
    )
    os.close(its)
    printed = b""
    with contextlib.suppress(OSError):  # Linux says so when the last program has closed the terminal
        while piece := os.read(ours, 65536):
            printed += piece
    os.close(ours)
    assert started.wait() == 0, printed.decode()
    return printed.decode().replace("\r\n", "\n")


def _stable(printed: str) -> list[str]:
    """Words of what was printed, without what differs between two runs, and lines are folded elsewhere for that."""
    return re.sub(r"[\w-]{22}(?=\.)|\d+", "0", printed).split()


def main() -> None:
    """Carry out a page as a script, with the packages of this interpreter alone."""
    (page,) = sys.argv[1:]
    sys.path.insert(0, str(Path.cwd()))
    os.environ["CI"] = "true"  # hypothesis gives properties no deadline then: this machine may be busy
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    run_page(Path(page), module.__dict__)


if __name__ == "__main__":
    main()
