"""The documentation is built with a page for every message, and what the pages show is true."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkawire.codegen.generate import print_pages
from kafkawire.codegen.naming import module_name
from kafkawire.codegen.package_data import specs_dir
from kafkawire.protocol import MESSAGE_NAMES, ApiVersionsRequest

PYTHON = re.compile(r"^```python\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
FETCHED = re.compile(r"""<(?:script|img|iframe|link(?![^>]*rel="canonical"))[^>]*(?:src|href)="(?:https?:)?//[^"]*""")

FETCHED_BY_STYLE = re.compile(r"""(?:@import\s*|url\()["']?(?:https?:)?//""")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The reference pages, from the definitions of Kafka."""
    return {path.as_posix(): text for path, text in print_pages(specs_dir(), "kafkawire.protocol")}


@pytest.mark.extended
def test_every_message_has_a_page(site: Path) -> None:
    built = {page.stem for page in (site / "reference" / "protocol" / "messages").glob("*.html")}
    assert built == {module_name(name) for name in MESSAGE_NAMES}


@pytest.mark.extended
def test_the_site_is_whole_without_a_network(site: Path) -> None:
    assert [page for page in site.rglob("*.html") if FETCHED.search(page.read_text())] == []
    assert [style for style in site.rglob("*.css") if FETCHED_BY_STYLE.search(style.read_text())] == []


@pytest.mark.extended
def test_programs_are_not_published(site: Path) -> None:
    assert list(site.rglob("*.py")) == []


def test_examples_of_construction_run(pages: dict[str, str]) -> None:
    tried = 0
    for name, page in pages.items():
        for source in PYTHON.findall(page):
            namespace: dict[str, object] = {}
            exec(compile(source, name, "exec"), namespace)  # noqa: S102 printed by the generator
            assert namespace["decoded"] == namespace["message"], name
            tried += 1
    assert tried == len(MESSAGE_NAMES)


def test_examples_are_formatted(pages: dict[str, str], tmp_path: Path) -> None:
    for name, page in pages.items():
        for source in PYTHON.findall(page):
            (tmp_path / f"{Path(name).stem}.py").write_text(source)
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--no-cache", "--check", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def rows(page: str) -> Iterator[list[str]]:
    """The cells of every row of every table of a page."""
    for line in page.splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


@pytest.mark.parametrize(
    ("page", "row"),
    [
        ("messages/metadata_response.md", ["13", "4.3.1,&nbsp;4.4.0", "1", "added `error_code`: `int16`"]),
        ("messages/metadata_response.md", ["12", "all", "1", "`MetadataResponseTopic.name` may be null"]),
        ("messages/metadata_response.md", ["In Apache Kafka 3.9.2", "0-12"]),
        ("messages/describe_acls_request.md", ["Proposed", "4 (kip-888)"]),
        ("messages/list_config_resources_request.md", ["Earlier name", "ListClientMetricsResourcesRequest"]),
        ("error-codes.md", ["41", "`NOT_CONTROLLER`", "`NotControllerError`", "yes"]),
    ],
)
def test_facts_that_are_known(pages: dict[str, str], page: str, row: list[str]) -> None:
    assert row in list(rows(pages[page]))


def test_a_field_has_its_meaning_type_versions_and_default(pages: dict[str, str]) -> None:
    (row,) = (cells for cells in rows(pages["messages/fetch_request.md"]) if cells[0] == "`session_epoch`")
    assert row[1].endswith("Ignorable.")
    assert row[2:] == ["`int32`", "7+", "`-1`"]


def test_header_api_versions_response(pages: dict[str, str]) -> None:
    (row,) = (cells for cells in rows(pages["apis.md"]) if cells[0] == "18")
    assert row[4] == f"`1/0 in 0-2, 2/0 in 3-{ApiVersionsRequest.VERSIONS[-1]}`"
