"""kafkawire as a zip for ``spark-submit --py-files``, from which workers can import it.

Spark puts ``.zip`` files on the path of its workers, but not wheels. Python finds a package without ``__init__.py`` in
a zip only if the zip has entries for its folders, which wheels lack. The native engine is in the zip as well; workers
of another platform than the machine that writes the zip run without it.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import kafkawire

_LEFT_OUT = ("cli", "codegen", "report")
"""Packages that workers do not need: the driver generates the code for own definitions."""

_SAME_DATE = (1980, 1, 1, 0, 0, 0)


def write_bundle(path: Path) -> int:
    """Write the zip; the same code gives the same bytes.

    Args:
        path: the file.

    Returns:
        How many modules it has.

    Raises:
        OSError: the file cannot be written.
    """
    files = dict(_files())
    folders = sorted({folder for name in files for folder in name.parents if folder.parts})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for folder in folders:
            bundle.writestr(_entry(f"{folder}/"), b"")
        for name in sorted(files):
            bundle.writestr(_entry(str(name)), files[name].read_bytes())
    return len(files)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _SAME_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _files() -> Iterator[tuple[PurePosixPath, Path]]:
    for root in map(Path, kafkawire.__path__):
        for file in sorted(root.rglob("*")):
            folder, *_ = file.relative_to(root).parts
            if folder not in _LEFT_OUT and file.is_file() and file.suffix != ".pyc":
                yield PurePosixPath("kafkawire", file.relative_to(root).as_posix()), file
