"""The recipe "Add a check" of CONTRIBUTING.md is complete: its rule is added to a copy of the generator and used."""

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

pytestmark = pytest.mark.extended

ID = "field-name-length"
COPIED = (
    "generator",
    "docs/reference",
    "tests/golden/conftest.py",
    "tests/golden/rules",
    "tests/golden/test_rules.py",
    "tests/repo/test_rule_codes.py",
)
RECIPE = re.compile(r"^   ```python\n(   @Rule\(.*?)^   ```$", flags=re.MULTILINE | re.DOTALL)
ROW = f'| <a id="{ID}"></a>`{ID}` | The name of a field has at most 60 letters. | a name of 61 letters |\n'


def definition(name: str) -> str:
    field = {"name": name, "type": "int32", "versions": "0+"}
    message = {"type": "data", "name": "Note", "validVersions": "0", "flexibleVersions": "0+", "fields": [field]}
    return json.dumps(message) + "\n"


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """What the recipe changes, in a folder of its own."""
    for name in COPIED:
        source, target = root / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "protocol"))
        else:
            shutil.copy(source, target)
    return tmp_path


def run(checkout: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(checkout / "generator")}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )


def passes(checkout: Path, *tests: str) -> bool:
    done = run(checkout, "pytest", "-q", "--rootdir", str(checkout), "-p", "no:cacheprovider", *tests)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode == 0


def test_a_check_is_one_function_its_examples_and_a_row_of_the_reference(checkout: Path, root: Path) -> None:
    golden = "tests/golden/test_rules.py"
    codes = "tests/repo/test_rule_codes.py::test_every_rule_that_findings_name_is_an_entry"
    recipe = RECIPE.search((root / "CONTRIBUTING.md").read_text("utf-8"))
    assert recipe is not None
    with (checkout / "generator/kafkawire/codegen/check/field.py").open("a") as family:
        family.write("\n\n" + textwrap.dedent(recipe[1]))
    assert not passes(checkout, golden, "-k", "every_rule_has_an_example")
    examples = checkout / "tests/golden/rules" / ID
    examples.mkdir()
    (examples / "violation.json").write_text(definition("A" * 61))
    (examples / "accepted.json").write_text(definition("A" * 60))
    assert passes(checkout, golden, "--update-golden", "-k", ID)
    expected = (examples / "expected.txt").read_text()
    assert expected.startswith(f"violation.json:1:102: error[{ID}]: Note.{'A' * 61}: the name has 61 letters\n")
    assert expected.endswith("help: choose a shorter name\n\n")
    assert passes(checkout, golden)

    assert not passes(checkout, codes)
    page = checkout / "docs/reference/definition-language.md"
    before, row, after = page.read_text().partition('| <a id="field-zero-copy-type"></a>')
    page.write_text(before + ROW + row + after)
    assert passes(checkout, codes)

    main = "import sys; from kafkawire.cli.app import main; sys.exit(main(sys.argv[1:]))"
    (checkout / "lint.py").write_text(main)
    linted = run(checkout, "lint", "schema", "lint", "--format", "sarif", str(examples / "violation.json"))
    assert linted.returncode == 1
    (rule,) = json.loads(linted.stdout)["runs"][0]["tool"]["driver"]["rules"]
    assert (rule["id"], rule["help"]["text"]) == (ID, "choose a shorter name")
