"""pyright accepts the examples and the programs of the pages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from tests.repo.test_documentation import PAGES, ROOT, blocks

VERSION = "1.1.414"
"""Pinned, since a newer one may see more."""

FRAGMENTS = {"docs/conformance.md", "docs/how-to/own-definitions.md"}
"""Pages whose programs stand on fixtures of these tests, or on a package that the reader has generated."""

# pyright is no Python package: packages that bring it download it, or Node.js, past the lock.
_NPX = ("npx", "--yes", "--prefer-offline", f"pyright@{VERSION}")
ENVIRONMENT = {"npm_config_fetch_retries": "0", "npm_config_fetch_timeout": "20000"}
"""Variables for the command, so that it soon fails without a network."""


class Place(msgspec.Struct):
    line: int


class Range(msgspec.Struct):
    start: Place


class Diagnostic(msgspec.Struct):
    file: str
    message: str
    range: Range


class Summary(msgspec.Struct, rename="camel"):
    files_analyzed: int


class Report(msgspec.Struct, rename="camel"):
    general_diagnostics: list[Diagnostic]
    summary: Summary


def pyright_command() -> list[str]:
    """The command; the test is skipped where it cannot be had."""
    if shutil.which("npx") is None:
        pytest.skip("needs pyright: there is no npx on the path (Debian: apt-get install npm)")
    tried = subprocess.run(
        [*_NPX, "--version"], env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, check=False
    )
    if tried.returncode != 0:
        pytest.skip(f"needs pyright {VERSION}, which npx cannot get: {tried.stderr.strip()[-300:]}")
    return list(_NPX)


def written_to(folder: Path) -> list[Path]:
    """The examples, and the programs of each page, on the lines that they have there."""
    programs = {path.name: path.read_text() for path in (ROOT / "examples").glob("*.py")}
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        lines: list[str] = []
        for block in blocks(page):
            if block.language == "python":
                lines += [""] * (block.line - len(lines)) + block.text.splitlines()
        if lines and name not in FRAGMENTS:
            programs[f"{name.replace('/', '.')}.py"] = "\n".join(lines) + "\n"
    for name, text in programs.items():
        (folder / name).write_text(text)
    return [folder / name for name in programs]


def test_examples_and_pages_are_typed_for_pyright_too(tmp_path: Path) -> None:
    pyright, programs = pyright_command(), written_to(tmp_path)
    settings = {
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "include": [path.name for path in programs],
        "extraPaths": [str(ROOT / folder) for folder in ("src", "generator", "generated")],
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [*pyright, "--project", str(tmp_path), "--pythonpath", sys.executable, "--outputjson"]
    ran = subprocess.run(command, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, check=False)
    report = msgspec.json.decode(ran.stdout, type=Report)
    assert [
        f"{Path(found.file).name}:{found.range.start.line + 1}: {found.message}" for found in report.general_diagnostics
    ] == []
    assert report.summary.files_analyzed == len(programs)
