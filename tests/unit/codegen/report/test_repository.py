"""Paths from the root of a repository, wherever a check was started."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.codegen.report.entry import RepositoryPaths


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / "specs" / "clients").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "specs" / "clients" / "A.json").touch()
    (tmp_path / "Outside.json").touch()
    return root


@pytest.mark.parametrize(
    ("here", "file"), [(".", "specs/clients/A.json"), ("specs", "clients/A.json"), ("specs/clients", "A.json")]
)
def test_files_count_from_the_root(root: Path, here: str, file: str) -> None:
    assert RepositoryPaths(root / here).of(file) == "specs/clients/A.json"


def test_parents_and_absolute_paths_are_followed(root: Path) -> None:
    paths = RepositoryPaths(root / "specs")

    assert paths.of("../specs/./clients/A.json") == "specs/clients/A.json"
    assert paths.of(str(root / "specs" / "clients" / "A.json")) == "specs/clients/A.json"
    assert paths.of("clients") == "specs/clients"


def test_a_file_where_git_keeps_its_folder_elsewhere_marks_a_root_too(root: Path) -> None:
    (root / "specs" / ".git").write_text("gitdir: elsewhere")

    assert RepositoryPaths(root / "specs" / "clients").of("A.json") == "clients/A.json"


def test_files_outside_are_in_no_repository(root: Path) -> None:
    assert RepositoryPaths(root).of("../Outside.json") is None


def test_without_a_repository_paths_count_from_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "A.json").touch()

    assert RepositoryPaths(folder).of("A.json") == "A.json"


def test_a_link_is_annotated_itself(root: Path) -> None:
    (root / "Link.json").symlink_to(root / "specs" / "clients" / "A.json")

    assert RepositoryPaths(root).of("Link.json") == "Link.json"


@pytest.mark.parametrize(
    ("shown", "path"),
    [
        ("git:main:specs/Gone.json", "specs/Gone.json"),
        ("git:main:a:b.json", "a:b.json"),
        ("git:main", None),
        ("git:main:", None),
        ("kafka:3.9.2/clients/A.json", None),
        ("builtin/clients/A.json", None),
        ("missing.json", None),
    ],
)
def test_files_of_a_git_ref_are_known_by_the_path_there(root: Path, shown: str, path: str | None) -> None:
    assert RepositoryPaths(root).of(shown) == path
