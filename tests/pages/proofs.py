"""How each block of the README and the documentation is proven: the tests that fail if it is wrong.

``python -m tests.pages.proofs`` lists all blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.pages.page import Block, blocks

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OWN_FOLDERS = ("specs", "templates", "generator", "generated", "src")

RUNS = "tests/repo/test_documentation.py::test_a_page_runs"
IS_AN_EXCERPT = "tests/repo/test_documentation.py::test_an_excerpt_equals_its_file"
RUNS_WITH_SPARK = "tests/interop/spark/test_page.py::test_the_page_runs"
RUNS_WITH_A_LAKE = "tests/interop/spark/test_lakes.py::test_the_page_runs"
IS_OF_SPARK = "tests/interop/spark/test_page.py::test_an_expression_with_a_session_runs"
COMMANDS_WORK = "tests/repo/test_printed_commands.py::test_the_commands_of_a_page_work"
IS_DATA = "tests/repo/test_printed_data.py::test_data_is_what_its_reader_expects"

IS_THE_STATEMENT = "tests/unit/spark/test_merging.py::test_the_page_has_the_statement"

BY_LANGUAGE = {
    "python": RUNS,
    "console": RUNS,
    "json": RUNS,
    "sh": COMMANDS_WORK,
    "sql": IS_THE_STATEMENT,
    "py": IS_OF_SPARK,
    "java": "tests/interop/broker/clients/test_recipes.py::test_a_program_in_java",
    "go": "tests/interop/broker/clients/test_recipes.py::test_a_program_in_go",
    "toml": IS_DATA,
    "properties": IS_DATA,
    "yaml": IS_DATA,
}
"""What proves a block of a language if nothing below says more. ``py`` stands on ``spark``, a session of the reader."""

WITH_KAFKAS_CLASSES = "tests/conformance/test_page.py::test_the_program_with_kafkas_classes_runs"
WITH_A_CLUSTER = "tests/interop/test_page.py::test_the_program_with_a_cluster_runs"

RUN_ELSEWHERE = {
    "docs/how-to/spark.md": (RUNS_WITH_SPARK,),
    "docs/how-to/query-with-sql.md": (RUNS_WITH_SPARK,),
    "docs/how-to/keep-a-history-in-a-lake.md": (RUNS_WITH_A_LAKE,),
    "docs/conformance.md": (WITH_KAFKAS_CLASSES, WITH_A_CLUSTER),
}
"""Pages whose programs need more than kafkawire: Java and Apache Spark, or Apache Kafka and the fixtures of tests.

One test proves all of a page, or there is one for each program, in their order.
"""


@dataclass(frozen=True)
class Proven:
    """A block, and where it is proven.

    Attributes:
        page: its path in the repository.
        block: the block.
        test: ``file::function``, or None if no rule knows the block.
    """

    page: str
    block: Block
    test: str | None


TEXTS = {
    "docs/how-to/commands-quotas.md": COMMANDS_WORK,
    "docs/tutorial.md": RUNS,
    "docs/how-to/replay-a-failure.md": (
        "tests/unit/pytest_plugin/test_fixtures.py::test_a_seed_is_in_the_report_of_a_failed_test"
    ),
    "docs/troubleshooting.md": "tests/repo/site/test_troubleshooting.py::test_the_messages_are_in_the_sources",
    "docs/reference/kafka-configs.md": "tests/unit/cli/kafka_configs/test_page.py::test_the_page_shows_what_is_printed",
    "docs/how-to/test-with-a-broker.md": "tests/repo/test_printed_data.py::test_a_report_of_requests_looks_as_shown",
}
"""Pages with outputs that no command of the page prints."""


def with_name(page: Path) -> str:
    """The path of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


def runs(page: Path) -> bool:
    """Whether a page has something to run."""
    return any(block.executed or block.on_terminal or block.language == "console" for block in blocks(page.read_text()))


def ledger(page: Path) -> list[Proven]:
    """All blocks of a page.

    Raises:
        ValueError: the page has another number of programs than ``RUN_ELSEWHERE``.
    """
    name = with_name(page)
    proven = [Proven(name, block, _proof(name, block)) for block in blocks(page.read_text())]
    elsewhere = RUN_ELSEWHERE.get(name)
    if elsewhere is None:
        return proven
    run = [each for each in proven if each.test == RUNS]
    tests = elsewhere * len(run) if len(elsewhere) == 1 else elsewhere
    replaced = {each.block: test for each, test in zip(run, tests, strict=True)}
    return [Proven(name, each.block, replaced.get(each.block, each.test)) for each in proven]


def _proof(page: str, block: Block) -> str | None:
    if Path(block.title).parts[:1] in [(folder,) for folder in OWN_FOLDERS]:
        return IS_AN_EXCERPT
    if block.on_terminal:
        return RUNS
    if block.language == "text":
        return TEXTS.get(page)
    if block.language == "py" and block.title:
        return None
    if block.language == "json" and not block.title:
        return IS_DATA
    return BY_LANGUAGE.get(block.language)


LEDGER = [proven for page in PAGES for proven in ledger(page)]
"""All blocks of all pages."""


def main() -> None:
    """List all blocks."""
    for proven in LEDGER:
        block = proven.block
        print(f"{proven.page}:{block.line}: {block.language} {block.title}: {proven.test or 'UNKNOWN'}")


if __name__ == "__main__":
    main()
