"""The tests pass as a background job of a script, too: a shell starts those with SIGINT ignored."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PROGRAM = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *sys.argv[1:]])
"""


@pytest.mark.extended
def test_tests_of_ctrl_c_pass_where_sigint_is_ignored() -> None:
    """Every test that sends SIGINT sets how it is handled."""
    files = [path for path in sorted(TESTS.rglob("test_*.py")) if path != Path(__file__) and _sends_sigint(path)]
    assert files
    words = [*map(str, files), "-k", "ctrl_c or interrupt or signals"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], cwd=TESTS.parent, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode()


def _sends_sigint(path: Path) -> bool:
    return signal.SIGINT.name in path.read_text("utf-8")
