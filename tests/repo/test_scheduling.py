"""The tables of tests/scheduling.py fit the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.scheduling import NEXT, UNITS, Unit, rank_of, unit_of


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_has_files(root: Path, unit: Unit) -> None:
    files = {str(file.relative_to(root)) for file in (root / "tests").rglob("test_*.py")}
    assert [beginning for beginning in unit.beginnings if not any(file.startswith(beginning) for file in files)] == []


def test_tests_that_share_processes_are_one_unit() -> None:
    assert unit_of("tests/interop/admin/test_acls.py::test_one[4.3.1]") == "brokers"
    assert unit_of("tests/repo/test_examples.py::test_example_asks_a_broker") == "brokers"
    assert unit_of("tests/unit/wire/test_varint.py::TestNumbers::test_one") == "tests/unit/wire/test_varint.py"
    assert unit_of("tests/interop/broker/same_answers/test_acls.py::test_one") == "same answers"
    assert unit_of("tests/interop/broker/test_hand_over.py::test_one") == "clients"


def test_long_units_begin_first() -> None:
    order = [*(unit.name for unit in UNITS), *NEXT]
    assert [rank_of(unit) for unit in order] == list(range(len(order)))
    assert (
        rank_of("brokers")
        < rank_of("clients")
        < rank_of("tests/laws/wire/test_record_laws.py")
        < rank_of("tests/unit/test_rpc.py")
    )


def test_brokers_are_refused_to_tests_of_other_units(root: Path, tmp_path: Path) -> None:
    (tmp_path / "test_alone.py").write_text("def test_alone(kafka_brokers): ...")
    command = [sys.executable, "-m", "pytest", "-p", "tests.scheduling", "-p", "tests.apache_kafka.fixtures"]
    ran = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(root)}, capture_output=True, check=False
    )
    assert ran.returncode == pytest.ExitCode.USAGE_ERROR
    assert b"test_alone.py::test_alone uses kafka_brokers: add its file to brokers" in ran.stderr
