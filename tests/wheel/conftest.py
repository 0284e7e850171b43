"""The wheel and the sdist, built once, and environments in which the wheel is installed."""

from __future__ import annotations

import runpy
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.wheel.environments import Installed, make_environment
from tests.wheel.wheelhouse import Wheelhouse

Install = Callable[..., Installed]
"""Called with names of extras."""


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return Path(__file__).parents[2]


@pytest.fixture(scope="session")
def pyproject(root: Path) -> dict[str, Any]:
    """pyproject.toml, parsed."""
    return tomllib.loads((root / "pyproject.toml").read_text())


@pytest.fixture(scope="session")
def version(root: Path) -> str:
    """The version in the sources."""
    return str(runpy.run_path(str(root / "src" / "kafkawire" / "version.py"))["__version__"])


@pytest.fixture(scope="session")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built with the build backend of the development environment."""
    return build("wheel", root, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def sdist(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, built in the same way."""
    return build("sdist", root, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def install(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Install:
    """Makes an environment with the wheel and some of its extras; each combination of extras once."""
    folder = tmp_path_factory.mktemp("environments")
    wheelhouse = Wheelhouse(folder / "wheels")
    made: dict[frozenset[str], Installed] = {}

    def installed(*extras: str) -> Installed:
        key = frozenset(extras)
        if key not in made:
            made[key] = make_environment(folder / ("-".join(sorted(key)) or "plain"), wheel, extras, wheelhouse)
        return made[key]

    return installed


def build(kind: str, source: Path, folder: Path) -> Path:
    """The wheel or the sdist of a folder with sources."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built
