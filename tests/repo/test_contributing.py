"""What CONTRIBUTING.md promises."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DEFINITION = """
{
  "type": "data", "name": "Reading", "validVersions": "0-1", "flexibleVersions": "1+",
  "fields": [
    { "name": "Celsius", "type": "float32", "versions": "0+", "default": "1.5" },
    { "name": "History", "type": "[]float32", "versions": "0+" },
    { "name": "Offset", "type": "float32", "versions": "1+", "taggedVersions": "1+", "tag": 0 }
  ]
}
"""

ADD_THE_TYPE = """
from kafkawire.layout import FIELD_TYPES, floating
FIELD_TYPES["float32"] = floating("float32", 4)
"""

GENERATE = """
import sys
from kafkawire.cli.app import main
sys.exit(main(["generate", "--specs", "definitions", "--package", "acme.protocol", "--out", "."]))
"""

USE = """
import struct
from acme.protocol import Reading, from_json, to_json
from kafkawire.wire.reference import decode_struct, encode_struct

reading = Reading(celsius=-2.5, history=(0.25, 8.0), offset=0.5)
body = reading.encode(1)
assert body == struct.pack(">fBffBBBf", -2.5, 3, 0.25, 8.0, 1, 0, 4, 0.5)
assert Reading().celsius == 1.5
layout = Reading.layouts().of_version(1)
assert encode_struct(reading, layout, message_name="Reading", version=1) == body
for version in Reading.VERSIONS:
    value = Reading(celsius=-2.5, history=(0.25, 8.0))
    assert Reading.decode(value.encode(version), version) == value
    assert from_json(Reading, to_json(value, version), version) == value
decoded, end = decode_struct(Reading, layout, body, 0, message_name="Reading", version=1)
assert (decoded, end) == (reading, len(body))
"""


def run(program: str, folder: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", ADD_THE_TYPE + program], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_a_field_type_is_one_record_in_one_table(tmp_path: Path) -> None:
    (tmp_path / "definitions").mkdir()
    (tmp_path / "definitions" / "Reading.json").write_text(DEFINITION)
    run(GENERATE, tmp_path)
    run(USE, tmp_path)


OPTION_BEFORE = "    as_of: datetime | None = option("
OPTION = f"""    colour: str | None = option(None, NAME, "Only records of this colour.", only_for="records")
{OPTION_BEFORE}"""

USE_OPTION = """
import pytest
from kafkawire.cli.app import main
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
assert main(["tables", "--help"]) == 0
assert main(["tables", "--log", ".", "--table", "batches", "--colour", "red"]) == 2
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
