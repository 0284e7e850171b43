"""A release: what must agree before it, and the workflow that publishes it."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from tests.wheel.conftest import Install

FILES = ("src/kafkawire/version.py", "pyproject.toml", "CHANGELOG.md", "CITATION.cff")
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


@pytest.fixture(scope="module")
def check_release(root: Path) -> ModuleType:
    """The script of CI as a module."""
    spec = importlib.util.spec_from_file_location("check_release", root / ".ci" / "check_release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """The files that must agree, of a repository with an owner."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
        (tmp_path / name).write_text((tmp_path / name).read_text().replace("/OWNER/", "/someone/"))
    return tmp_path


@pytest.fixture(scope="module")
def workflow(root: Path) -> dict[Any, Any]:
    """The workflow, parsed; YAML reads its key ``on`` as a truth value."""
    parsed: dict[Any, Any] = yaml.safe_load((root / ".github" / "workflows" / "release.yml").read_text())
    return parsed


def test_versions_dates_and_addresses_agree(check_release: ModuleType, root: Path) -> None:
    assert list(check_release.problems(root, None, None)) == []


def test_a_tag_of_this_version_can_be_released(check_release: ModuleType, checkout: Path, version: str) -> None:
    tag = f"v{version}"
    assert list(check_release.problems(checkout, tag, "someone/kafkawire")) == []


CHANGES = {
    "another version": (
        "src/kafkawire/version.py",
        '__version__ = "',
        '__version__ = "9.',
        "the tag is v.*, and src/kafkawire/version.py has version 9",
    ),
    "no section": ("CHANGELOG.md", "\n## [0", "\n## [x", "CHANGELOG.md has no line"),
    "an older citation": ("CITATION.cff", "version: 0", "version: 3", "CITATION.cff has version 3"),
    "another date": ("CITATION.cff", 'date-released: "2', 'date-released: "1', "CITATION.cff has the date 1"),
    "two addresses": ("CITATION.cff", "/someone/", "/other/", "several addresses of the repository"),
    "one old address": ("pyproject.toml", "/someone/kafkawire/raw", "/old/kafkawire/raw", "several addresses"),
    "no owner": ("pyproject.toml", "/someone/", "/OWNER/", "OWNER is a placeholder"),
}
"""What may be forgotten before a release: a file, what is replaced in it, and what the script must say."""


@pytest.mark.parametrize("change", CHANGES)
def test_what_does_not_agree_is_reported(check_release: ModuleType, checkout: Path, version: str, change: str) -> None:
    file, old, new, message = CHANGES[change]
    text = (checkout / file).read_text()
    assert old in text
    (checkout / file).write_text(text.replace(old, new))
    tag = f"v{version}"
    found = list(check_release.problems(checkout, tag, "someone/kafkawire"))
    assert any(re.search(message, problem) for problem in found), found


def test_actions_are_pinned_and_hold_no_secret(root: Path, workflow: dict[Any, Any]) -> None:
    text = (root / ".github" / "workflows" / "release.yml").read_text()
    used = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert used
    assert [each for each in used if not PINNED.fullmatch(each)] == []
    assert "secrets." not in text
    assert "password" not in text


def test_only_the_last_job_publishes_and_after_all_others(workflow: dict[Any, Any]) -> None:
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {}
    assert jobs["publish"]["needs"] == [name for name in jobs if name != "publish"]
    assert jobs["publish"]["environment"] == "release"
    publishing = [name for name, job in jobs.items() if any("publish" in step.get("run", "") for step in job["steps"])]
    assert publishing == ["publish"]
    assert [name for name, job in jobs.items() if "id-token" in job["permissions"]] == ["publish"]


def test_the_workflow_tries_each_python_and_system_of_the_classifiers(
    workflow: dict[Any, Any], pyproject: dict[str, Any]
) -> None:
    matrix = workflow["jobs"]["try"]["strategy"]["matrix"]
    classifiers = pyproject["project"]["classifiers"]
    pythons = [each.rpartition(" ")[2] for each in classifiers if re.search(r"Python :: 3\.\d+$", each)]
    assert matrix["python"] == pythons
    systems = {each.split(" :: ")[-1] for each in classifiers if each.startswith("Operating System")}
    assert systems == {"Linux", "MacOS", "Windows"}
    assert [each.partition("-")[0] for each in matrix["system"]] == ["ubuntu", "macos", "windows"]


def test_files_that_the_workflow_uses_exist(root: Path, workflow: dict[Any, Any]) -> None:
    commands = "\n".join(step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"])
    named = re.findall(r"(?<![\w/])(\.ci/[\w-]+(?:\.py)?|requirements/\w+\.txt)", commands)
    assert {".ci/check_release.py", ".ci/check-schema", ".ci/try_installation.py"} <= set(named)
    assert [name for name in named if not (root / name).is_file()] == []


@pytest.mark.extended  # six seconds; another environment than the fast tests have
def test_what_the_workflow_tries_works_here(install: Install, root: Path, tmp_path: Path) -> None:
    installed = install("cli", "codegen", "tables", "test")
    ran = installed.run("python", root / ".ci" / "try_installation.py", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1].startswith("kafkawire ")
