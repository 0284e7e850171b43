"""The import contracts, and the public names of the packages."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest


def test_import_contracts(root: Path) -> None:
    lint_imports = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([lint_imports, "--no-cache"], cwd=root, capture_output=True, text=True, check=False)
    assert "0 broken" in run.stdout, run.stdout + run.stderr
    assert run.returncode == 0


def packages() -> list[str]:
    namespace = importlib.import_module("kafkawire")
    return [found.name for found in pkgutil.iter_modules(namespace.__path__, "kafkawire.")]


@pytest.mark.parametrize("name", packages())
def test_a_package_has_a_docstring_and_a_list_of_names(name: str) -> None:
    package = importlib.import_module(name)
    assert package.__doc__
    offered = list(getattr(package, "__all__", []))
    assert len(offered) == len(set(offered))
    assert [public for public in offered if not hasattr(package, public)] == []


def test_the_command_line_starts_without_the_generator() -> None:
    program = (
        "import sys; from kafkawire.cli.app import main; main(['--version']); "
        "sys.exit(any(name.startswith(('kafkawire.codegen', 'jinja2', 'ruff')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).returncode == 0
