"""The recipe of CONTRIBUTING.md for an operation of the admin client works as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

PROGRAM = """
import asyncio, sys
from importlib.util import module_from_spec, spec_from_file_location

import kafkawire.admin.operations

kafkawire.admin.operations.__path__.append(sys.argv[1])
for name in ("families", "blocking_methods"):
    spec = spec_from_file_location(f"kafkawire.admin.{name}", f"{sys.argv[1]}/{name}.py")
    sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[spec.name])

from kafkawire.admin import REQUIREMENTS, AdminClient, BlockingAdminClient, Support
from kafkawire.broker import EmbeddedBroker

assert "list_racks" in REQUIREMENTS


def with_blocking_client(bootstrap_servers):
    with BlockingAdminClient(bootstrap_servers) as admin:
        return admin.list_racks()


async def main():
    async with EmbeddedBroker({"broker.rack": "r1"}) as broker, AdminClient(broker.bootstrap_servers) as admin:
        racks = await admin.list_racks(timeout=20)
        assert list(racks.values()) == ["r1"], racks
        assert await asyncio.to_thread(with_blocking_client, broker.bootstrap_servers) == racks
        assert (await admin.capabilities()).all()[next(iter(racks))]["list_racks"].support is Support.SUPPORTED


asyncio.run(main())
"""


def block(text: str, title: str) -> str:
    found = re.search(rf'   ```python title="{re.escape(title)}"\n(.*?)   ```\n', text, re.DOTALL)
    assert found is not None, title
    return textwrap.dedent(found[1])


PLACES = {
    "families.py": [
        "    from kafkawire.admin.operations.acls",
        '    "topics.TopicOperations"',
        "        TopicOperations,",
    ],
    "blocking_methods.py": ["    create_topics = blocking("],
}
"""In front of what the lines of the recipe are put."""


def test_an_operation_is_one_module_and_lines_in_two_others(root: Path, tmp_path: Path) -> None:
    recipe = (root / "CONTRIBUTING.md").read_text("utf-8")
    (tmp_path / "racks.py").write_text(block(recipe, "operations/racks.py"))
    for name, places in PLACES.items():
        module = (root / "src/kafkawire/admin" / name).read_text("utf-8")
        for line, place in zip(block(recipe, name).splitlines(keepends=True), places, strict=True):
            at = module.index(place)
            indented = " " * (len(place) - len(place.lstrip())) + line.lstrip()
            module = module[:at] + indented + module[at:]
        (tmp_path / name).write_text(module)
    run = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
