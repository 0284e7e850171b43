"""The functions that the documentation shows work on a real broker."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.secure_broker import PASSWORDS, SUPER_USER, SecureBroker

from kafkawire.admin.client import AdminClient
from kafkawire.admin.connection.sasl.credentials import ScramCredentials
from kafkawire.model.partitions import TopicPartition
from kafkawire.model.topics import NewTopic

pytestmark = [pytest.mark.interop, pytest.mark.extended]

HOW_TO = Path(__file__).parents[3] / "docs" / "how-to"
BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)


def functions(page: Path) -> Mapping[str, Callable[..., Awaitable[None]]]:
    """The coroutine functions that a page defines, in its order."""
    namespace: dict[str, object] = {}
    for block in BLOCK.findall(page.read_text()):
        exec(compile(block, page, "exec"), namespace)  # noqa: S102 the page is ours
    return {name: found for name, found in namespace.items() if inspect.iscoroutinefunction(found)}


async def delete_topics(admin: AdminClient, *topics: str) -> None:
    """Delete topics and wait until the broker has applied it: the next page creates topics with the same names."""
    await admin.delete_topics(topics)
    async with asyncio.timeout(30):
        while not (await admin.list_topics()).keys().isdisjoint(topics):  # noqa: ASYNC110 the broker sends no event
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    "page", ["admin-groups.md", "admin-transactions.md", "admin-topics.md", "admin-cluster.md", "../admin.md"]
)
async def test_the_examples_of_a_page_work(page: str, kafka_broker: Broker) -> None:
    examples = functions(HOW_TO / page)
    assert examples
    async with AdminClient(kafka_broker.address) as admin:
        await admin.create_topics([NewTopic("invoices", num_partitions=2)])
        (await admin.wait_for_topics(["invoices"])).all()
        await admin.alter_consumer_group_offsets("billing", {TopicPartition("invoices", 0): 1})
        arguments = {"admin": admin, "address": kafka_broker.address, "topic": "orders"}
        for example in examples.values():
            await example(*(arguments[name] for name in inspect.signature(example).parameters))
        await delete_topics(admin, "invoices", "orders")


@pytest.mark.parametrize("page", ["admin-configs.md", "admin-users.md"])
async def test_the_examples_of_a_page_work_after_a_login(page: str, secure_kafka_broker: SecureBroker) -> None:
    address = f"{secure_kafka_broker.broker.host}:{secure_kafka_broker.sasl_plaintext_port}"
    examples = functions(HOW_TO / page)
    assert examples
    credentials = ScramCredentials(SUPER_USER, PASSWORDS[SUPER_USER])
    async with AdminClient(address, credentials=credentials) as admin:
        await admin.create_topics([NewTopic("orders", num_partitions=1)])
        (await admin.wait_for_topics(["orders"])).all()
        for example in examples.values():
            arguments = (admin, address)[: len(inspect.signature(example).parameters)]
            await example(*arguments)
        await delete_topics(admin, "orders")
