"""Definitions out of jars, which are input from outside."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from kafkawire.codegen.importing import extract
from kafkawire.codegen.importing.extract import extract_definitions
from kafkawire.codegen.importing.problem import SpecsImportError


def jar_of(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as jar:
        for name, content in entries.items():
            jar.writestr(name, content)
    return path


def test_file_discovery(tmp_path: Path) -> None:
    entries = {"m/B.json": b"b", "m/A.json": b"a", "m/deeper/C.json": b"c", "m/D.txt": b"d", "E.json": b"e"}

    assert extract_definitions(jar_of(tmp_path / "jar", entries), "m") == {"m/A.json": "a", "m/B.json": "b"}


def test_a_jar_without_definitions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecsImportError, match="has no definitions in m"):
        extract_definitions(jar_of(tmp_path / "jar", {"n/A.json": b""}), "m")


def test_a_jar_that_may_lack_definitions_gives_none(tmp_path: Path) -> None:
    jar = jar_of(tmp_path / "jar", {"n/A.json": b""})

    assert extract_definitions(jar, "m", may_lack=True) == {}


def test_something_else_than_a_jar_is_refused(tmp_path: Path) -> None:
    (tmp_path / "jar").write_bytes(b"not a jar")

    with pytest.raises(SpecsImportError, match="not a jar"):
        extract_definitions(tmp_path / "jar", "m")


def test_a_damaged_entry_is_refused(tmp_path: Path) -> None:
    path = jar_of(tmp_path / "jar", {"m/A.json": b"some content that is long enough to be packed" * 9})
    content = bytearray(path.read_bytes())
    content[45:60] = bytes(15)
    path.write_bytes(content)

    with pytest.raises(SpecsImportError, match="not a jar"):
        extract_definitions(path, "m")


def test_an_entry_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = jar_of(tmp_path / "jar", {"m/A.json": bytes(extract.MAXIMUM_FILE_BYTES + 1)})

    with pytest.raises(SpecsImportError, match=r"m/A\.json is larger than 1048576 bytes"):
        extract_definitions(path, "m")


def test_too_many_definitions_are_refused(tmp_path: Path) -> None:
    names = [f"m/{number}.json" for number in range(extract.MAXIMUM_FILES + 1)]

    with pytest.raises(SpecsImportError, match="2001 definitions; at most 2000"):
        extract_definitions(jar_of(tmp_path / "jar", dict.fromkeys(names, b"")), "m")


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecsImportError, match=r"m/A\.json is not UTF-8"):
        extract_definitions(jar_of(tmp_path / "jar", {"m/A.json": b"\xff"}), "m")
