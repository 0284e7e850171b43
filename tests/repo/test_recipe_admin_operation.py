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
spec = spec_from_file_location("kafkawire.admin.client", f"{sys.argv[1]}/client.py")
sys.modules[spec.name] = client = module_from_spec(spec)
spec.loader.exec_module(client)

from kafkawire.admin import REQUIREMENTS, Support
from kafkawire.broker import EmbeddedBroker

assert "list_racks" in REQUIREMENTS


def with_blocking_client(bootstrap_servers):
    with client.BlockingAdminClient(bootstrap_servers) as admin:
        return admin.list_racks()


async def main():
    async with EmbeddedBroker({"broker.rack": "r1"}) as broker, client.AdminClient(broker.bootstrap_servers) as admin:
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


def test_an_operation_is_one_module_and_lines_in_another(root: Path, tmp_path: Path) -> None:
    recipe = (root / "CONTRIBUTING.md").read_text("utf-8")
    (tmp_path / "racks.py").write_text(block(recipe, "operations/racks.py"))
    client = (root / "src/kafkawire/admin/client.py").read_text("utf-8")
    lines = block(recipe, "client.py").splitlines(keepends=True)
    places = ["\nfrom kafkawire.admin.operations.", "class AdminClient(\n", "    create_topics = blocking("]
    for line, place in zip(lines, places, strict=True):
        at = client.index(place) + (place.rindex("\n") + 1 if "\n" in place else 0)
        client = client[:at] + line + client[at:]
    (tmp_path / "client.py").write_text(client)
    run = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
