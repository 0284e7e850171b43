"""Generated code has black's style, though ruff writes it (docs/decisions/0005).

black takes half a minute for all of it, so a spread of the files is checked: what speaks of the whole package, the
largest modules, and a sample of the others. ``KAFKAWIRE_STYLE=all`` checks every file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

LARGEST = 4
SPREAD = 20


@pytest.mark.extended
def test_black_agrees(root: Path) -> None:
    folders = (root / "generated", root / "tests" / "laws" / "protocol")
    files = sorted(path for folder in folders for path in folder.rglob("*.py"))
    checked = files if os.environ.get("KAFKAWIRE_STYLE") == "all" else list(dict.fromkeys(_spread(files)))
    assert len(checked) >= SPREAD
    command = [
        sys.executable,
        "-m",
        "black",
        "--check",
        "--quiet",
        "--diff",
        "--line-length=120",
        "--target-version=py311",
    ]
    command += map(str, checked)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


def _spread(files: Sequence[Path]) -> Iterator[Path]:
    """Files of every kind; many are alike."""
    yield from (path for path in files if path.parent.name == "protocol")
    yield from sorted(files, key=lambda path: path.stat().st_size)[-LARGEST:]
    yield from files[:: len(files) // SPREAD]
