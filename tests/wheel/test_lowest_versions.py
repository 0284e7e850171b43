"""The package works with the lowest versions that it declares."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from tests.wheel.environments import Installed

EXTRAS = ("cli", "codegen", "tables", "test")
"""PySpark alone is left out: half a gigabyte for another release of it."""


def lowest(project: dict[str, Any]) -> list[str]:
    """The requirements with their lowest versions."""
    declared = [
        *project["dependencies"],
        *(each for extra in EXTRAS for each in project["optional-dependencies"][extra]),
    ]
    found = [Requirement(each) for each in declared]
    return [f"{each.name}=={spec.version}" for each in found for spec in each.specifier if spec.operator == ">="]


@pytest.mark.nightly  # downloads packages
def test_the_lowest_versions_are_enough(root: Path, wheel: Path, pyproject: dict[str, Any], tmp_path: Path) -> None:
    """The packages are those of the machine's own package index, with pip's own settings."""
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    installed = Installed(folder)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "--python",
        str(installed.python),
        "install",
        "--only-binary",
        ":all:",
    ]
    requirements = [f"kafkawire[{','.join(EXTRAS)}] @ {wheel.as_uri()}", *lowest(pyproject["project"])]
    done = subprocess.run([*pip, *requirements], capture_output=True, text=True, check=False)
    if done.returncode != 0 and re.search(r"from versions: none|connection", done.stderr, flags=re.IGNORECASE):
        _lacking(done.stderr)
    assert done.returncode == 0, done.stderr
    ran = installed.run("python", root / ".ci" / "try_installation.py", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr


def _lacking(reason: str) -> None:
    reason_text = f"needs a package index: {reason.strip()[-300:]}"
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(f"{reason_text} (in continuous integration this is not skipped)", pytrace=False)
    pytest.skip(reason_text)
