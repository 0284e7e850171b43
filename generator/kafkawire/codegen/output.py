"""Writing generated files: only what changed, all or nothing, and never a file that is not ours.

Each output folder has a ``manifest.json`` with the digest of everything that went in and of every file that
came out. A later run compares: same input and untouched files mean that there is nothing to do; the same
unformatted text means that the formatted file can stay.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

MANIFEST = "manifest.json"


class FileDigest(msgspec.Struct, frozen=True):
    """Digests of one file: of its text before formatting and of what was written."""

    raw: str
    written: str


class Manifest(msgspec.Struct, frozen=True):
    """What a folder was generated from and what it holds.

    Attributes:
        inputs: digest of definitions, templates and generator.
        files: path relative to the folder to its digests.
    """

    inputs: str = ""
    files: dict[str, FileDigest] = {}


@dataclass(frozen=True, slots=True)
class Changes:
    """What a write did, as paths relative to the folder."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int


def digest(data: bytes) -> str:
    """A digest for telling whether content changed."""
    return hashlib.sha256(data).hexdigest()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder; an empty one where there is none or it cannot be read."""
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError):
        return Manifest()


def is_current(folder: Path, inputs: str) -> bool:
    """Whether the folder was generated from these inputs and nobody touched its files since."""
    manifest = read_manifest(folder)
    return manifest.inputs == inputs and all(
        _digest_of(folder / path) == known.written for path, known in manifest.files.items()
    )


def reusable_files(folder: Path, raw: Mapping[str, str]) -> dict[str, str]:
    """Formatted texts that can stay: those whose unformatted text is as it was and that nobody touched."""
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


def write_files(folder: Path, raw: Mapping[str, str], files: Mapping[str, str], inputs: str) -> Changes:
    """Bring a folder to the given state.

    All changed files are first written beside their targets; only when that has worked are they renamed, and
    files of an earlier run that are no longer generated are removed. The manifest goes last, so an interrupted
    run is noticed by the next one.

    Raises:
        OSError: if a file cannot be written; the folder is then as it was.
    """
    changed = [path for path, text in files.items() if _digest_of(folder / path) != digest(text.encode())]
    staged: dict[Path, Path] = {}
    try:
        for path in changed:
            staged[folder / path] = _stage(folder / path, files[path].encode())
        digests = {path: FileDigest(digest(raw[path].encode()), digest(text.encode())) for path, text in files.items()}
        manifest = msgspec.json.format(msgspec.json.encode(Manifest(inputs, dict(sorted(digests.items())))), indent=1)
        staged_manifest = _stage(folder / MANIFEST, manifest + b"\n")
    except OSError:
        for temporary in staged.values():
            temporary.unlink(missing_ok=True)
        raise
    removed = [path for path in read_manifest(folder).files if path not in files and (folder / path).is_file()]
    for target, temporary in staged.items():
        temporary.replace(target)
    for path in removed:
        (folder / path).unlink()
        _remove_empty_folders((folder / path).parent, folder)
    staged_manifest.replace(folder / MANIFEST)
    return Changes(tuple(changed), tuple(removed), len(files) - len(changed))


def foreign_files(folder: Path, is_ours: Callable[[Path], bool]) -> list[Path]:
    """Python files in a folder without a manifest: somebody else's, which a first run must not overwrite."""
    if not folder.is_dir() or (folder / MANIFEST).is_file():
        return []
    return [path for path in sorted(folder.rglob("*.py")) if not is_ours(path)]


def _stage(target: Path, data: bytes) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)


def _digest_of(path: Path) -> str:
    try:
        return digest(path.read_bytes())
    except OSError:
        return ""


def _remove_empty_folders(folder: Path, root: Path) -> None:
    while folder != root and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
