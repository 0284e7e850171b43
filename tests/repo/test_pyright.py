"""pyright accepts the examples, the programs of the pages, and what reads tables."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import msgspec
import pytest
from tests.pages.page import blocks
from tests.pages.proofs import PAGES, ROOT

pytestmark = pytest.mark.extended

VERSION = "1.1.414"
"""Pinned, since a newer one may see more."""

FRAGMENTS = {
    "docs/conformance.md",
    "docs/how-to/own-definitions.md",
    "docs/how-to/prepare-a-test-broker.md",
    "docs/how-to/recipes-for-clients.md",
}
"""Pages whose programs need fixtures of these tests, a package that the reader has generated, or clients without types,
and those whose blocks are files of their own.
"""

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
    """The examples, the programs of each page, on the lines that they have there, and the modules that these import."""
    programs = {path.name: path.read_text() for path in (ROOT / "examples").glob("*.py")}
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        lines: list[str] = []
        for block in blocks(page.read_text()):
            if block.language == "python":
                if block.title.endswith(".py") and f"from {Path(block.title).stem} import" in page.read_text():
                    programs[block.title] = block.text
                else:
                    lines += [""] * (block.line - len(lines)) + block.text.splitlines()
        if lines and name not in FRAGMENTS:
            programs[f"{name.replace('/', '.')}.py"] = "\n".join(lines) + "\n"
    for name, text in programs.items():
        (folder / name).write_text(text)
    return [folder / name for name in programs]


def findings(folder: Path, programs: list[Path], interpreter: str) -> list[str]:
    """What pyright reports about programs, with the packages of an interpreter."""
    settings = {
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "include": [path.name for path in programs],
        "extraPaths": [str(ROOT / source) for source in ("src", "generator", "generated")],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [*pyright_command(), "--project", str(folder), "--pythonpath", interpreter, "--outputjson"]
    ran = subprocess.run(command, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, check=False)
    report = msgspec.json.decode(ran.stdout, type=Report)
    assert report.summary.files_analyzed == len(programs)
    return [
        f"{Path(found.file).name}:{found.range.start.line + 1}: {found.message}" for found in report.general_diagnostics
    ]


_READS_A_TABLE = """
from kafkawire.logs import ReadOptions, RecordBatch, read_table


def names(batch: RecordBatch) -> list[str]:
    return [str(row["principal"]) for row in batch.to_pylist()]


for batch in read_table("acl_history", "data", ReadOptions()):
    print(batch.num_rows, batch.num_columns, batch.column_names, batch.nbytes, names(batch), batch.to_pydict()["host"])
"""

_READS_IT_INTO_PYARROW = """
import pyarrow as pa

from kafkawire.logs import read_table


def table_of(name: str) -> pa.Table:
    return pa.Table.from_batches(read_table(name, "data"))


def first_of(name: str) -> pa.RecordBatch:
    return next(read_table(name, "data")).slice(0, 1)
"""


def test_rows_of_tables_are_typed_without_the_types_of_pyarrow(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(_READS_A_TABLE)
    assert findings(tmp_path, [program], interpreter_without("pyarrow-stubs", tmp_path / "other")) == []


def test_examples_pages_and_tables_as_batches_of_pyarrow_are_typed_for_pyright_too(tmp_path: Path) -> None:
    """In one run, which loads the types of kafkawire and pyarrow once."""
    programs = {"reads_a_table.py": _READS_A_TABLE, "reads_it_into_pyarrow.py": _READS_IT_INTO_PYARROW}
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
    written = [*written_to(tmp_path), *(tmp_path / name for name in programs)]
    assert findings(tmp_path, written, sys.executable) == []


def interpreter_without(package: str, folder: Path) -> str:
    """An interpreter that has the packages of this one, except for one and for those that are installed in place."""
    venv.create(folder, with_pip=False)
    (own,) = folder.glob("lib/python*/site-packages")
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if path.suffix != ".pth" and path.name not in {package, "__pycache__", "kafkawire"}:
            (own / path.name).symlink_to(path)
    return str(folder / "bin" / "python")
