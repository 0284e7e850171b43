"""The package that is generated from the synthetic definitions of this folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from tests.made.packages import generated, import_package

from kafkawire.codegen.generate import Target

DEFINITIONS = Path(__file__).parent / "definitions"


@dataclass(frozen=True)
class GoldenPackage:
    """Where the package and its tests lie, and the package itself."""

    root: Path
    tests: Path
    module: ModuleType


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory) -> GoldenPackage:
    """``synthetic.protocol``, generated with its tests and imported."""
    root = tmp_path_factory.mktemp("golden")
    target = Target(DEFINITIONS, "synthetic.protocol", root, root / "tests")
    assert generated(target) is not None
    return GoldenPackage(root, root / "tests", import_package(root, "synthetic.protocol"))


Mypy = Callable[..., list[str]]
"""Runs mypy --strict in a folder and returns its lines, without the last one if it reports success."""


@pytest.fixture(scope="session")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> Mypy:
    """Mypy as a user of generated code has it, without the settings of this repository; its cache is kept."""
    cache = tmp_path_factory.mktemp("mypy")

    def run(folder: Path, *arguments: str) -> list[str]:
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), "--config-file", "", *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return [line for line in done.stdout.splitlines() if not line.startswith("Success:")]

    return run
