"""``kafkawire specs``."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.release_jars import Releases, field, message

from kafkawire.cli.app import main

NAME = field("Name", "string", "0+")


@pytest.fixture
def releases(tmp_path: Path) -> Releases:
    made = Releases(tmp_path)
    made.add("1.0", [message(f"M{number}", "0-1", [NAME]) for number in range(30)])
    made.add("2.0", [message("M1", "1-2", [field("Title", "string", "0+")])], pinned=False)
    return made


def import_(releases: Releases, *words: str) -> int:
    paths = ["--sources", str(releases.sources), "--specs", str(releases.specs), "--offline-jars", str(releases.jars)]
    return main(["specs", "import", *paths, *words])


def test_import_tells_what_it_did(releases: Releases, capsys: pytest.CaptureFixture[str]) -> None:
    assert import_(releases, "--pin") == 0

    told = capsys.readouterr().out
    rows = [line.split() for line in told.splitlines()]
    assert ["1.0", "30", "0", "60", "59", "1", "0", "0"] in rows
    assert ["2.0", "1", "0", "2", "2", "0", "0", "0"] in rows
    assert ["merged", "30", "61"] in rows
    assert "1.0 M1 1 renamed: Name is now Title" in told
    assert "pinned the sha256 of org.example:one:2.0" in told
    assert "wrote 12 more files" in told
    assert "32 files written, 0 removed, 0 unchanged" in told


def test_import_again_tells_that_nothing_changed(releases: Releases, capsys: pytest.CaptureFixture[str]) -> None:
    import_(releases, "--pin")
    capsys.readouterr()

    assert import_(releases) == 0
    assert "0 files written, 0 removed, 32 unchanged" in capsys.readouterr().out


def test_one_file_is_no_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Releases(tmp_path)
    made.add("1.0", [message(f"M{number}", "0", [field("Name", "string", "0+")]) for number in range(20)])
    import_(made, "--pin")
    assert "wrote 1 more file\n" in capsys.readouterr().out
    (made.specs / "clients" / "M0.json").unlink()
    import_(made)
    assert "\n1 file written, 0 removed, 21 unchanged" in capsys.readouterr().out


def test_a_failed_import_ends_with_1_and_the_reasons(releases: Releases, capsys: pytest.CaptureFixture[str]) -> None:
    assert import_(releases) == 1

    told = capsys.readouterr().err
    assert "kafkawire: the import failed:\n  org.example:one:2.0 has no sha256 in the sources" in told
    assert "Traceback" not in told
    assert not (releases.specs / "clients").exists()


def test_check_holds_definitions_against_their_releases(releases: Releases, capsys: pytest.CaptureFixture[str]) -> None:
    import_(releases, "--pin")
    capsys.readouterr()

    assert main(["specs", "check", "--specs", str(releases.specs)]) == 0
    assert capsys.readouterr().out == "30 messages hold 62 versions of 1.0, 2.0 unchanged\n"

    changed = releases.specs / "clients" / "M2.json"
    changed.write_text(changed.read_text().replace("string", "bytes"))
    assert main(["specs", "check", "--specs", str(releases.specs)]) == 1
    assert "1.0 M2 0: the layout of M2 0 is not that of the release" in capsys.readouterr().err


def test_check_needs_a_record_of_releases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "A.json").write_text("{}")

    assert main(["specs", "check", "--specs", str(tmp_path)]) == 1
    assert "has no record of releases" in capsys.readouterr().err
