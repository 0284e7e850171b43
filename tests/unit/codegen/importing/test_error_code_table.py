"""Error codes printed by the release's classes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.made.release_jars import Releases, field, message

from kafkawire.codegen.importing.error_code_table import PROGRAM, read_error_codes_with_java
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.run import ImportRequest, ImportResult, import_specs
from kafkawire.codegen.parse.error_codes import ErrorCode

HEADING = "code,name,retriable,invalid_metadata"
WANTED = """
[error_codes]
artifact = "one"

[[error_codes.libraries]]
name = "log"
organisation = "org.example"
version = "1.7"
sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""


def java(folder: Path, script: str) -> str:
    path = folder / "java"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_java_is_given_the_jars_and_the_program(tmp_path: Path) -> None:
    command = java(tmp_path, f"echo \"$@\" > '{tmp_path}/asked'; echo {HEADING}; echo 7,REQUEST_TIMED_OUT,true,false")

    codes = read_error_codes_with_java(command, [Path("one.jar"), Path("log.jar")])

    assert codes == (ErrorCode(7, "REQUEST_TIMED_OUT", retriable=True, invalid_metadata=False),)
    assert (tmp_path / "asked").read_text() == f"-cp one.jar:log.jar {PROGRAM}\n"
    assert PROGRAM.is_file()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo no such class >&2; exit 1", "Java could not print the error codes:\nno such class"),
        ("echo nonsense", "the error codes that Java printed:1: the heading must be"),
    ],
)
def test_failures_of_java_are_reported(tmp_path: Path, script: str, message: str) -> None:
    with pytest.raises(SpecsImportError) as failed:
        read_error_codes_with_java(java(tmp_path, script), [])
    assert str(failed.value).startswith(message)


@pytest.fixture
def releases(tmp_path: Path) -> Releases:
    made = Releases(tmp_path)
    made.add("1.0", [message("A", "0", [field("Name", "string", "0+")])])
    made.sources.write_text(made.sources.read_text() + WANTED)
    return made


def run(releases: Releases) -> ImportResult:
    return import_specs(ImportRequest(releases.sources, releases.specs, releases.jars), lambda _: None)


def test_the_import_writes_the_table(releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java(tmp_path, f"echo {HEADING}; echo 0,NONE,false,false")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (releases.jars / "log-1.7.jar").touch()

    result = run(releases)

    assert result.notes == ()
    assert (releases.specs / "error-codes.csv").read_text() == f"{HEADING}\n0,NONE,false,false\n"


@pytest.mark.parametrize("lacking", ["java on the path", "jar of org.example:log:1.7"])
def test_without_java_or_its_libraries_the_table_stays_with_a_note(
    releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    (releases.specs / "error-codes.csv").write_text("as it was")
    if lacking.startswith("java"):
        monkeypatch.setenv("PATH", str(tmp_path / "empty"))
        (releases.jars / "log-1.7.jar").touch()

    result = run(releases)

    assert result.notes == (f"There is no {lacking}, so error-codes.csv was not updated.",)
    assert (releases.specs / "error-codes.csv").read_text() == "as it was"
