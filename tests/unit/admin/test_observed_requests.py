"""What an observer of a client sees: each request once, when it has ended, and nothing of what is in it."""

from __future__ import annotations

import logging

import pytest

from kafkawire.admin import AdminClient, BlockingAdminClient, NewTopic, ObservedRequest, PlainCredentials
from kafkawire.admin.connection.machine import Connection
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.connection.tracer import RequestTracer
from kafkawire.broker import EmbeddedBroker, ThreadedBroker
from kafkawire.wire.kafka_errors import DisconnectedError, KafkaError


async def test_each_request_is_seen_with_its_size_and_time() -> None:
    seen: list[ObservedRequest] = []
    async with EmbeddedBroker() as broker:
        async with AdminClient(broker.bootstrap_servers, observer=seen.append) as admin:
            await admin.create_topics([NewTopic("orders", num_partitions=1)])
        assert [each.api for each in seen][-1] == "CreateTopics"
        assert {each.address for each in seen} == {broker.bootstrap_servers}
    assert "ApiVersions" in {each.api for each in seen}
    assert all(each.sent_bytes > 20 and each.received_bytes > 8 and 0 <= each.seconds < 60 for each in seen)
    assert {each.errors for each in seen if each.api != "ApiVersions"} == {()}


async def test_errors_of_items_are_named_once() -> None:
    seen: list[ObservedRequest] = []
    async with EmbeddedBroker() as broker, AdminClient(broker.bootstrap_servers, observer=seen.append) as admin:
        await admin.delete_topics(["a", "b"])
    [deleting] = [each for each in seen if each.api == "DeleteTopics"]
    assert deleting.errors == ("UNKNOWN_TOPIC_OR_PARTITION",)


def test_an_observer_that_fails_disturbs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_request: ObservedRequest) -> None:
        raise RuntimeError("not my day")

    with (
        caplog.at_level(logging.ERROR),
        ThreadedBroker() as broker,
        BlockingAdminClient(broker.bootstrap_servers, observer=fail) as admin,
    ):
        assert admin.list_topics() == {}
    assert "the observer of the client failed" in caplog.text


def test_clients_from_properties_have_an_observer_too() -> None:
    seen: list[ObservedRequest] = []
    with ThreadedBroker() as broker:
        properties = {"bootstrap.servers": broker.bootstrap_servers}
        with BlockingAdminClient.from_properties(properties, observer=seen.append) as admin:
            admin.list_topics()
    assert seen


@pytest.mark.parametrize(
    ("error", "said"), [(DisconnectedError("cut"), "DisconnectedError"), (None, "GivenUp")], ids=["cut", "closed"]
)
def test_a_request_without_an_answer_has_the_reason(error: KafkaError | None, said: str) -> None:
    seen: list[ObservedRequest] = []
    tracer = RequestTracer(seen.append, "broker-1:9093", 7)
    connection = Connection(ConnectionSettings(), PlainCredentials("alice", "hunter2"), tracer=tracer)
    connection.open(1.0)
    connection.on_timer(3.5)
    connection.close(error)
    [request] = seen
    assert (request.api, request.version, request.node_id) == ("ApiVersions", 0, 7)
    assert (request.received_bytes, request.seconds, request.errors) == (0, 2.5, (said,))
    assert "hunter2" not in repr(seen)
