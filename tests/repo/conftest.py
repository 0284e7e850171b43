"""The files that the tests of the repository itself check."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return Path(__file__).parents[2]


@pytest.fixture(scope="session")
def repository_files(root: Path) -> list[Path]:
    """The files that git keeps, and those that it would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout.decode().split("\0")
    return sorted(path for path in {root / name for name in names if name} if path.is_file())


@pytest.fixture(scope="session")
def pyproject(root: Path) -> dict[str, Any]:
    """pyproject.toml, parsed."""
    return tomllib.loads((root / "pyproject.toml").read_text())


@pytest.fixture(scope="session")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as `make docs` builds it. Strict: a link that leads nowhere is an error."""
    folder = tmp_path_factory.mktemp("documentation") / "site"
    command = [sys.executable, str(root / "docs" / "building" / "build.py"), "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder
