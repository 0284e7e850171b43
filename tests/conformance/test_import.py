"""The committed definitions and error codes are what the import makes of the release jars."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.apache_kafka.prerequisites import java, lacking, program
from tests.apache_kafka.releases import REPOSITORY

from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.run import ImportRequest, ImportResult, import_specs

pytestmark = pytest.mark.conformance

SPECS = REPOSITORY / "specs"


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ImportResult]:
    """A fresh import with Maven and Java."""
    program("mvn")
    java()
    folder = tmp_path_factory.mktemp("import") / "specs"
    folder.mkdir()
    shutil.copy(SPECS / "sources.toml", folder)
    try:
        result = import_specs(ImportRequest(folder / "sources.toml", folder), lambda _: None)
    except SpecsImportError as error:
        if error.problems[0].startswith("Maven could not fetch"):
            lacking(str(error))
        raise
    return folder, result


def test_a_fresh_import_writes_the_committed_files(imported: tuple[Path, ImportResult]) -> None:
    folder, result = imported

    assert result.notes == ()
    assert result.pinned == ()
    fresh = {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}
    committed = {
        str(path.relative_to(SPECS)): path.read_text("utf-8")
        for path in SPECS.rglob("*")
        if path.is_file() and "proposals" not in path.parts
    }
    assert fresh.keys() == committed.keys()
    assert [name for name in fresh if fresh[name] != committed[name]] == []


def test_error_codes_equal_the_enumeration_of_the_jar(imported: tuple[Path, ImportResult]) -> None:
    folder, _ = imported

    assert (folder / "error-codes.csv").read_text("utf-8") == (SPECS / "error-codes.csv").read_text("utf-8")


def test_importing_over_the_import_touches_nothing(imported: tuple[Path, ImportResult]) -> None:
    folder, first = imported
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}

    again = import_specs(ImportRequest(folder / "sources.toml", folder), lambda _: None)

    assert (again.changes.written, again.changes.removed) == ((), ())
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert again.versions == first.versions
