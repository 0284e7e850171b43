"""What CONTRIBUTING.md promises."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

OPTION_BEFORE = "    as_of: datetime | None = option("
OPTION = f"""    colour: str | None = option(None, NAME, "Only records of this colour.", only_for="records")
{OPTION_BEFORE}"""

USE_OPTION = """
import pytest
from kafkawire.cli.app import main
from kafkawire.cli.commands import COMMANDS
from kafkawire.logs import OptionError, ReadOptions, table_named
from kafkawire.spark.job import main as spark_tables
from kafkawire.spark.options import source_options

assert ReadOptions(colour="red").colour == "red"
texts = {"table": "records", "path": "/logs", "COLOUR": "red"}
assert source_options(texts).read == ReadOptions(colour="red")
with pytest.raises(OptionError, match="option 'colour': '' is not a name"):
    source_options(texts | {"COLOUR": ""})
with pytest.raises(OptionError, match="option 'colour': it is for table 'records', not for 'batches'"):
    table_named("batches", ReadOptions(colour="red"))
tables = {"tables": COMMANDS["tables"]}  # described as it is, not as it was stored
assert main(["tables", "--help"], commands=tables) == 0
assert main(["tables", "--log", ".", "--table", "batches", "--colour", "red"], commands=tables) == 2
with pytest.raises(SystemExit):
    spark_tables(["--help"])
"""


def test_a_read_option_is_one_record_in_one_module(root: Path, tmp_path: Path) -> None:
    """The package of a folder that comes first on the path is imported instead of the one in src."""
    pytest.importorskip("pyspark")
    logs = tmp_path / "kafkawire" / "logs"
    shutil.copytree(root / "src" / "kafkawire" / "logs", logs)
    table = (logs / "options.py").read_text("utf-8")
    assert table.count(OPTION_BEFORE) == 1
    (logs / "options.py").write_text(table.replace(OPTION_BEFORE, OPTION), "utf-8")
    path = os.pathsep.join([str(tmp_path), *(str(root / each) for each in ("src", "generator", "generated"))])
    ran = subprocess.run(
        [sys.executable, "-c", USE_OPTION],
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("--colour") == 3  # in the help of one command, in the usage and the help of the other
    assert ran.stdout.count("Only records of this colour.") == 2
    assert "--colour: it is for table 'records', not for 'batches'" in ran.stderr
