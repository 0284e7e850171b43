"""A comparison on terminals of three widths: in colours, folded at the width, with progress that leaves nothing."""

from __future__ import annotations

import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from fcntl import ioctl
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.embedded.filled_state import PROPERTIES, fill

from kafkawire.admin import BlockingAdminClient
from kafkawire.broker import ThreadedBroker

COMMAND = (sys.executable, "-c", "import sys; from kafkawire.cli.app import main; sys.exit(main())")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")


def printed(width: int, words: list[str], variables: Mapping[str, str]) -> str:
    """What a command prints on a terminal."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}}
    environment.update(TERM="xterm", **variables)
    with subprocess.Popen([*COMMAND, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        octets = b""
        while part := _read(ours):
            octets += part
    os.close(ours)
    return octets.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux says so that the other side is closed
        return b""


@pytest.mark.parametrize("width", [60, 80, 200])
def test_lines_are_folded_and_coloured(width: int, tmp_path: Path) -> None:
    for name, retention in {"a": 1, "b": 2}.items():
        long = f"{'long-' * 20}topic"
        (tmp_path / name).write_text(
            f"topics:\n  {long}:\n    configs: {{retention.ms: {retention}}}\n  {name}: {{}}\n"
        )
    words = ["diff", str(tmp_path / "a"), str(tmp_path / "b")]
    text = printed(width, words, {})
    lines = CONTROL.sub("", text).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert "      retention.ms: 1 → 2" in lines
    assert {"  - a", "  + b"} <= set(lines)
    assert "\x1b[31m" in text
    assert "\x1b[32m" in text
    assert "\x1b[3" not in printed(width, words, {"NO_COLOR": "1"})
    piped = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=True)
    assert "\x1b" not in piped.stdout + piped.stderr
    assert f"  ~ {'long-' * 20}topic" in piped.stdout.splitlines()


def test_the_progress_bar_leaves_nothing(tmp_path: Path) -> None:
    with ThreadedBroker(PROPERTIES) as broker:
        with BlockingAdminClient(broker.bootstrap_servers) as admin:
            fill(admin)
        words = ["export", "-b", broker.bootstrap_servers, "--out", str(tmp_path / "cluster.yaml")]
        text = printed(80, words, {"XDG_CONFIG_HOME": str(tmp_path)})
    assert "reading the cluster" in text
    assert text.rstrip().endswith("\x1b[2K")
    assert "orders:" in (tmp_path / "cluster.yaml").read_text()
