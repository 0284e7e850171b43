"""Transactions that a broker does not have, and the admin client's operations at the embedded broker."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.embedded.connection import connected_to
from tests.embedded.transactional_producer import TransactionalProducer, committed_values, state_of

from kafkawire.admin import (
    AbortTransactionSpec,
    AdminClient,
    FeatureUpdate,
    TopicPartition,
    TransactionState,
    UpgradeType,
)
from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import InitProducerIdRequest, InitProducerIdResponse
from kafkawire.protocol.error_codes import ErrorCode


@pytest.mark.parametrize("enabled", ["true", "false"])
async def test_prepared_transactions_are_refused(enabled: str) -> None:
    """KIP-939, whose versions are unstable."""
    properties = {"unstable.api.versions.enable": "true", "transaction.two.phase.commit.enable": enabled}
    async with EmbeddedBroker(properties) as broker, connected_to(broker) as client:
        for request, error in (
            (InitProducerIdRequest("t", 1000, enable2_pc=True), ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
            (InitProducerIdRequest("t", 1000, keep_prepared_txn=True), ErrorCode.UNSUPPORTED_VERSION),
            (InitProducerIdRequest("t", 1000), ErrorCode.NONE),
        ):
            answer = await client.ask(request, 6, InitProducerIdResponse)
            assert answer.error_code == error


async def test_the_admin_client_lists_describes_aborts_and_fences() -> None:
    place = TopicPartition("out", 0)
    async with (
        EmbeddedBroker(topics=["out"]) as broker,
        connected_to(broker) as client,
        AdminClient(broker.bootstrap_servers) as admin,
    ):
        producer, other = TransactionalProducer(client, "one"), TransactionalProducer(client, "two")
        await producer.begun()
        await other.begun()
        await producer.write(b"1")
        listed = (await admin.list_transactions(states=[TransactionState.ONGOING])).all()
        assert [(each.transactional_id, each.producer_id) for each in listed] == [("one", producer.producer_id)]
        described = (await admin.describe_transactions(["one", "two"])).all()
        assert described["one"].partitions == {place}
        assert (described["two"].state, described["two"].start_time_ms) == (TransactionState.EMPTY, None)
        (active,) = (await admin.describe_producers([place])).all()[place]
        assert (active.producer_id, active.transaction_start_offset) == (producer.producer_id, 0)
        (second,) = (await admin.list_transactions(transactional_id_pattern="t.*")).all()
        assert second.transactional_id == "two"
        fenced = (await admin.fence_producers(["one"])).all()["one"]
        assert fenced.producer_id == producer.producer_id
        assert await producer.write(b"2") == ErrorCode.INVALID_PRODUCER_EPOCH
        await admin.force_terminate_transaction("two")
        assert (await state_of(client, "two"))[1] == 1
        assert await committed_values(client) == []


async def test_an_administrator_aborts_a_transaction_in_a_partition() -> None:
    async with (
        EmbeddedBroker(topics=["out"]) as broker,
        connected_to(broker) as client,
        AdminClient(broker.bootstrap_servers) as admin,
    ):
        producer, other = TransactionalProducer(client, "one"), TransactionalProducer(client, "two")
        await producer.begun()
        await other.begun()
        await producer.write(b"1")
        await other.write(b"2")
        await other.end(committed=True)
        assert await committed_values(client) == []
        spec = AbortTransactionSpec(TopicPartition("out", 0), producer.producer_id, producer.epoch, 0)
        await admin.abort_transaction(spec)
        async with asyncio.timeout(10):
            while await committed_values(client) != [b"2"]:  # noqa: ASYNC110 there is no event for it
                await asyncio.sleep(0.01)


async def test_transactions_without_their_feature_are_recorded_without_its_fields(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker:
        async with AdminClient(broker.bootstrap_servers) as admin:
            downgrade = FeatureUpdate(0, UpgradeType.SAFE_DOWNGRADE)
            (await admin.update_features({"transaction.version": downgrade})).all()
        async with connected_to(broker) as client:
            found = await client.ask(InitProducerIdRequest("t", 60_000), 5, InitProducerIdResponse)
            assert not found.error_code
        await broker.restart()
        async with connected_to(broker) as client:
            again = await client.ask(InitProducerIdRequest("t", 60_000), 5, InitProducerIdResponse)
            assert (again.producer_id, again.producer_epoch) == (found.producer_id, found.producer_epoch + 1)
