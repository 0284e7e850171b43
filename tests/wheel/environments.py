"""Clean environments with the wheel in them."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email import message_from_string
from email.message import Message
from pathlib import Path

from tests.wheel.wheelhouse import Wheelhouse

_UV = Path(sys.executable).with_name("uv")


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel.

    Attributes:
        folder: of the environment.
    """

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        """The folder of its packages."""
        (folder,) = self.folder.glob("lib/python*/site-packages")
        return folder

    def run(self, *command: str | Path, cwd: Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, or its interpreter if the first word is ``python``."""
        program = self.folder / "bin" / command[0]
        words = [program, *command[1:]]
        return subprocess.run(
            words, cwd=cwd, env=environment_of(self), input=text, capture_output=True, text=True, check=False
        )


def environment_of(installed: Installed) -> Mapping[str, str]:
    """The variables of a process that has only this environment."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "COVERAGE", "VIRTUAL_", "KAFKAWIRE_"))
    }
    path = os.pathsep.join([str(installed.folder / "bin"), os.environ["PATH"]])
    return {**kept, "PATH": path, "PYSPARK_PYTHON": str(installed.python), "COLUMNS": "200"}


def metadata_of(wheel: Path) -> Message:
    """The metadata of a wheel, in UTF-8 as Core Metadata has it; its payload is the long description."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return message_from_string(archive.read(name).decode())


def make_environment(folder: Path, wheel: Path, extras: Sequence[str], wheelhouse: Wheelhouse) -> Installed:
    """An environment with the wheel, its requirements and those of the extras, and nothing else."""
    wheelhouse.add(metadata_of(wheel).get_all("Requires-Dist", []), extras)
    settings = {
        **os.environ,
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(wheelhouse.folder),
        "UV_CACHE_DIR": str(wheelhouse.folder.with_name("cache")),
    }
    python = folder / "bin" / "python"
    wanted = f"kafkawire[{','.join(sorted(extras))}] @ {wheel.as_uri()}"
    commands: tuple[list[str | Path], ...] = (
        ["venv", "--python", sys.executable, folder],
        ["pip", "install", "--python", python, wanted],
    )
    for command in commands:
        done = subprocess.run([_UV, *command], env=settings, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return Installed(folder)
