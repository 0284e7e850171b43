"""Reads definition files from jars. Jars are not trusted: sizes are limited before anything is read."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path, PurePosixPath

from kafkawire.codegen.importing.problem import SpecsImportError

MAXIMUM_FILES = 2_000
MAXIMUM_FILE_BYTES = 1 << 20
MAXIMUM_ENTRIES = 100_000


def extract_definitions(jar: Path, folder: str, *, may_lack: bool = False) -> dict[str, str]:
    """The ``*.json`` files directly in a folder of a jar: name inside the jar to text, sorted.

    Args:
        jar: the jar, or any other zip file.
        folder: the folder inside it.
        may_lack: whether the jar may have none.

    Raises:
        SpecsImportError: if the file is no jar, has no definition there, too many or too large ones, or text that is
            not UTF-8.
    """
    try:
        with zipfile.ZipFile(jar) as archive:
            entries = archive.infolist()
            if len(entries) > MAXIMUM_ENTRIES:
                raise SpecsImportError(f"{jar}: {len(entries)} entries; at most {MAXIMUM_ENTRIES} are read")
            wanted = sorted((e for e in entries if _is_definition(e.filename, folder)), key=lambda e: e.filename)
            if not wanted and not may_lack:
                raise SpecsImportError(f"{jar}: has no definitions in {folder}")
            if len(wanted) > MAXIMUM_FILES:
                raise SpecsImportError(f"{jar}: {len(wanted)} definitions; at most {MAXIMUM_FILES} are read")
            return {entry.filename: _read(archive, entry, jar) for entry in wanted}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise SpecsImportError(f"{jar}: not a jar ({error})") from error


def _is_definition(name: str, folder: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix == ".json" and str(path.parent) == folder


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, jar: Path) -> str:
    # The size in the entry may be wrong, so the unpacked size is limited too.
    with archive.open(entry) as file:
        content = file.read(MAXIMUM_FILE_BYTES + 1)
    if len(content) > MAXIMUM_FILE_BYTES:
        raise SpecsImportError(f"{jar}: {entry.filename} is larger than {MAXIMUM_FILE_BYTES} bytes")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SpecsImportError(f"{jar}: {entry.filename} is not UTF-8 ({error.reason} at {error.start})") from error
