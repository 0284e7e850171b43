"""Reads definition files from a git repository at a ref, without a checkout.

The content of a repository is not trusted: git is called without a shell, a ref cannot be read as an option, contents
are read by object id and stay in memory, and sizes are limited before anything is read.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kafkawire.codegen.evolve.side import OriginError

MAXIMUM_FILES = 10_000
MAXIMUM_FILE_BYTES = 1 << 20
MAXIMUM_BYTES = 64 << 20
_TIMEOUT_SECONDS = 120
_TEST_FOLDERS = {"test", "tests"}


@dataclass(frozen=True, slots=True)
class GitFiles:
    """Files at a ref.

    Attributes:
        root: the folder, or the one file, by its path from the root of the repository; empty for that root itself.
        contents: path below `root` to content; a single file has the empty path.
        is_file: whether `root` is one file.
    """

    root: str
    contents: Mapping[str, bytes]
    is_file: bool = False


@dataclass(frozen=True, slots=True)
class _Blob:
    path: str
    object_id: str
    size: int


class GitRepository:
    """The repository of a working folder."""

    def __init__(self, folder: Path) -> None:
        """Find the repository.

        Raises:
            OriginError: if git is not installed, or `folder` is not in a repository.
        """
        program = shutil.which("git")
        if program is None:
            raise OriginError("git:REF needs git, which is not on the path: install it")
        self._program = program
        self._folder = folder
        done = self._git("rev-parse", "--show-toplevel")
        if done.returncode:
            raise OriginError(f"git:REF is read from the repository of the current folder: {_message_of(done)}")
        self.root = Path(os.fsdecode(done.stdout).removesuffix("\n"))

    def read(self, ref: str, path: str) -> GitFiles:
        """The ``*.json`` files below a path, or the one file there.

        Args:
            ref: a branch, tag, commit or anything else that names one.
            path: a folder or file from the root of the repository, or with ``./`` from the working folder.

        Raises:
            OriginError: if there is no such ref or path, or the files are too many or too large.
        """
        tree, name = self._tree_of(ref), self._path_from_root(path)
        done = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{tree}:{name}")
        if done.returncode:
            raise OriginError(f"git:{ref}:{path}: there is no {name} at {ref}; name a path that is there: git:REF:PATH")
        found = done.stdout.decode().strip()
        is_file = self._answer("cat-file", "-t", found).strip() == b"blob"
        if is_file:
            size = int(self._answer("cat-file", "-s", found))
            blobs = [_Blob("", found, size)]
        else:
            blobs = [blob for blob in self._list(found) if blob.path.endswith(".json")]
        for blob in blobs:
            if blob.size > MAXIMUM_FILE_BYTES:
                where = posixpath.join(name, blob.path) if blob.path else name
                raise OriginError(f"git:{ref}:{where} has {blob.size} bytes; at most {MAXIMUM_FILE_BYTES} are read")
        return GitFiles(name, self._contents(blobs, ref), is_file)

    def find(self, ref: str) -> GitFiles:
        """All definition files at a ref, except those below folders named ``test`` or ``tests``.

        The deepest folder that contains all of them is the folder of definitions.

        Raises:
            OriginError: if there is no such ref, or it has no definitions.
        """
        blobs = [
            blob
            for blob in self._list(self._tree_of(ref))
            if blob.path.endswith(".json")
            and blob.size <= MAXIMUM_FILE_BYTES
            and not _TEST_FOLDERS.intersection(PurePosixPath(blob.path).parts)
        ]
        contents = {path: data for path, data in self._contents(blobs, ref).items() if _is_definition(data)}
        if not contents:
            raise OriginError(
                f"git:{ref}: there are no definitions outside of tests; name their folder: git:{ref}:PATH"
            )
        root = posixpath.commonpath([posixpath.dirname(path) for path in contents])
        return GitFiles(root, {posixpath.relpath(path, root or "."): data for path, data in contents.items()})

    def path_of(self, path: Path) -> str:
        """A path on disk, as `read` takes it.

        Raises:
            OriginError: if it is not in this repository.
        """
        absolute = path.resolve()
        root = self.root.resolve()
        if not absolute.is_relative_to(root):
            raise OriginError(
                f"{path} is not in the repository {self.root}: name what to compare it with, git:REF:PATH"
            )
        name = absolute.relative_to(root).as_posix()
        return "" if name == "." else name

    def _tree_of(self, ref: str) -> str:
        done = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{tree}}")
        if done.returncode or not ref:
            raise OriginError(
                f"git:{ref}: the repository has no such ref; if the clone is shallow, or of one branch, fetch it first "
                "(git fetch origin REF)"
            )
        return done.stdout.decode().strip()

    def _path_from_root(self, path: str) -> str:
        here = ""
        if path == "." or path.startswith(("./", "../")):
            here = os.fsdecode(self._answer("rev-parse", "--show-prefix")).removesuffix("\n")
        name = posixpath.normpath(posixpath.join(here, path))
        if name.startswith(("../", "/")) or name == "..":
            raise OriginError(f"{path} is not inside the repository {self.root}: name a path below it")
        return "" if name == "." else name

    def _list(self, tree: str) -> Iterator[_Blob]:
        """The regular files of a tree, without links and submodules."""
        listed = self._answer("ls-tree", "-r", "-z", "--long", "--full-tree", tree)
        for entry in os.fsdecode(listed).split("\0"):
            facts, _, path = entry.partition("\t")
            if facts.startswith("100"):
                _, _, object_id, size = facts.split()
                if not size.isdigit():
                    raise _unreadable(path, self.root)
                yield _Blob(path, object_id, int(size))

    def _contents(self, blobs: Sequence[_Blob], ref: str) -> dict[str, bytes]:
        size = sum(blob.size for blob in blobs)
        if len(blobs) > MAXIMUM_FILES or size > MAXIMUM_BYTES:
            what = f"{len(blobs)} files of {size} bytes are too many"
            raise OriginError(f"git:{ref}: {what}; name the folder of definitions: git:{ref}:PATH")
        if not blobs:
            return {}
        object_ids = "".join(f"{blob.object_id}\n" for blob in blobs).encode()
        answer = self._answer("cat-file", "--batch", standard_input=object_ids)
        contents: dict[str, bytes] = {}
        offset = 0
        for blob in blobs:
            start = answer.find(b"\n", offset) + 1
            if answer[offset:start].split() != [blob.object_id.encode(), b"blob", str(blob.size).encode()]:
                raise _unreadable(blob.path, self.root)
            contents[blob.path] = answer[start : start + blob.size]
            offset = start + blob.size + 1
        return contents

    def _answer(self, *arguments: str, standard_input: bytes = b"") -> bytes:
        """The output of a git command that succeeds unless the repository is damaged."""
        done = self._git(*arguments, standard_input=standard_input)
        if done.returncode:
            raise OriginError(f"git {arguments[0]} fails in {self.root}: {_message_of(done)}")
        return done.stdout

    def _git(self, *arguments: str, standard_input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                [self._program, *arguments],
                cwd=self._folder,
                input=standard_input,
                capture_output=True,
                env={**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"},
                timeout=_TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise OriginError(f"git {arguments[0]} did not finish within {_TIMEOUT_SECONDS} seconds") from None


def _is_definition(content: bytes) -> bool:
    """Whether a JSON file looks like a definition; reading it finds its errors."""
    return b'"validVersions"' in content and b'"type"' in content


def _unreadable(path: str, root: Path) -> OriginError:
    return OriginError(f"git cannot read {path} in {root}; check the repository with git fsck")


def _message_of(done: subprocess.CompletedProcess[bytes]) -> str:
    return os.fsdecode(done.stderr).strip().removeprefix("fatal: ") or "git prints no message"
