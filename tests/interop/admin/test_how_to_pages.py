"""The functions that pages of the documentation define do what the pages say, at a real broker."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.apache_kafka.fixtures import SecureBrokers
from tests.apache_kafka.releases import releases
from tests.apache_kafka.secure_broker import PASSWORDS, SUPER_USER

from kafkawire.admin.client import AdminClient
from kafkawire.admin.connection.sasl import ScramCredentials
from kafkawire.protocol.errors import UnknownTopicOrPartitionError

pytestmark = [pytest.mark.interop, pytest.mark.xdist_group("kafka_broker")]

FOLDER = Path(__file__).parents[3] / "docs" / "how-to"
BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
PAGES = ("admin-configs.md", "admin-users.md")
PATIENCE = 20.0


def functions(page: str) -> list[Callable[..., object]]:
    """The coroutine functions that a page defines, in order."""
    namespace: dict[str, object] = {"__name__": "page"}
    for block in BLOCK.findall((FOLDER / page).read_text()):
        exec(compile(block, page, "exec"), namespace)  # noqa: S102 the page is ours
    return [found for found in namespace.values() if inspect.iscoroutinefunction(found)]


@pytest.mark.parametrize("release", releases())
@pytest.mark.parametrize("page", PAGES)
async def test_the_functions_of_a_page_run(page: str, release: str, secure_kafka_brokers: SecureBrokers) -> None:
    broker = secure_kafka_brokers(release)
    address = f"{broker.broker.host}:{broker.sasl_plaintext_port}"
    credentials = ScramCredentials(SUPER_USER, PASSWORDS[SUPER_USER])
    defined = functions(page)
    assert defined
    async with AdminClient(address, credentials=credentials) as admin:
        for function in defined:
            arguments = [admin, address][: len(inspect.signature(function).parameters)]
            await until_known(function, *arguments)


async def until_known(function: Callable[..., object], *arguments: object) -> None:
    """Run a function, again while the broker does not yet know the topic that it has just made."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                running = function(*arguments)
                assert inspect.isawaitable(running)
                await running
            except UnknownTopicOrPartitionError:
                continue
            return
