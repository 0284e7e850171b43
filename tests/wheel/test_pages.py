"""What the README and the documentation show works with the installed wheel, in a clean environment with all extras.

`tests/pages/proofs.py` lists how each block is proven. Here those run that need no source tree, without one.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.apache_spark.fixtures import SETTINGS
from tests.apache_spark.prerequisites import require_spark
from tests.pages import page as page_module
from tests.pages.commands import BROKER, LOGS, ONLY_PARSED, Workplace, lines_of, with_stand_ins
from tests.pages.proofs import IS_OF_SPARK, LEDGER, PAGES, ROOT, runs, with_name
from tests.wheel.conftest import Install
from tests.wheel.environments import Installed, environment_of

from kafkawire.admin import BlockingAdminClient, TopicPartition
from kafkawire.broker import ThreadedBroker

pytestmark = pytest.mark.extended

RUNNER = Path(page_module.__file__)
README = ROOT / "README.md"
SOURCE_TREE = {
    "docs/conformance.md": "its programs are tests of the source tree",
    "docs/how-to/keep-a-history-in-a-lake.md": "no lake has a runtime for this Spark; test_lakes has an older one",
    "docs/how-to/prepare-a-test-broker.md": "its producer is confluent-kafka's; test_documentation runs it",
    "docs/how-to/test-with-a-broker.md": "its consumer is confluent-kafka's; test_documentation runs it",
}
"""Pages that cannot run with the wheel alone, and why."""

RUN = [page for page in PAGES if runs(page) and with_name(page) not in SOURCE_TREE]


def run_page(page: Path, installed: Installed, folder: Path) -> None:
    """Run a page as a script of the environment; it sees neither the source tree nor the tests."""
    variables = {name: value for name, value in environment_of(installed).items() if name != "COLUMNS"}
    command: list[str | Path] = [installed.python, "-P", RUNNER, page]
    ran = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_readme_runs(install: Install, tmp_path: Path) -> None:
    run_page(README, install("cli", "tables", "test"), tmp_path)


@pytest.mark.nightly  # minutes for all; that of the README is above
@pytest.mark.parametrize("page", RUN, ids=with_name)
def test_a_page_runs(page: Path, install: Install, tmp_path: Path) -> None:
    require_spark()  # all extras
    run_page(page, install("all"), tmp_path)


@pytest.mark.nightly
def test_the_printed_commands_work(install: Install, tmp_path: Path) -> None:
    require_spark()
    workplace = Workplace.made_in(tmp_path, install("all").folder / "bin")
    with ThreadedBroker(topics=["orders"]) as broker, BlockingAdminClient(broker.bootstrap_servers) as client:
        for page in PAGES:
            client.alter_consumer_group_offsets("billing", {TopicPartition("orders", 0): 0}).all()
            workplace.write_files(page)
            before: list[str] = []
            for line in lines_of(page):
                if line.startswith("export "):
                    before.append(line)
                elif line.startswith("kafkawire ") and "s3" not in line and not line.startswith(tuple(ONLY_PARSED)):
                    workplace.run(line, before, broker.bootstrap_servers if BROKER in line else None)


@pytest.mark.nightly
def test_what_is_shown_of_spark_runs(install: Install, tmp_path: Path) -> None:
    require_spark()
    installed = install("all")
    (tmp_path / "data").symlink_to(LOGS)
    made = f"SparkSession.Builder().master('local[1]').config(map={json.dumps(SETTINGS)}).getOrCreate()"
    expressions = [with_stand_ins(each.block.text) for each in LEDGER if each.test == IS_OF_SPARK]
    assert expressions
    text = "\n".join(expressions).replace('"data"', repr(str(tmp_path / "data")))
    program = f"from pyspark.sql import DataFrame, SparkSession\nspark = {made}\n{text}"
    counts = "print(*[each.count() for each in list(globals().values()) if isinstance(each, DataFrame)])"
    ran = installed.run("python", "-c", f"{program}\n{counts}", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert all(int(count) > 0 for count in ran.stdout.split()), ran.stdout


def test_the_runner_needs_only_the_standard_library(install: Install, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nimport kafkawire.wire, sys\nassert not [n for n in sys.modules if n.startswith('tests')]\n```\n"
    )
    run_page(page, install(), tmp_path)


def test_a_page_that_is_wrong_fails(install: Install, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nassert False, 'as shown'\n```\n")
    with pytest.raises(AssertionError, match=r"page\.md.*line 2(?s:.*)as shown"):
        run_page(page, install(), tmp_path)
