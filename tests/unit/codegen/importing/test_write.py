"""Files are replaced all together or not at all, and left alone where they are right."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.codegen.importing.write import replace_files


def content_of(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


def test_files_become_what_is_wanted(tmp_path: Path) -> None:
    replace_files(tmp_path, {"a/A.json": "1", "a/B.json": "1", "table.csv": "1"}, ["a"])

    changes = replace_files(tmp_path, {"a/A.json": "1", "a/C.json": "2", "table.csv": "2"}, ["a"])

    assert (changes.written, changes.removed, changes.unchanged) == (("a/C.json", "table.csv"), ("a/B.json",), 1)
    assert content_of(tmp_path) == {"a/A.json": "1", "a/C.json": "2", "table.csv": "2"}


def test_what_is_right_is_not_touched(tmp_path: Path) -> None:
    files = {"a/A.json": "1", "table.csv": "1"}
    replace_files(tmp_path, files, ["a"])
    before = {path: path.stat().st_mtime_ns for path in [tmp_path, *tmp_path.rglob("*")]}

    changes = replace_files(tmp_path, files, ["a"])

    assert (changes.written, changes.unchanged) == ((), 2)
    assert {path: path.stat().st_mtime_ns for path in [tmp_path, *tmp_path.rglob("*")]} == before


def test_what_is_not_owned_stays(tmp_path: Path) -> None:
    (tmp_path / "proposals").mkdir()
    (tmp_path / "proposals" / "A.json").write_text("mine")
    (tmp_path / "notes.txt").write_text("mine")

    replace_files(tmp_path, {"a/A.json": "1"}, ["a"])

    assert content_of(tmp_path) == {"proposals/A.json": "mine", "notes.txt": "mine", "a/A.json": "1"}


def test_a_failure_leaves_everything_as_it_was(tmp_path: Path) -> None:
    replace_files(tmp_path, {"a/A.json": "1", "a/B.json": "1"}, ["a"])
    # A file stands where the last folder must go, so moving in fails half-way.
    (tmp_path / "z.csv").mkdir()
    (tmp_path / "z.csv" / "kept").write_text("1")
    before = content_of(tmp_path)

    with pytest.raises(OSError, match="kept"):
        replace_files(tmp_path, {"a/A.json": "2", "a/C.json": "2", "z.csv/kept/file": "2"}, ["a"])

    assert content_of(tmp_path) == before
