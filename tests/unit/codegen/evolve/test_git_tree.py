"""Definitions at a git ref: what is found there, and what is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kafkawire.codegen.evolve import git_tree
from kafkawire.codegen.evolve.git_tree import GitRepository
from kafkawire.codegen.evolve.side import OriginError

DEFINITION = '{"type": "data", "name": "Example", "validVersions": "0"}'


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose first commit is tagged ``first``, with two definitions below ``specs``."""
    for variable in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(variable, raising=False)
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    write(root, "specs/clients/A.json", DEFINITION)
    write(root, "specs/storage/B.json", DEFINITION)
    write(root, "specs/README.md", "no definition")
    commit(root)
    git(root, "tag", "first")
    return root


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "change")


def test_a_folder_is_read_as_it_was_at_the_ref(repository: Path) -> None:
    write(repository, "specs/clients/A.json", "changed")
    write(repository, "specs/clients/C.json", "added")
    commit(repository)

    files = GitRepository(repository).read("first", "specs")

    assert files.root == "specs"
    assert files.contents == {"clients/A.json": DEFINITION.encode(), "storage/B.json": DEFINITION.encode()}
    assert not files.is_file


def test_a_single_file_is_read(repository: Path) -> None:
    files = GitRepository(repository).read("HEAD", "specs/clients/A.json")

    assert (files.root, files.contents, files.is_file) == ("specs/clients/A.json", {"": DEFINITION.encode()}, True)


def test_any_name_of_a_commit_is_a_ref(repository: Path) -> None:
    write(repository, "specs/clients/A.json", "changed")
    commit(repository)

    assert GitRepository(repository).read("HEAD~1", "specs/clients/A.json").contents[""] == DEFINITION.encode()


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("specs", "specs"), ("specs/", "specs"), ("./clients", "specs/clients"), (".", "specs"),
        ("../specs/storage", "specs/storage"), ("", ""),
    ],
)  # fmt: skip
def test_paths_count_from_the_root_or_with_a_dot_from_the_working_folder(
    repository: Path, path: str, root: str
) -> None:
    files = GitRepository(repository / "specs").read("main", path)

    assert files.root == root
    assert files.contents != {}


@pytest.mark.parametrize("path", ["..", "../x", "specs/../../x", "/etc"])
def test_a_path_outside_the_repository_is_refused(repository: Path, path: str) -> None:
    with pytest.raises(OriginError, match="is not inside the repository"):
        GitRepository(repository).read("main", path)


@pytest.mark.parametrize("ref", ["nowhere", "--all", "-h", "", "main\n", "main:specs/README.md", "refs/heads"])
def test_an_unknown_ref_is_reported_and_never_read_as_an_option(repository: Path, ref: str) -> None:
    with pytest.raises(OriginError, match="the repository has no such ref; if the clone is shallow"):
        GitRepository(repository).read(ref, "specs")


def test_a_path_that_the_ref_lacks_is_reported(repository: Path) -> None:
    with pytest.raises(OriginError, match="there is no nothing at main"):
        GitRepository(repository).read("main", "nothing")


def test_links_and_other_repositories_are_not_followed(repository: Path) -> None:
    (repository / "specs" / "clients" / "Link.json").symlink_to("/etc/passwd")
    commit(repository)

    assert "clients/Link.json" not in GitRepository(repository).read("main", "specs").contents


def test_names_with_blanks_line_ends_and_letters_of_all_kinds_are_read(repository: Path) -> None:
    names = ["a b.json", "line\nend.json", "größe.json", 'quo"te.json']
    for name in names:
        write(repository, f"odd/{name}", DEFINITION)
    commit(repository)

    assert sorted(GitRepository(repository).read("main", "odd").contents) == sorted(names)


def test_contents_with_line_ends_and_without_any_are_distinguished(repository: Path) -> None:
    texts = {"a.json": "", "b.json": "\n", "c.json": "0123 blob 4\n", "d.json": "x"}
    for name, text in texts.items():
        write(repository, f"texts/{name}", text)
    commit(repository)

    files = GitRepository(repository).read("main", "texts")
    assert files.contents == {name: text.encode() for name, text in texts.items()}


def test_without_a_path_definitions_are_found_wherever_they_are(repository: Path) -> None:
    write(repository, "package.json", '{"name": "x", "type": "module"}')
    write(repository, "specs/tests/Example.json", DEFINITION)
    commit(repository)

    files = GitRepository(repository).find("main")

    assert files.root == "specs"
    assert sorted(files.contents) == ["clients/A.json", "storage/B.json"]


def test_definitions_of_several_modules_have_the_root_in_common(repository: Path) -> None:
    write(repository, "raft/src/main/resources/C.json", DEFINITION)
    commit(repository)

    files = GitRepository(repository).find("main")

    assert files.root == ""
    assert sorted(files.contents) == [
        "raft/src/main/resources/C.json", "specs/clients/A.json", "specs/storage/B.json",
    ]  # fmt: skip


def test_a_ref_without_definitions_is_reported(repository: Path) -> None:
    git(repository, "rm", "-q", "-r", "specs")
    write(repository, "settings.json", "{}")
    commit(repository)

    with pytest.raises(OriginError, match=r"git:main: there are no definitions outside of tests.*git:main:PATH"):
        GitRepository(repository).find("main")


def test_a_large_file_is_an_error_if_it_is_named_and_skipped_if_not(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, "specs/clients/Large.json", DEFINITION + " " * 1000)
    commit(repository)
    monkeypatch.setattr(git_tree, "MAXIMUM_FILE_BYTES", 1000)

    with pytest.raises(OriginError, match=r"git:main:specs/clients/Large.json has \d+ bytes; at most 1000 are read"):
        GitRepository(repository).read("main", "specs")
    with pytest.raises(OriginError, match=r"git:main:specs/clients/Large.json has \d+ bytes"):
        GitRepository(repository).read("main", "specs/clients/Large.json")
    assert sorted(GitRepository(repository).find("main").contents) == ["clients/A.json", "storage/B.json"]


@pytest.mark.parametrize("limit", ["MAXIMUM_FILES", "MAXIMUM_BYTES"])
def test_too_many_files_are_refused_before_they_are_read(
    repository: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(git_tree, limit, 1)

    with pytest.raises(OriginError, match=r"git:main: 2 files of 114 bytes are too many; name the folder"):
        GitRepository(repository).read("main", "specs")


def test_a_folder_in_no_repository_is_reported(tmp_path: Path) -> None:
    with pytest.raises(OriginError, match="not a git repository"):
        GitRepository(tmp_path)


def test_without_git_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(OriginError, match=r"git:REF needs git, .* install it"):
        GitRepository(tmp_path)


def test_a_lost_object_is_reported(repository: Path) -> None:
    done = subprocess.run(
        ["git", "rev-parse", "main:specs/clients/A.json"], cwd=repository, check=True, capture_output=True, text=True
    )
    name = done.stdout.strip()
    (repository / ".git" / "objects" / name[:2] / name[2:]).unlink()

    with pytest.raises(OriginError, match=r"git cannot read clients/A.json in .*git fsck"):
        GitRepository(repository).read("main", "specs")


def test_a_path_of_the_disk_is_named_from_the_root(repository: Path, tmp_path: Path) -> None:
    found = GitRepository(repository / "specs")

    assert found.path_of(repository / "specs" / "clients") == "specs/clients"
    assert found.path_of(repository) == ""
    assert found.path_of(repository / ".github") == ".github"
    with pytest.raises(OriginError, match="is not in the repository"):
        found.path_of(tmp_path)
