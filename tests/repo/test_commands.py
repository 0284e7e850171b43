"""The commands that the README and CONTRIBUTING promise, and what they install."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement


def targets(root: Path) -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), flags=re.MULTILINE))


@pytest.mark.parametrize(
    ("page", "named"),
    [
        ("README.md", {"demo", "test"}),
        (
            "CONTRIBUTING.md",
            {"demo", "test", "test-ci", "test-nightly", "test-spark", "check", "generate", "bench", "docs", "clean"},
        ),
    ],
)
def test_every_command_of_a_page_is_there(root: Path, page: str, named: set[str]) -> None:
    promised = set(re.findall(r"\bmake ([a-z-]+)\b(?=[`\s]|$)", (root / page).read_text()))
    assert named <= promised <= targets(root)


@pytest.mark.parametrize("target", ["demo", "test", "check", "generate", "bench", "docs"])
def test_every_command_sets_itself_up(root: Path, target: str) -> None:
    assert re.search(rf"^{target}: .*\bsetup\b", (root / "Makefile").read_text(), flags=re.MULTILINE)


def test_ci_runs_the_checks_and_the_tests_of_ci(root: Path) -> None:
    assert (root / ".ci" / "run").read_text().splitlines()[-2:] == ["make --jobs=2 --output-sync check", "make test-ci"]


@pytest.mark.parametrize("name", ["dev.txt", "spark.txt", "spark-4.0.txt", "spark-4.1.txt", "spark-4.2.txt"])
def test_every_locked_requirement_has_hashes(root: Path, name: str) -> None:
    lock = (root / "requirements" / name).read_text()
    requirements = re.findall(r"^[A-Za-z].*(?:\n    .*)*", lock, flags=re.MULTILINE)
    assert requirements != []
    assert [requirement for requirement in requirements if "--hash=sha256:" not in requirement] == []


def test_the_lock_fits_the_requirements_of_the_project(root: Path, pyproject: dict[str, Any]) -> None:
    project = pyproject["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["codegen"], *extras["cli"], *extras["test"]]
    locked = dict(
        re.findall(r"^([a-z0-9-]+)==([^ ]+)", (root / "requirements/dev.txt").read_text(), flags=re.MULTILINE)
    )
    requirements = [Requirement(line) for line in asked]
    assert [r for r in requirements if r.name not in locked or locked[r.name] not in r.specifier] == []


def test_the_lock_of_spark_is_small_and_needed_by_neither_set_up_nor_demo(root: Path) -> None:
    locked = re.findall(r"^([a-z0-9-]+)==", (root / "requirements/spark.txt").read_text(), flags=re.MULTILINE)
    users = re.findall(r"^([a-z-]+): .*/\.spark\b", (root / "Makefile").read_text(), flags=re.MULTILINE)
    assert "pyspark" in locked
    assert set(users) == {"bench", "test", "test-ci", "test-nightly", "test-spark", "types"}
