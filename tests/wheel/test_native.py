"""The native engine in wheels and editable installations: with a C compiler and without, wanted and required."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.wheel.conftest import Install

pytestmark = pytest.mark.nightly

NO_COMPILER = {"CC": "/nonexistent/cc", "PATH": str(Path(sys.executable).parent)}
SHOW = "from kafkawire import wire; print(wire.ENGINE)"


@pytest.fixture(scope="module")
def sources(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what wheels are built of: builds put files beside the sources."""
    copy = tmp_path_factory.mktemp("sources")
    for name in ("src", "generator", "generated", "native", "specs", "templates"):
        shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyd"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(root / name, copy / name)
    return copy


def pip(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pip", *arguments, "--no-deps", "--no-build-isolation", "--disable-pip-version-check"],
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name != "KAFKAWIRE_BUILD_NATIVE"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def wheel_of(sources: Path, folder: Path, **environment: str) -> tuple[Path, str]:
    """A wheel, and what the build has said."""
    built = pip("wheel", "--verbose", "--wheel-dir", str(folder), ".", cwd=sources, **environment)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = folder.iterdir()
    return wheel, built.stdout + built.stderr


def libraries(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if re.search(r"\.(so|pyd)$", name)]


def tag(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (text,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith(".dist-info/WHEEL"))
    (found,) = re.findall(r"^Tag: (.*)$", text, re.MULTILINE)
    assert wheel.name.endswith(f"-{found}.whl")
    return str(found)


def test_a_wheel_with_the_engine_is_for_all_versions_of_python_on_one_platform(sources: Path, tmp_path: Path) -> None:
    wheel, _ = wheel_of(sources, tmp_path, KAFKAWIRE_BUILD_NATIVE="1")
    assert re.fullmatch(r"cp311-abi3-\w+", tag(wheel))
    (library,) = libraries(wheel)
    assert re.fullmatch(r"kafkawire/_native\.(abi3\.so|pyd)", library)


def test_a_wheel_without_it_is_for_all_platforms(sources: Path, tmp_path: Path) -> None:
    wheel, _ = wheel_of(sources, tmp_path, KAFKAWIRE_BUILD_NATIVE="0")
    assert (tag(wheel), libraries(wheel)) == ("py3-none-any", [])


def test_without_a_compiler_the_wheel_is_a_pure_one_and_says_so(sources: Path, tmp_path: Path) -> None:
    wheel, said = wheel_of(sources, tmp_path, **NO_COMPILER)
    assert (tag(wheel), libraries(wheel)) == ("py3-none-any", [])
    assert "kafkawire is built without its native engine:" in said


def test_a_required_engine_that_cannot_be_built_fails_the_build(sources: Path, tmp_path: Path) -> None:
    built = pip("wheel", "--wheel-dir", str(tmp_path), ".", cwd=sources, KAFKAWIRE_BUILD_NATIVE="1", **NO_COMPILER)
    assert built.returncode != 0
    assert "the native engine cannot be built, and KAFKAWIRE_BUILD_NATIVE is 1:" in built.stdout + built.stderr
    assert list(tmp_path.iterdir()) == []


def test_another_value_is_refused(sources: Path, tmp_path: Path) -> None:
    built = pip("wheel", "--wheel-dir", str(tmp_path), ".", cwd=sources, KAFKAWIRE_BUILD_NATIVE="yes")
    assert "KAFKAWIRE_BUILD_NATIVE is 'yes': it must be 0 (never) or 1 (must), or unset" in built.stdout + built.stderr


def test_an_editable_installation_has_the_engine_that_its_last_build_gave(sources: Path, tmp_path: Path) -> None:
    """A library of other sources does not stay."""

    def install(**environment: str) -> int:
        target = ("--target", str(tmp_path / "site"), "--upgrade")
        done = pip("install", *target, "--editable", ".", cwd=sources, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return len([*sources.glob("src/kafkawire/_native*.so"), *sources.glob("src/kafkawire/_native*.pyd")])

    assert install(KAFKAWIRE_BUILD_NATIVE="1") == 1
    assert install(**NO_COMPILER) == 0
    assert install() == 1
    assert install(KAFKAWIRE_BUILD_NATIVE="0") == 0


def test_the_installed_wheel_uses_its_engine(install: Install, wheel: Path, tmp_path: Path) -> None:
    ran = install().run("python", "-c", SHOW, cwd=tmp_path)
    assert ran.stdout == ("python\n" if wheel.name.endswith("-none-any.whl") else "native\n"), ran.stderr
