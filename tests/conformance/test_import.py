"""The committed definitions and error codes are what the import makes of the release jars."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.apache_kafka.prerequisites import java, lacking, program
from tests.apache_kafka.releases import REPOSITORY, newest_release, unpublished

from kafkawire.codegen.importing.addition import AddedRelease, add_release
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.run import ImportRequest, import_specs
from kafkawire.codegen.merge.released_versions import read_released_versions
from kafkawire.codegen.parse.error_codes import read_error_codes
from kafkawire.codegen.parse.meanings import MEANINGS_FILE

pytestmark = [pytest.mark.conformance, pytest.mark.extended]

SPECS = REPOSITORY / "specs"


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, AddedRelease]:
    """The newest release, added with Maven and Java to a fresh import of the others."""
    program("mvn")
    java()
    folder = tmp_path_factory.mktemp("import") / "specs"
    folder.mkdir()
    sources, newest = SPECS.joinpath("sources.toml").read_text("utf-8"), newest_release()
    older = re.sub(rf'\[\[releases\]\]\nversion = "{re.escape(newest)}".*?\n\n(?=#|\[\[)', "", sources, flags=re.DOTALL)
    decided = rf'\[\[decisions\]\]\n(?:[^\n\[].*\n)*newer = "{re.escape(newest)}"\n(?:[^\n\[].*\n)*\n?'
    try:
        (folder / "sources.toml").write_text(re.sub(decided, "", older), "utf-8")
        import_specs(ImportRequest(folder / "sources.toml", folder), lambda _: None)
        (folder / "sources.toml").write_text(older, "utf-8")
        release = add_release(newest, folder, offline_jars=None, generate=lambda _: None, progress=lambda _: None)
    except SpecsImportError as error:
        if error.problems[0].startswith("Maven could not fetch"):
            lacking(str(error))
        raise
    return folder, release


def test_adding_the_newest_release_to_the_others_writes_the_committed_files(added: tuple[Path, AddedRelease]) -> None:
    folder, release = added

    assert release.result.notes == ()
    fresh = {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}
    committed = {
        str(path.relative_to(SPECS)): path.read_text("utf-8")
        for path in SPECS.rglob("*")
        if path.is_file() and "proposals" not in path.parts and path.name != MEANINGS_FILE
    }
    assert fresh.keys() == committed.keys()
    assert [name for name in fresh if fresh[name] != committed[name]] == []


def test_what_a_release_brings_is_reported(added: tuple[Path, AddedRelease]) -> None:
    _, release = added

    own = {row.merged_message for row in read_released_versions(SPECS) if row.release == newest_release()}
    assert {message.name for message in release.new_messages} | release.new_versions.keys() <= own
    assert {code.code for code in release.error_codes} <= {code.code for code in read_error_codes(SPECS)}
    assert {*release.unpublished, *release.without_definitions} <= unpublished(newest_release())


def test_error_codes_equal_the_enumeration_of_the_jar(added: tuple[Path, AddedRelease]) -> None:
    folder, _ = added

    assert (folder / "error-codes.csv").read_text("utf-8") == (SPECS / "error-codes.csv").read_text("utf-8")


@pytest.mark.nightly  # tests/unit/codegen/importing has it for small releases
def test_importing_over_the_import_touches_nothing(added: tuple[Path, AddedRelease]) -> None:
    folder, first = added
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}

    again = import_specs(ImportRequest(folder / "sources.toml", folder), lambda _: None)

    assert (again.changes.written, again.changes.removed) == ((), ())
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert again.versions == first.result.versions
