"""Older releases of PySpark read what the newest reads, and one of them writes to Delta Lake and Iceberg.

These are some of the tests with Spark; `make test-spark` runs all of them with each release.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest
from tests.apache_spark.prerequisites import lacking, require_spark

_TESTS: Final = Path(__file__).with_name("spark")
_CHOSEN: Final[Mapping[str, Sequence[str]]] = {
    "4.0": (
        "test_same_rows.py::test_tables_of_every_kind_have_the_same_rows",
        "test_divided_histories.py::test_parts_of_any_size_have_the_rows_of_the_log",
        "test_stream.py",
    ),
    "4.1": ("test_same_rows.py::test_tables_of_every_kind_have_the_same_rows", "test_lakes.py"),
}
_SECONDS: Final = 600


@pytest.mark.extended
@pytest.mark.parametrize("release", _CHOSEN)
def test_chosen_tests_pass_with_an_older_release(release: str) -> None:
    require_spark()
    installed = Path(sys.prefix) / f"spark-{release}"
    if not installed.is_dir():
        lacking(f"there is no {installed}: `make test-all` makes it")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *(str(_TESTS / name) for name in _CHOSEN[release])],
        env={**kept, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
