"""What the command line imports to start: little, since help, completion and wrong usage must be fast."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES

from kafkawire import cli, near_names
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.completion import VARIABLE

PROGRAM = (
    "import sys; from kafkawire.cli.app import main; main(sys.argv[1:]); "
    "print('\\n'.join(sys.modules), file=sys.stderr)"
)
HEAVY = {"asyncio", "jinja2", "msgspec", "pyarrow", "pyspark", "rich", "typer"}
LIGHT = {"app", "commands", "completion", "description", "help_text", "outcome", "standard_streams", "visible", "words"}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a broker."""
    with ThreadedBroker(topics=["orders"]) as broker:
        yield broker.bootstrap_servers


def imported(*words: str, **environment: str) -> set[str]:
    """The modules that a call has imported."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return set(run.stderr.splitlines())


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["help", "schema", "lint"],
        ["tables", "--help"],
        ["tabels"],
        ["tables", "--bogus"],
        ["schema"],
        ["generate", "--out"],
        ["--show-completion", "bash"],
    ],
    ids=" ".join,
)
def test_help_and_wrong_usage_import_no_library_and_no_command(words: list[str]) -> None:
    check(imported(*words))


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
@pytest.mark.parametrize(
    "words",
    [["ta"], ["tables", "--"], ["tables", "--table", ""], ["tables", "--table=topic", "--columns", "n"]],
    ids=str,
)
def test_a_completion_imports_no_library_and_no_command(words: list[str], shell: str) -> None:
    check(imported(*words, **{VARIABLE: shell}))


def test_only_a_process_of_its_own_looks_for_cycles_less_often_and_not_at_its_end() -> None:
    program = (
        "import gc, sys; before = gc.get_freeze_count(); from kafkawire.cli.app import main; main({}); "
        "print(gc.get_threshold()[0], gc.get_freeze_count() > before)"
    )
    found = []
    for words in ("", "['--help']"):
        command = [sys.executable, "-c", program.format(words), "--help"]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-2:]
        found.append((int(printed[0]), printed[1]))
    assert found[0][0] > found[1][0]
    assert [frozen for _, frozen in found] == ["True", "False"]


def test_a_command_imports_no_other() -> None:
    modules = imported("codec", "decode", "--package", "no.such")
    assert "kafkawire.cli.codec" in modules
    assert {name for name in modules if name.startswith(("pyarrow", "rich", "jinja2", "kafkawire.logs"))} == set()


@pytest.mark.parametrize(
    "words",
    [
        ["topics", "describe", "orders", "-o", "json"],
        ["acls", "list", "--principal", "User:alice"],
        ["groups", "lag", "readers"],
    ],
    ids=" ".join,
)
def test_names_and_forms_are_converted_without_a_library(words: list[str], address: str) -> None:
    """Typer converts values with Pydantic, whose import takes longer than a request; so does that of metadata."""
    modules = imported(*words, "-b", address)
    assert "kafkawire.admin.client" in modules
    assert {name for name in modules if name.startswith(("pydantic", "importlib.metadata", "tomllib"))} == set()


def test_a_command_reads_logs_without_pandas(tmp_path: Path) -> None:
    """Arrow imports it with the first array that is made, where it is installed."""
    log = FIXTURES / "logs" / "__consumer_offsets-0"
    modules = imported(
        "tables", "--log", str(log), "--table", "offset_commits", "--out", str(tmp_path / "rows.parquet")
    )
    assert "pyarrow" in modules
    assert "pandas" not in modules


def test_help_works_from_a_zip(tmp_path: Path) -> None:
    file = tmp_path / "kafkawire.zip"
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("kafkawire/", "")  # Python finds a namespace package in a zip by such an entry
        for path in (*Path(cli.__file__).parent.iterdir(), Path(near_names.__file__)):
            if path.is_file():
                packed.write(path, Path("kafkawire", path.relative_to(Path(near_names.__file__).parent)))
    program = f"import sys; sys.path.insert(0, {str(file)!r}); from kafkawire.cli.app import main; sys.exit(main())"
    words = [sys.executable, "-I", "-S", "-c", program, "help", "schema", "lint"]
    run = subprocess.run(words, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("Usage: kafkawire schema lint ")


def check(modules: set[str]) -> None:
    assert modules & HEAVY == set()
    own = {name for name in modules if name.startswith("kafkawire.")}
    assert own <= {
        "kafkawire.cli",
        "kafkawire.near_names",
        "kafkawire.version",
        *(f"kafkawire.cli.{name}" for name in LIGHT),
    }
