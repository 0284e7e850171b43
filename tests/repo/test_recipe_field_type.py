"""The recipe "Add a field type" of CONTRIBUTING.md is complete: its record and its golden file are enough."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

TABLE = "src/kafkawire/layout/field_types.py"
TESTS = ("tests/golden/conftest.py", "tests/golden/test_field_types.py")
LAST_RECORD = '        OctetsType(name="bytes"'
RECORD = re.compile(r"^   ```python\n(   integer\(.*?)^   ```$", flags=re.MULTILINE | re.DOTALL)
GOLDEN = re.compile(r"`tests/golden/types/(\w+).json`.*?^   ```json\n(.*?)^   ```$", flags=re.MULTILINE | re.DOTALL)


def checkout(root: Path, folder: Path) -> None:
    """What the recipe changes, and the tests that it names, in a folder of its own."""
    shutil.copytree(root / "src/kafkawire/layout", folder / "src/kafkawire/layout")
    shutil.copytree(root / "tests/golden/types", folder / "tests/golden/types")
    for name in TESTS:
        shutil.copy(root / name, folder / name)


def passed(root: Path, folder: Path, tests: str) -> bool:
    paths = (folder / "src", folder, root)
    command = ["pytest", "-q", "--rootdir", str(folder), "-p", "no:cacheprovider", "tests/golden/test_field_types.py"]
    done = subprocess.run(
        [sys.executable, "-m", *command, "-k", tests],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode == 0


@pytest.mark.extended
def test_a_field_type_is_one_record_and_one_golden_file(root: Path, tmp_path: Path) -> None:
    """Also for a type that ``struct`` cannot read and write."""
    text = (root / "CONTRIBUTING.md").read_text("utf-8")
    record, golden = RECORD.search(text), GOLDEN.search(text)
    assert record is not None
    assert golden is not None
    name, examples = golden.groups()
    checkout(root, tmp_path)

    table = tmp_path / TABLE
    before = table.read_text("utf-8")
    assert before.count(LAST_RECORD) == 1
    table.write_text(before.replace(LAST_RECORD, f"        {record[1].strip()},\n{LAST_RECORD}"), "utf-8")
    assert not passed(root, tmp_path, "every_type")  # for it has no examples

    path = tmp_path / "tests/golden/types" / f"{name}.json"
    path.write_text(textwrap.dedent(examples), "utf-8")
    assert passed(root, tmp_path, f"{name} or every_type")
