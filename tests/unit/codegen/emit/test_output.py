"""Writing generated files: only what changed, all or nothing, and never a file that is not ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafkawire.codegen.emit.output import (
    MANIFEST,
    Changes,
    Content,
    differences,
    foreign_files,
    is_current,
    read_manifest,
    reusable_files,
    write_folders,
)

FILES = {"a.py": "A = 1\n", "sub/b.py": "B = 2\n", "sub/deep/c.py": "C = 3\n"}


def content(folder: Path, **changed: str | None) -> Content:
    """FILES with changes; a name is the path without dots and slashes, None removes the file."""
    wanted = {path: changed.get(Path(path).stem, text) for path, text in FILES.items()}
    files = {path: text for path, text in wanted.items() if text is not None}
    return Content(folder, {path: f"raw {text}" for path, text in files.items()}, files)


def write(folder: Path, inputs: str = "1", **changed: str | None) -> Changes:
    return write_folders([content(folder, **changed)], inputs)[0]


def tree(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    """Everything below a folder with its time of change, folders without."""
    return {
        str(path.relative_to(folder)): (0, None) if path.is_dir() else (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
    }


def test_the_first_run_writes_everything(tmp_path: Path) -> None:
    assert write(tmp_path / "out") == Changes(tuple(FILES), (), 0)
    assert {path: (tmp_path / "out" / path).read_text() for path in FILES} == FILES
    assert is_current(tmp_path / "out", "1")
    assert not is_current(tmp_path / "out", "2")


def test_unchanged_files_keep_their_time(tmp_path: Path) -> None:
    write(tmp_path)
    for path in FILES:
        os.utime(tmp_path / path, ns=(1, 1))
    assert write(tmp_path, "2", b="B = 3\n") == Changes(("sub/b.py",), (), 2)
    times = {path: (tmp_path / path).stat().st_mtime_ns for path in FILES}
    assert times["a.py"] == times["sub/deep/c.py"] == 1
    assert times["sub/b.py"] > 1


def test_files_that_are_no_longer_generated_go_with_their_empty_folders(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "sub" / "mine.txt").write_text("keep")
    assert write(tmp_path, b=None, c=None) == Changes((), ("sub/b.py", "sub/deep/c.py"), 1)
    assert set(tree(tmp_path)) == {MANIFEST, "a.py", "sub", "sub/mine.txt"}


def test_a_file_that_somebody_changed_is_written_again(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "a.py").write_text("A = 'edited'\n")
    (tmp_path / "sub" / "b.py").unlink()
    assert not is_current(tmp_path, "1")
    assert write(tmp_path) == Changes(("a.py", "sub/b.py"), (), 1)
    assert is_current(tmp_path, "1")


def test_formatted_text_is_used_again_where_nothing_changed(tmp_path: Path) -> None:
    write(tmp_path)
    assert reusable_files(tmp_path, content(tmp_path).raw) == FILES
    (tmp_path / "a.py").write_text("edited")
    raw = {**content(tmp_path).raw, "sub/b.py": "something else", "new.py": "new"}
    assert reusable_files(tmp_path, raw) == {"sub/deep/c.py": FILES["sub/deep/c.py"]}


def test_differences_are_changed_missing_and_surplus_files(tmp_path: Path) -> None:
    write(tmp_path)
    assert differences(tmp_path, FILES) == []
    (tmp_path / "a.py").write_text("edited")
    (tmp_path / "sub" / "b.py").unlink()
    assert differences(tmp_path, {path: text for path, text in FILES.items() if "deep" not in path}) == [
        "a.py", "sub/b.py", "sub/deep/c.py",
    ]  # fmt: skip
    assert differences(tmp_path / "nothing", FILES) == sorted(FILES)


@pytest.mark.parametrize("octets", [b"", b"{", b"[]", b'{"inputs": 3}', b"\xff\xfe", b'{"files": {"a.py": 1}}'])
def test_a_broken_manifest_counts_as_none(tmp_path: Path, octets: bytes) -> None:
    write(tmp_path)
    (tmp_path / MANIFEST).write_bytes(octets)
    assert read_manifest(tmp_path) == read_manifest(tmp_path / "nothing")
    assert not is_current(tmp_path, "1")
    assert reusable_files(tmp_path, content(tmp_path).raw) == {}
    assert write(tmp_path) == Changes((), (), 3), "what was there is right, so only the manifest is written"
    assert is_current(tmp_path, "1")


def is_ours(path: Path) -> bool:
    return path.read_text().startswith(("A", "B", "C"))


def test_foreign_files_of_a_folder_without_manifest_are_all_its_python_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "theirs.py").write_text("print()")
    (tmp_path / "a.py").write_text("A = 0")
    (tmp_path / "notes.txt").write_text("x")
    assert foreign_files(tmp_path, FILES, is_ours) == [tmp_path / "sub" / "theirs.py"]
    assert foreign_files(tmp_path / "nothing", FILES, is_ours) == []


def test_foreign_files_of_a_generated_folder_are_those_in_the_way(tmp_path: Path) -> None:
    write(tmp_path, b=None)
    (tmp_path / "sub" / "b.py").write_text("print()")
    (tmp_path / "sub" / "beside.py").write_text("print()")
    assert foreign_files(tmp_path, FILES, is_ours) == [tmp_path / "sub" / "b.py"]


@pytest.mark.parametrize("obstacle", ["file", "folder"])
def test_a_run_that_fails_leaves_everything_as_it_was(tmp_path: Path, obstacle: str) -> None:
    package, tests = tmp_path / "package", tmp_path / "tests"
    write(package, c=None)
    if obstacle == "file":
        (package / "sub" / "deep").write_text("in the way")
    else:
        (package / "sub" / "deep" / "c.py").mkdir(parents=True)
    before = tree(tmp_path)
    with pytest.raises(OSError, match=r"c\.py|deep"):
        write_folders([content(tests), content(package, a="A = 2\n")], "2")
    assert tree(tmp_path) == before
    assert not tests.exists()


FULL_DISK = """
import resource, sys
from pathlib import Path
from kafkawire.codegen.emit.output import Content, write_folders
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
files = {"a.py": "A = 2", "fresh/b.py": "b" * 1999, "fresh/c.py": "c" * 2001}
try:
    write_folders([Content(Path(sys.argv[1]), files, files)], "2")
except OSError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
"""


def test_a_full_disk_leaves_everything_as_it_was(tmp_path: Path) -> None:
    write(tmp_path)
    before = tree(tmp_path)
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "File too large" in done.stdout
    assert tree(tmp_path) == before


def test_an_interrupted_move_is_noticed_by_the_next_run(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "a.py").write_text("A = 2\n")  # moved to its place already, while the manifest is still the old one
    assert not is_current(tmp_path, "2")
    assert write(tmp_path, "2", a="A = 2\n") == Changes((), (), 3)
    assert is_current(tmp_path, "2")


def test_no_temporary_files_stay(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path, "2", a="A = 5\n")
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {MANIFEST, "a.py", "b.py", "c.py"}
    assert (tmp_path / "a.py").stat().st_mode & 0o777 == 0o644
