"""Each combination of extras can do what it is for, and names what to install for the rest.

The environments are clean: they have the wheel, the requirements that it declares, and nothing else.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.apache_spark.prerequisites import require_spark
from tests.wheel.combinations import COMBINATIONS, LOG_PROGRAM, PYTEST_PROGRAM, Combination
from tests.wheel.conftest import Install
from tests.wheel.environments import Installed

pytestmark = pytest.mark.extended

DEFINITION = """{
  "type": "data", "name": "OrderPlaced", "validVersions": "0", "flexibleVersions": "0+",
  "fields": [{ "name": "Id", "type": "int64", "versions": "0+", "about": "Which order." }]
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with definitions and a test."""
    (tmp_path / "definitions").mkdir()
    (tmp_path / "definitions" / "OrderPlaced.json").write_text(DEFINITION)
    (tmp_path / "test_program.py").write_text(PYTEST_PROGRAM)
    return tmp_path


def first_example(root: Path) -> str:
    """The first example of the README that begins with the protocol."""
    examples: list[str] = re.findall(
        r"^```python\n(.*?)^```", (root / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL
    )
    return next(each for each in examples if each.startswith("from kafkawire.protocol import"))


def test_the_protocol_needs_no_extra(install: Install, root: Path, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(first_example(root))
    ran = install().run("python", "example.py", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_command_names_missing_libraries(install: Install, tmp_path: Path) -> None:
    ran = install().run("kafkawire", "codec", "decode", cwd=tmp_path)
    assert ran.returncode == 1
    assert ran.stderr == "kafkawire: the library typer is missing: pip install 'kafkawire[cli]'\n"


def test_the_command_prints_its_version(install: Install, wheel: Path, tmp_path: Path) -> None:
    ran = install("cli", "codegen").run("kafkawire", "--version", cwd=tmp_path)
    engine = "python" if wheel.name.endswith("-none-any.whl") else "native"
    assert ran.stdout == f"kafkawire {wheel.name.split('-')[1]} ({engine} engine)\n"


def test_the_installed_definitions_give_the_installed_package(install: Install, tmp_path: Path) -> None:
    installed = install("cli", "codegen")
    ran = installed.run("kafkawire", "generate", "--out", "generated", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    made = tmp_path / "generated" / "kafkawire" / "protocol"
    modules = {file.relative_to(made): file.read_text() for file in made.rglob("*.py")}
    assert len(modules) > 250
    there = installed.packages / "kafkawire" / "protocol"
    assert [name for name, text in modules.items() if (there / name).read_text() != text] == []


@pytest.mark.nightly  # a minute for all; those above need two of the environments
@pytest.mark.parametrize("combination", COMBINATIONS, ids=lambda each: ",".join(each.extras) or "plain")
def test_an_installation_does_what_its_extras_are_for(combination: Combination, install: Install, folder: Path) -> None:
    if {"spark", "all"} & set(combination.extras):
        require_spark()
    installed = install(*combination.extras)
    run_program(installed, LOG_PROGRAM, folder)
    for module in combination.lacks:
        assert not (installed.packages / module).exists(), module
    for command in combination.works:
        words = command.words if command.words[0] == "python" else ("kafkawire", *command.words)
        ran = installed.run(*words, cwd=folder, text=command.text)
        assert ran.returncode == 0, (words, ran.stdout, ran.stderr)
        assert command.prints in ran.stdout, (words, ran.stdout, ran.stderr)
    for words, extras in combination.asks_for.items():
        ran = installed.run("kafkawire", *words, cwd=folder)
        assert ran.returncode == 1, (words, ran.stdout, ran.stderr)
        assert re.fullmatch(rf"kafkawire: .*: pip install 'kafkawire\[{extras}\]'\n", ran.stderr), (words, ran.stderr)


def test_every_module_can_be_imported_where_all_extras_are(install: Install, tmp_path: Path) -> None:
    require_spark()
    walk = """
import importlib, pkgutil
import kafkawire, pyspark_kafkawire
for found in pkgutil.walk_packages(kafkawire.__path__, "kafkawire."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
"""
    run_program(install("all"), walk, tmp_path)


def run_program(installed: Installed, program: str, folder: Path) -> None:
    """Run a program that must end well."""
    ran = installed.run("python", "-c", program, cwd=folder)
    assert ran.returncode == 0, ran.stderr
