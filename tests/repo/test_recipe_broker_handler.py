"""The recipe of CONTRIBUTING.md for a handler of the embedded broker works as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

PROGRAM = """
import asyncio, sys
from importlib.util import module_from_spec, spec_from_file_location

import kafkawire.broker.handlers

sys.path.insert(0, sys.argv[2])
kafkawire.broker.handlers.__path__.append(sys.argv[1])
spec = spec_from_file_location("kafkawire.broker.assembly", f"{sys.argv[1]}/assembly.py")
sys.modules[spec.name] = assembly = module_from_spec(spec)
spec.loader.exec_module(assembly)

from tests.embedded.apis import listed_apis
from tests.embedded.connection import connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.layout import Uuid
from kafkawire.protocol import GetTelemetrySubscriptionsRequest, GetTelemetrySubscriptionsResponse
from kafkawire.protocol.api_table import ApiKey


async def main():
    assert (await listed_apis())[ApiKey.GET_TELEMETRY_SUBSCRIPTIONS] == range(0, 1)
    request = GetTelemetrySubscriptionsRequest(Uuid(b"a client of ours"))
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        answer = await client.ask(request, 0, GetTelemetrySubscriptionsResponse)
        assert (answer.error_code, answer.client_instance_id) == (0, request.client_instance_id), answer
        broker.faults.refuse(GetTelemetrySubscriptionsRequest, error=31)
        refused = await client.ask(request, 0, GetTelemetrySubscriptionsResponse)
        assert refused.error_code == 31, refused
    restricted = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
    async with EmbeddedBroker(restricted) as broker, connected_to(broker) as client:
        refused = await client.ask(request, 0, GetTelemetrySubscriptionsResponse)
        assert refused.error_code == 31, refused


asyncio.run(main())
"""


def block(text: str, title: str) -> str:
    found = re.search(rf'   ```python title="{re.escape(title)}"\n(.*?)   ```\n', text, re.DOTALL)
    assert found is not None, title
    return textwrap.dedent(found[1])


def test_a_handler_is_one_module_and_one_line(root: Path, tmp_path: Path) -> None:
    recipe = (root / "CONTRIBUTING.md").read_text("utf-8")
    (tmp_path / "telemetry.py").write_text(block(recipe, "handlers/telemetry.py"))
    assembly = (root / "src/kafkawire/broker/assembly.py").read_text("utf-8")
    imported, named = block(recipe, "assembly.py").splitlines(keepends=True)
    for line, place in ((imported, "from kafkawire.broker.handlers.topic_partitions"), (named, "    TopicHandlers,\n")):
        assert place in assembly
        assembly = assembly.replace(place, line + place, 1)
    (tmp_path / "assembly.py").write_text(assembly)
    run = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path, root], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
