"""The wheel works where only its requirements are installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement


@pytest.fixture(scope="session")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as ``pip wheel .`` builds it, with the build backend of the development environment."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "wheel", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "--wheel-dir", str(folder), str(root)], check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel and what it requires."""
    return make_environment(tmp_path_factory.mktemp("bare"), wheel, extras=[])


@pytest.fixture(scope="session")
def full(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel and its extras for the command line and the generator."""
    return make_environment(tmp_path_factory.mktemp("full"), wheel, extras=["cli", "codegen"])


def make_environment(folder: Path, wheel: Path, extras: list[str]) -> Path:
    """An environment with the wheel and the closure of its requirements, linked from the one that runs the tests."""
    venv.create(folder, symlinks=True, with_pip=False)
    python = folder / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "--python", str(python), "install", "--no-deps", str(wheel)],
        check=True,
    )
    (packages,) = folder.glob("lib/python*/site-packages")
    (own,) = metadata.distributions(path=[str(packages)], name="kafkawire")
    for distribution in closure(own.requires or [], extras):
        for file in distribution.files or []:
            link = folder / "bin" / file.name if file.parts[-2:-1] == ("bin",) else packages / file.parts[0]
            if file.parts[0] != "__pycache__" and not link.exists():
                link.symlink_to(str(distribution.locate_file(file if link.parent.name == "bin" else file.parts[0])))
    return python


def closure(requirements: list[str], extras: list[str]) -> Iterator[metadata.Distribution]:
    """The distributions that requirements lead to, some of them more than once."""
    for requirement in map(Requirement, requirements):
        environments = [{"extra": extra} for extra in ["", *extras]]
        if requirement.marker is None or any(requirement.marker.evaluate(each) for each in environments):
            distribution = metadata.distribution(requirement.name)
            yield distribution
            yield from closure(distribution.requires or [], sorted(requirement.extras))


def run(command: list[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE"))}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def first_example(root: Path) -> str:
    """The example of the README that speaks of the protocol alone."""
    example = re.search(r"^```python\n(.*?)^```", (root / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    assert example is not None
    return example[1]


def test_the_wheel_carries_all_three_roots_and_the_data(wheel: Path, root: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    portions = [root / top for top in ("src", "generator", "generated")]
    modules = {str(file.relative_to(top)) for top in portions for file in top.rglob("*.py")}
    definitions = {
        f"kafkawire/codegen/_data/specs/{file.relative_to(root / 'specs')}"
        for file in (root / "specs").rglob("*")
        if file.is_file()
    }
    templates = {f"kafkawire/codegen/_data/templates/{file.name}" for file in (root / "templates").glob("*.j2")}
    pages = {str(file.relative_to(root / "src")) for file in (root / "src/kafkawire/report/page").iterdir()}
    assert definitions
    assert templates
    assert pages
    assert (modules | definitions | templates | pages | {"kafkawire/py.typed"}) - names == set()
    assert {name for name in names if not name.startswith(("kafkawire/", "kafkawire-", "pyspark_kafkawire/"))} == set()


def test_the_protocol_needs_no_extra(bare: Path, root: Path, tmp_path: Path) -> None:
    example = first_example(root)
    (tmp_path / "example.py").write_text(example)
    ran = run([bare, "example.py"], tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_installed_package_is_typed(bare: Path, root: Path, tmp_path: Path) -> None:
    example = first_example(root)
    reveal = "\nfrom kafkawire.rpc import split_frames\nreveal_type(topic.name)\nreveal_type(split_frames)\n"
    (tmp_path / "example.py").write_text(example + reveal)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(bare), "example.py"]
    ran = run([*mypy, "--config-file", os.devnull], tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert 'Revealed type is "str"' in ran.stdout
    assert "Iterator[bytes]" in ran.stdout


def test_the_command_names_missing_libraries(bare: Path, tmp_path: Path) -> None:
    ran = run([bare.with_name("kafkawire"), "--version"], tmp_path)
    assert ran.returncode == 1
    assert ran.stderr == "kafkawire: the library typer is missing: pip install 'kafkawire[cli]'\n"


def test_the_command_prints_its_version(full: Path, wheel: Path, tmp_path: Path) -> None:
    ran = run([full.with_name("kafkawire"), "--version"], tmp_path)
    assert ran.stdout == f"kafkawire {wheel.name.split('-')[1]}\n"


def test_the_installed_definitions_give_the_installed_package(full: Path, tmp_path: Path) -> None:
    ran = run([full.with_name("kafkawire"), "generate", "--out", "generated"], tmp_path)
    assert ran.returncode == 0, ran.stderr
    (installed,) = full.parents[1].glob("lib/python*/site-packages/kafkawire/protocol")
    made = tmp_path / "generated" / "kafkawire" / "protocol"
    modules = {file.relative_to(made): file.read_text() for file in made.rglob("*.py")}
    assert len(modules) > 250
    assert [name for name, text in modules.items() if (installed / name).read_text() != text] == []
