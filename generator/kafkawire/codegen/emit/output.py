"""Writing generated files: only what changed, all or nothing, and never a file that the generator did not write.

Each output folder has a manifest with the digest of everything that went in and of every file that came out. A
later run compares: same input and untouched files mean that there is nothing to do; the same unformatted text means
that the formatted file can stay.
"""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

MANIFEST = "kafkawire-manifest.json"


class FileDigest(msgspec.Struct, frozen=True):
    """Digests of one file: of its text before formatting and of what was written."""

    raw: str
    written: str


class Manifest(msgspec.Struct, frozen=True):
    """The inputs that a folder was generated from, and its files.

    Attributes:
        inputs: digest of definitions, templates and generator.
        files: path relative to the folder to its digests.
    """

    inputs: str = ""
    files: dict[str, FileDigest] = {}


@dataclass(frozen=True, slots=True)
class Content:
    """The content that an output folder shall have.

    Attributes:
        folder: the folder.
        raw: path relative to the folder to the text before formatting.
        files: the same to the text that is written.
    """

    folder: Path
    raw: Mapping[str, str]
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Changes:
    """What a write did, as paths relative to the folder."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int


def digest(data: bytes) -> str:
    """A digest for detecting changes of content."""
    return hashlib.sha256(data).hexdigest()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder; an empty one where there is none or it cannot be read."""
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError):
        return Manifest()


def is_current(folder: Path, inputs: str) -> bool:
    """Whether the folder was generated from these inputs and its files have not changed since."""
    manifest = read_manifest(folder)
    return manifest.inputs == inputs and all(
        _digest_of(folder / path) == known.written for path, known in manifest.files.items()
    )


def reusable_files(folder: Path, raw: Mapping[str, str]) -> dict[str, str]:
    """Formatted texts that can stay: their unformatted text and their files have not changed."""
    manifest = read_manifest(folder)
    kept = {}
    for path, text in raw.items():
        known = manifest.files.get(path)
        if known and known.raw == digest(text.encode()) and _digest_of(folder / path) == known.written:
            kept[path] = (folder / path).read_text("utf-8")
    return kept


def differences(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Paths whose content in the folder is not what the generator would write, missing and surplus ones included."""
    wrong = [path for path, text in files.items() if _digest_of(folder / path) != digest(text.encode())]
    wrong += [path for path in read_manifest(folder).files if path not in files and (folder / path).exists()]
    return sorted(wrong)


def write_folders(contents: Iterable[Content], inputs: str) -> list[Changes]:
    """Bring folders to the given state, all of them or none.

    Everything that changed is first written beside its place; only when all of that has worked is it moved there, and
    are files of an earlier run that are no longer generated removed. Manifests go last, so that the next run
    notices one that was interrupted.

    Raises:
        OSError: if a file cannot be written; the folders are then as they were.
    """
    staging = _Staging()
    try:
        staged = [_stage_folder(content, inputs, staging) for content in contents]
    except BaseException:
        staging.undo()
        raise
    return [_commit(folder) for folder in staged]


def foreign_files(folder: Path, planned: Collection[str], is_ours: Callable[[Path], bool]) -> list[Path]:
    """Files that no generator wrote: with a manifest those that would be overwritten, else all with these suffixes."""
    known = read_manifest(folder).files
    if (folder / MANIFEST).is_file():
        found = [folder / path for path in planned if path not in known]
    else:
        kinds = sorted({Path(path).suffix for path in planned})
        found = [path for kind in kinds for path in sorted(folder.rglob(f"*{kind}"))]
    return [path for path in found if path.exists() and not is_ours(path)]


@dataclass(frozen=True, slots=True)
class _StagedFolder:
    """A folder whose changes lie ready: targets with their temporaries, and what is no longer wanted."""

    content: Content
    changed: Mapping[str, Path]
    removed: tuple[str, ...]
    manifest: Path


class _Staging:
    """The temporary files and new folders of a run, so that they can be taken back."""

    def __init__(self) -> None:
        self._made: list[Path] = []

    def add(self, target: Path, data: bytes) -> Path:
        """Write what shall become a file beside it."""
        self._make_folder(target.parent)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "a folder stands where a file shall be written", str(target))
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        self._made.append(Path(name))
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644)
        return Path(name)

    def undo(self) -> None:
        """Remove everything again."""
        for path in reversed(self._made):
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink()

    def _make_folder(self, folder: Path) -> None:
        if not folder.exists():
            self._make_folder(folder.parent)
            folder.mkdir()
            self._made.append(folder)


def _stage_folder(content: Content, inputs: str, staging: _Staging) -> _StagedFolder:
    folder, files = content.folder, content.files
    changed = {
        path: staging.add(folder / path, text.encode())
        for path, text in files.items()
        if _digest_of(folder / path) != digest(text.encode())
    }
    digests = {
        path: FileDigest(digest(content.raw[path].encode()), digest(text.encode()))
        for path, text in sorted(files.items())
    }
    manifest = msgspec.json.format(msgspec.json.encode(Manifest(inputs, digests)), indent=1) + b"\n"
    removed = [path for path in read_manifest(folder).files if path not in files and (folder / path).is_file()]
    return _StagedFolder(content, changed, tuple(removed), staging.add(folder / MANIFEST, manifest))


def _commit(staged: _StagedFolder) -> Changes:
    folder = staged.content.folder
    for path, temporary in staged.changed.items():
        temporary.replace(folder / path)
    for path in staged.removed:
        (folder / path).unlink()
        _remove_empty_folders((folder / path).parent, folder)
    staged.manifest.replace(folder / MANIFEST)
    unchanged = len(staged.content.files) - len(staged.changed)
    return Changes(tuple(staged.changed), staged.removed, unchanged)


def _digest_of(path: Path) -> str:
    try:
        return digest(path.read_bytes())
    except OSError:
        return ""


def _remove_empty_folders(folder: Path, root: Path) -> None:
    while folder != root and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
