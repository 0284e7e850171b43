"""Formatting of printed Python: ruff, over a folder at once.

Its style is black's; a test of the repository holds black to it (docs/decisions/0005).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

LINE_LENGTH = 120


class FormattingError(Exception):
    """Printed text that is not Python: a fault of the templates."""


def format_files(raw: Mapping[str, str]) -> dict[str, str]:
    """Format many files, given by relative path.

    Raises:
        FormattingError: if a file is not Python.
    """
    if not raw:
        return {}
    with tempfile.TemporaryDirectory(prefix="kafkawire-") as name:
        folder = Path(name)
        for path, text in raw.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
        options = [
            "--isolated",
            "--no-cache",
            "--line-length",
            str(LINE_LENGTH),
            "--target-version",
            "py311",
        ]
        done = subprocess.run(
            [sys.executable, "-m", "ruff", "format", *options, name], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise FormattingError(done.stderr.strip().replace(f"{name}/", ""))
        return {path: (folder / path).read_text("utf-8") for path in raw}
