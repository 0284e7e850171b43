"""Checks that a tag may become a release: ``python .ci/check_release.py v0.1.0``.

The versions in src/kafkawire/version.py, CHANGELOG.md, CITATION.cff and the tag must be the same, the changelog and the
citation must have the same date, and the address of the repository must be a real one, everywhere the same.
"""

from __future__ import annotations

import os
import re
import runpy
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PLACEHOLDER = "OWNER"
HOST = "https://github.com"
VERSION = "src/kafkawire/version.py"


def problems(root: Path, tag: str | None, repository: str | None) -> Iterator[str]:
    """What is wrong, a sentence each.

    Args:
        root: the folder of pyproject.toml.
        tag: the tag of the release; None to check what is known before it.
        repository: owner and name of the repository that publishes, or None.
    """
    text = (root / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    version = str(runpy.run_path(str(root / VERSION))["__version__"])
    if tag is not None and tag != f"v{version}":
        yield f"the tag is {tag}, and {VERSION} has version {version}: the tag must be v{version}"
    section = re.search(
        rf"^## \[{re.escape(version)}\] - (\S+)$", (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    if section is None:
        yield f"CHANGELOG.md has no line '## [{version}] - YYYY-MM-DD'"
    citation = dict(
        re.findall(r"^([a-z-]+): *\"?([^\"\n]*)\"?$", (root / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    )
    if citation.get("version") != version:
        yield f"CITATION.cff has version {citation.get('version')}, and {VERSION} {version}"
    if section is not None and citation.get("date-released") != section[1]:
        yield f"CITATION.cff has the date {citation.get('date-released')}, and CHANGELOG.md {section[1]}"
    address = project["urls"]["Repository"]
    found = {*re.findall(rf"{HOST}/[^/\"']+/kafkawire\b", text), citation.get("repository-code")}
    if found != {address}:
        yield f"pyproject.toml and CITATION.cff have several addresses of the repository: {sorted(map(str, found))}"
    if tag is not None and address.startswith(f"{HOST}/{PLACEHOLDER}/"):
        yield f"{PLACEHOLDER} is a placeholder in {address}: write the name of the repository's owner"
    elif tag is not None and repository is not None and address != f"{HOST}/{repository}":
        yield f"this is {HOST}/{repository}, and pyproject.toml has {address}"


def main() -> int:
    """Print what is wrong with a tag; the exit code is 1 if anything is."""
    if len(sys.argv) != 2:
        print(f"usage: {Path(sys.argv[0]).name} TAG", file=sys.stderr)
        return 2
    found = list(problems(Path(__file__).parents[1], sys.argv[1], os.environ.get("GITHUB_REPOSITORY")))
    for problem in found:
        print(f"release: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
