"""Wheels made of the distributions that are installed here, so that clean environments need no network.

A resolver and an installer then work with them as with those of an index, in the versions that the lock has.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from importlib import metadata
from itertools import product
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


class Wheelhouse:
    """A folder of such wheels.

    Args:
        folder: made if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._added: set[str] = set()

    def add(self, requirements: Sequence[str], extras: Sequence[str]) -> None:
        """Add all that requirements lead to.

        Raises:
            importlib.metadata.PackageNotFoundError: one of them is not installed here.
        """
        for distribution in closure(requirements, extras):
            name = canonicalize_name(distribution.name)
            if name not in self._added:
                self._added.add(name)
                _pack(distribution, self.folder)


def closure(requirements: Sequence[str], extras: Sequence[str]) -> Iterator[metadata.Distribution]:
    """The installed distributions that requirements lead to, some of them more than once."""
    for requirement in map(Requirement, requirements):
        environments = [{"extra": extra} for extra in ["", *extras]]
        if requirement.marker is None or any(requirement.marker.evaluate(each) for each in environments):
            distribution = metadata.distribution(requirement.name)
            yield distribution
            yield from closure(distribution.requires or [], sorted(requirement.extras))


def _pack(distribution: metadata.Distribution, folder: Path) -> None:
    base = f"{distribution.name.replace('-', '_')}-{distribution.version}"
    commands = {entry.name for entry in distribution.entry_points if entry.group == "console_scripts"}
    tags = [
        line.removeprefix("Tag: ") for line in (distribution.read_text("WHEEL") or "").splitlines() if "Tag: " in line
    ]
    sets = [sorted(set(parts)) for parts in zip(*(tag.split("-") for tag in tags), strict=True)]
    name = "-".join([base, *(".".join(parts) for parts in sets)])
    assert set(tags) == {"-".join(parts) for parts in product(*sets)}, tags
    record: list[str] = []
    with zipfile.ZipFile(folder / f"{name}.whl", "w") as packed:
        for file in distribution.files or []:
            is_script = file.parts[-2:-1] == ("bin",) and file.parts[0] == ".."
            if "__pycache__" in file.parts or file.name in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json"):
                continue
            if file.parts[0] == ".." and (not is_script or file.name in commands):
                continue
            target = f"{base}.data/scripts/{file.name}" if is_script else str(file)
            packed.write(str(distribution.locate_file(file)), target)
            record.append(f"{target},,\n")
        (info,) = {line.split("/")[0] for line in record if "/WHEEL," in line}
        packed.writestr(f"{info}/RECORD", "".join([*record, f"{info}/RECORD,,\n"]))
