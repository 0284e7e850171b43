"""The extras declare what the packages import, and nothing else."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kafkawire.cli.outcome import _EXTRA_OF_MODULE

EXTRAS = {
    "codegen": "codegen",
    "cli": "cli",
    "columns": "tables",
    "logs": "tables",
    "report": "tables",
    "spark": "spark",
    "pyspark_kafkawire": "spark",
}
"""The extra that a package needs; all others work without one."""

FOR_TESTS = ("pytest_plugin/fixtures.py", "wire/laws.py", "wire/strategies.py")
"""Modules that need the extra ``test``, which the rest of their packages does not."""

OF_DOCUMENTS = ("declared/documents/nodes.py",)
"""Modules that need the extra ``cli``, which the rest of their packages does not."""

NOT_IMPORTED = {
    "ruff": "a program that codegen runs",
    "tzdata": "the time zones of zoneinfo, which Windows lacks",
}

Imports = Mapping[str, Mapping[str, Path]]
"""By extra, or "" for what everyone installs: the distributions that its packages import, each with a module."""


@pytest.fixture(scope="module")
def declared(pyproject: dict[str, Any]) -> Mapping[str, frozenset[str]]:
    """By extra, or "" for what everyone installs: the distributions."""
    project = pyproject["project"]
    lists = {"": project["dependencies"], **project["optional-dependencies"]}
    return {
        extra: frozenset(canonicalize_name(Requirement(each).name) for each in requirements)
        for extra, requirements in lists.items()
    }


@pytest.fixture(scope="module")
def imported(root: Path) -> Imports:
    """What is imported, by the extra that the importing package needs."""
    owners = metadata.packages_distributions()
    found: dict[str, dict[str, Path]] = defaultdict(dict)
    for file in sorted([*(root / "src").rglob("*.py"), *(root / "generator").rglob("*.py")]):
        inside = file.relative_to(next(each for each in file.parents if each.name in {"src", "generator"}))
        top = Path(inside.parts[0] if inside.parts[0] != "kafkawire" else inside.parts[1]).stem
        name = inside.as_posix().removeprefix("kafkawire/")
        extra = "test" if name in FOR_TESTS else "cli" if name in OF_DOCUMENTS else EXTRAS.get(top, "")
        for module in modules_of(file):
            if module not in sys.stdlib_module_names and module not in {"kafkawire", "pyspark_kafkawire"}:
                (owner,) = owners[module]
                found[extra][canonicalize_name(owner)] = inside
    return found


def modules_of(file: Path) -> Iterator[str]:
    """The first names of the modules that a file imports, anywhere in it but not for type checkers alone."""
    waiting: list[ast.AST] = [ast.parse(file.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
        elif isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        else:
            waiting += ast.iter_child_nodes(node)


def test_packages_and_modules_that_need_extras_exist(root: Path) -> None:
    places = [root / top / "kafkawire" / name for top in ("src", "generator") for name in (*EXTRAS, *FOR_TESTS)]
    there = {place.name for place in [*places, root / "src" / "pyspark_kafkawire"] if place.exists()}
    assert {Path(name).name for name in (*EXTRAS, *FOR_TESTS)} - there == set()


def test_packages_import_what_their_extras_declare(imported: Imports, declared: Mapping[str, frozenset[str]]) -> None:
    """The commands import, in ``kafkawire.cli``, what any extra declares, and say what to install."""
    everything = frozenset[str]().union(*declared.values())
    undeclared = {
        (extra, distribution, str(module))
        for extra, distributions in imported.items()
        for distribution, module in distributions.items()
        if distribution not in declared[""] | (everything if extra == "cli" else declared.get(extra, frozenset()))
    }
    assert undeclared == set()


def test_extras_declare_what_is_imported(imported: Imports, declared: Mapping[str, frozenset[str]]) -> None:
    unused = {
        (extra, distribution)
        for extra, distributions in declared.items()
        for distribution in distributions - set(imported.get(extra, ()))
        if extra != "all" and distribution not in NOT_IMPORTED
    }
    assert unused == set()


def test_all_has_all_extras(pyproject: dict[str, Any]) -> None:
    extras = dict(pyproject["project"]["optional-dependencies"])
    (everything,) = extras.pop("all")
    assert Requirement(everything).extras == set(extras)


def test_the_command_names_an_extra_that_has_the_missing_module(declared: Mapping[str, frozenset[str]]) -> None:
    owners = metadata.packages_distributions()
    own = {
        (module, extra): canonicalize_name(owners[module][0]) in declared[extra]
        for module, extra in _EXTRA_OF_MODULE.items()
    }
    assert [pair for pair, fits in own.items() if not fits] == []
    optional = frozenset[str]().union(*declared.values()) - declared[""] - {"kafkawire", "tzdata"}
    named = {canonicalize_name(owners[module][0]) for module in _EXTRA_OF_MODULE}
    assert optional - named == set()
