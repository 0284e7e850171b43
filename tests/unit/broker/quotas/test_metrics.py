"""The use of quotas: limits, rates and throttle times of the clients that share one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafkawire.admin import AdminClient, AdminSettings, BlockingAdminClient, ClientQuotaAlteration, NewTopic
from kafkawire.broker import ClientQuotaType, EmbeddedBroker, QuotaMetric, ThreadedBroker
from kafkawire.broker.clock import ManualClock
from kafkawire.broker.quotas.client_quotas import ClientQuotas
from kafkawire.broker.quotas.rate import Average, QuotaWindows
from kafkawire.broker.sessions import Principal, Session
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.protocol import ClientQuotaRecord

ALICE = Session(Principal("alice"), "127.0.0.1", "PLAINTEXT")
BOB = Session(Principal("bob"), "127.0.0.1", "PLAINTEXT")


def limit(key: str, value: float, user: str | None) -> ClientQuotaRecord:
    return ClientQuotaRecord((ClientQuotaRecord.EntityData("user", user),), key, value)


def of_type(quotas: ClientQuotas, quota_type: ClientQuotaType) -> Sequence[QuotaMetric]:
    return [each for each in quotas.metrics() if each.quota_type is quota_type]


def test_without_quotas_nothing_is_measured() -> None:
    quotas = ClientQuotas(ManualClock())
    quotas.produce.record(ALICE, "a", 1000)
    assert quotas.metrics() == []


def test_each_group_of_clients_has_its_rate_and_throttle_time() -> None:
    clock = ManualClock()
    quotas = ClientQuotas(clock)
    quotas.apply(limit("producer_byte_rate", 100.0, None))
    throttled = quotas.produce.record(BOB, "b", 2000)
    quotas.produce.record(ALICE, "a", 500)
    assert of_type(quotas, ClientQuotaType.PRODUCE) == [
        QuotaMetric(ClientQuotaType.PRODUCE, {"user": "alice", "client-id": ""}, 100.0, 50.0, 0.0),
        QuotaMetric(ClientQuotaType.PRODUCE, {"user": "bob", "client-id": ""}, 100.0, 200.0, float(throttled)),
    ]
    clock.advance(60)
    assert [(each.rate, each.throttle_ms) for each in quotas.metrics()] == [(0.0, 0.0), (0.0, 0.0)]


def test_throttle_times_are_averaged() -> None:
    average = Average(QuotaWindows())
    assert average.measure(0) == 0.0
    average.record(100, 0)
    average.record(300, 1500)
    assert average.measure(2000) == 200.0
    assert average.measure(60_000) == 0.0


def test_a_removed_limit_is_none() -> None:
    quotas = ClientQuotas(ManualClock())
    quotas.apply(limit("consumer_byte_rate", 100.0, "alice"))
    quotas.apply(limit("consumer_byte_rate", 5.0, "bob"))
    quotas.fetch.record(ALICE, "a", 10)
    quotas.apply(
        ClientQuotaRecord((ClientQuotaRecord.EntityData("user", "alice"),), "consumer_byte_rate", 0.0, remove=True)
    )
    assert [each.limit for each in quotas.metrics()] == [None]


def test_request_time_is_in_per_cent() -> None:
    quotas = ClientQuotas(ManualClock())
    quotas.apply(limit("request_percentage", 1.0, "alice"))
    quotas.request.record(ALICE, "a", 0.5)
    (metric,) = quotas.metrics()
    assert (metric.quota_type, metric.limit, metric.rate, metric.throttle_ms) == (
        ClientQuotaType.REQUEST,
        1.0,
        5.0,
        1000.0,
    )


async def test_a_broker_lists_the_use_of_mutations() -> None:
    async with (
        EmbeddedBroker(clock=ManualClock()) as broker,
        AdminClient(broker.bootstrap_servers, settings=AdminSettings(client_id="maker")) as admin,
    ):
        quota = ClientQuotaAlteration(ClientQuotaEntity.of_client("maker"), {"controller_mutation_rate": 10.0})
        (await admin.alter_client_quotas([quota])).all()
        (await admin.create_topics([NewTopic("orders", num_partitions=20)])).all()
        assert broker.quota_metrics() == [
            QuotaMetric(ClientQuotaType.CONTROLLER_MUTATION, {"client-id": "maker", "user": ""}, 10.0, 20 / 30, 0.0)
        ]


def test_a_broker_in_a_thread_lists_them_too() -> None:
    with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.alter_client_quotas(
            [ClientQuotaAlteration(ClientQuotaEntity({"user": "ANONYMOUS"}), {"request_percentage": 500.0})]
        ).all()
        admin.list_topics()
        (metric,) = broker.quota_metrics()
        assert (metric.tags, metric.limit, metric.rate > 0) == ({"user": "ANONYMOUS", "client-id": ""}, 500.0, True)
    with pytest.raises(RuntimeError, match="does not run"):
        broker.quota_metrics()


def test_a_broker_that_does_not_run_has_none() -> None:
    with pytest.raises(RuntimeError, match="does not run"):
        EmbeddedBroker().quota_metrics()
