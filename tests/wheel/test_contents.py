"""What the wheel and the sdist have in them, and what the page of an index shows of them."""

from __future__ import annotations

import re
import subprocess
import tarfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import pytest
from readme_renderer import markdown
from tests.wheel.environments import metadata_of

PORTIONS = ("src", "generator", "generated")


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    """The files of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def page(wheel: Path) -> str:
    """The long description as an index shows it."""
    rendered = markdown.render(str(metadata_of(wheel).get_payload()))
    assert rendered is not None
    return str(rendered)


def kept_by_git(root: Path) -> set[str]:
    """The files that git keeps, and those that it would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout.decode().split("\0")
    return {name for name in listed if name and (root / name).is_file()}


def test_the_wheel_carries_all_three_roots_and_the_data(names: set[str], root: Path) -> None:
    of_packages = {
        str(PurePosixPath(*PurePosixPath(name).parts[1:])): name
        for name in kept_by_git(root)
        if name.startswith(tuple(f"{portion}/" for portion in PORTIONS)) and "kafkawire/" in name
    }
    data = {
        f"kafkawire/codegen/_data/{name}" for name in kept_by_git(root) if name.startswith(("specs/", "templates/"))
    }
    assert of_packages
    assert data
    assert (set(of_packages) | data) - names == set()
    assert {name for name in names if not name.startswith(("kafkawire/", "kafkawire-", "pyspark_kafkawire/"))} == set()


def test_every_package_says_that_it_is_typed(names: set[str]) -> None:
    """Where kafkawire is a namespace, type checkers look for the marker in the packages in it."""
    packages = {name.split("/")[1] for name in names if re.fullmatch(r"kafkawire/\w+/\w+\.py", name)}
    assert {"admin", "broker", "codegen", "logs", "protocol", "wire"} <= packages
    assert {f"kafkawire/{package}/py.typed" for package in packages} - names == set()
    assert {"pyspark_kafkawire/py.typed", "kafkawire/py.typed"} <= names
    assert {f"kafkawire/{each}/__init__.pyi" for each in ("admin", "broker", "declared", "logs")} <= names


def test_the_sdist_has_what_git_has(sdist: Path, root: Path) -> None:
    with tarfile.open(sdist) as archive:
        members = {"/".join(member.name.split("/")[1:]) for member in archive.getmembers() if member.isfile()}
    assert members == kept_by_git(root) | {"PKG-INFO"}
    assert {"Makefile", "tests/conftest.py", "docs/index.md", "requirements/dev.txt", ".ci/run"} <= members


@pytest.mark.extended
def test_links_and_pictures_of_the_page_are_addresses(page: str) -> None:
    """A relative one leads nowhere on the page of an index."""
    addresses = re.findall(r'(?:href|src)="([^"]*)"', page)
    pictures = re.findall(r'<img [^>]*?src="([^"]*)"', page)
    assert pictures
    assert [each for each in addresses if urlsplit(each).scheme != "https" and not each.startswith("#")] == []


def test_links_of_the_page_lead_to_files_of_the_same_release(
    page: str, root: Path, pyproject: dict[str, Any], version: str
) -> None:
    repository = pyproject["project"]["urls"]["Repository"]
    for address in re.findall(rf'(?:href|src)="({re.escape(repository)}/[^"]*)"', page):
        found = re.fullmatch(rf"{re.escape(repository)}/(blob|raw)/v{re.escape(version)}/([^#]+)(#.*)?", address)
        assert found is not None, address
        assert (root / found[2]).exists(), address
        assert (found[1] == "raw") == (PurePosixPath(found[2]).suffix in {".png", ".svg", ".webp"}), address


def test_nothing_but_links_differs_from_the_readme(wheel: Path, root: Path) -> None:
    target = re.compile(r'\]\([^)]*\)|(?:href|src)="[^"]*"')
    description = str(metadata_of(wheel).get_payload())
    assert target.sub("", description).strip() == target.sub("", (root / "README.md").read_text()).strip()


def test_the_metadata_says_what_it_is_and_where_to_find_more(wheel: Path) -> None:
    metadata = metadata_of(wheel)
    links = dict(line.split(", ", 1) for line in metadata.get_all("Project-URL", []))
    assert set(links) == {"Homepage", "Documentation", "Repository", "Changelog", "Issues"}
    assert {urlsplit(address).scheme for address in links.values()} == {"https"}
    assert all(address.startswith(links["Repository"]) for address in links.values())
    assert len(metadata["Summary"]) < 200
    assert "Framework :: Pytest" in metadata.get_all("Classifier", [])
