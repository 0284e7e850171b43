"""Distributors can build and test kafkawire from the sdist alone."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.wheel.conftest import build

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in the sdist."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (top,) = folder.iterdir()
    return top


def test_the_sdist_gives_the_same_wheel(unpacked: Path, wheel: Path, tmp_path: Path) -> None:
    again = build("wheel", unpacked, tmp_path)
    assert again.name == wheel.name
    assert contents(again) == contents(wheel)


def test_its_tests_can_be_collected_and_run(unpacked: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(unpacked / each) for each in ("src", "generator", "generated")),
    }
    pytest_of_sdist = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    for arguments in (["--collect-only", "tests/unit"], ["tests/unit/wire", "tests/unit/test_rpc.py"]):
        ran = subprocess.run(
            [*pytest_of_sdist, *arguments], cwd=unpacked, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr


def contents(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
