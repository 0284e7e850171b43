"""A history table is one module: the recipe of CONTRIBUTING.md, followed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES

ROOT = Path(__file__).parents[4]

COMMAND = """
import sys
from kafkawire.cli.app import main
sys.exit(main(sys.argv[1:]))
"""

API = """
import sys
from kafkawire.logs import read_table, table_names
assert "rack_history" in table_names()
print(sum(batch.num_rows for batch in read_table("rack_history", sys.argv[1])))
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages: ``kafkawire.logs`` with the module that CONTRIBUTING.md shows."""
    (code,) = re.findall(
        r"^## Add a history table$.*?```python\n(.*?)^ +```$",
        (ROOT / "CONTRIBUTING.md").read_text("utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    folder = tmp_path_factory.mktemp("packages")
    logs = folder / "kafkawire" / "logs"
    shutil.copytree(ROOT / "src" / "kafkawire" / "logs", logs, ignore=shutil.ignore_patterns("__pycache__"))
    (logs / "histories" / "racks.py").write_text(textwrap.dedent(code))
    return folder


def run(packages: Path, program: str, *words: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", program, *words],
        env={**os.environ, "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_command_lists_the_table(packages: Path) -> None:
    listed = run(packages, COMMAND, "tables", "--list").splitlines()
    (line,) = [each for each in listed if each.startswith("rack_history ")]
    assert line.split(maxsplit=1)[1] == "racks of brokers, with the time during which each was registered"


def test_the_command_reads_the_table(packages: Path) -> None:
    log = str(FIXTURES / "logs")
    read = run(packages, COMMAND, "tables", "--log", log, "--table", "rack_history", "--format", "jsonl")
    rows = [json.loads(line) for line in read.splitlines()]
    assert [(row["broker_id"], row["valid_to"]) for row in rows] == [(1, None)]
    ends = ("valid_from", "valid_to", "from_offset", "to_offset", "added_by_snapshot")
    assert list(rows[0]) == ["cluster", "broker_id", "rack", *ends, "log", "_error"]


def test_the_python_interface_reads_the_table(packages: Path) -> None:
    assert run(packages, API, str(FIXTURES / "logs")) == "1\n"
