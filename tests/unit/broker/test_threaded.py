from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from kafkawire.admin import AdminClient, BlockingAdminClient, NewTopic, PlainCredentials
from kafkawire.broker import ConfigurationError, DataDirectoryError, EmbeddedBroker, ThreadedBroker
from kafkawire.protocol import CreateTopicsRequest
from kafkawire.protocol.errors import NotControllerError

SECOND = {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SECOND:PLAINTEXT"}


def test_a_program_without_asyncio_has_a_broker() -> None:
    others = set(threading.enumerate())
    with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("orders", num_partitions=3)]).all()
        assert list(admin.list_topics()) == ["orders"]
        assert admin.describe_cluster().cluster_id == broker.cluster_id
    assert [each for each in threading.enumerate() if each.name == "kafkawire broker" and each not in others] == []


def test_faults_are_set_from_outside() -> None:
    with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        fault = broker.faults.refuse(CreateTopicsRequest, error=NotControllerError, times=1)
        admin.create_topics([NewTopic("orders")]).all()
        assert fault.hits == 1


def test_stored_state_is_there_after_the_next_start(tmp_path: Path) -> None:
    broker = ThreadedBroker(data_dir=tmp_path)
    for expected in ([], ["orders"]):
        with broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
            assert list(admin.list_topics()) == expected
            if not expected:
                admin.create_topics([NewTopic("orders")]).all()


def test_an_error_of_the_start_is_raised_to_the_caller(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        broker = ThreadedBroker(port=taken.getsockname()[1])
        with pytest.raises(OSError, match=r"(?i)address already in use"):
            broker.start()
        broker.stop()
    with ThreadedBroker(data_dir=tmp_path), pytest.raises(DataDirectoryError):
        ThreadedBroker(data_dir=tmp_path).start()
    with pytest.raises(ConfigurationError):
        ThreadedBroker({"node.id": "one"})


def test_its_representation_says_where_it_listens() -> None:
    broker = ThreadedBroker()
    assert repr(broker) == "<ThreadedBroker, not running>"
    with broker:
        assert repr(broker) == (
            f"<ThreadedBroker PLAINTEXT://{broker.bootstrap_servers}, node 1, cluster {broker.cluster_id}>"
        )
    assert repr(broker) == "<ThreadedBroker, not running>"


async def test_the_representation_of_a_client_says_what_it_is_connected_to() -> None:
    async with EmbeddedBroker() as broker:
        assert repr(broker).startswith(f"<EmbeddedBroker PLAINTEXT://{broker.bootstrap_servers}, node 1, cluster ")
        address = broker.bootstrap_servers
        credentials = PlainCredentials("alice", "secret")
        for client in (AdminClient(address), AdminClient(address, credentials=credentials)):
            assert repr(client) == f"<AdminClient {address}, not connected yet>"
            await client.close()
        async with AdminClient(address) as client:
            await client.list_topics()
            assert repr(client) == f"<AdminClient {address}, cluster {broker.cluster_id}, 1 node>"
        assert repr(client) == f"<AdminClient {address}, closed>"
    blocking = BlockingAdminClient(["kafka-1:9092", "kafka-2:9092"])
    assert repr(blocking) == "<BlockingAdminClient kafka-1:9092,kafka-2:9092, not connected yet>"
    blocking.close()


def test_it_cannot_be_started_twice() -> None:
    with ThreadedBroker() as broker, pytest.raises(RuntimeError):
        broker.start()


def test_a_restart_keeps_the_ports_and_the_stored_state(tmp_path: Path) -> None:
    with ThreadedBroker(data_dir=tmp_path) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("orders")]).all()
        before = (broker.port, broker.cluster_id)
        broker.restart()
        assert (broker.port, broker.cluster_id) == before
        assert list(admin.list_topics()) == ["orders"]


def test_after_a_restart_in_memory_only_declared_topics_exist() -> None:
    with ThreadedBroker(topics=["orders", NewTopic("payments", num_partitions=2)]) as broker:
        with BlockingAdminClient(broker.bootstrap_servers) as admin:
            admin.create_topics([NewTopic("more")]).all()
        broker.restart()
        with BlockingAdminClient(broker.bootstrap_servers) as admin:
            assert sorted(admin.list_topics()) == ["orders", "payments"]
            assert len(admin.describe_topics(["payments"])["payments"].partitions) == 2


def test_a_restart_keeps_the_ports_of_all_listeners() -> None:
    with ThreadedBroker({"listeners": "PLAINTEXT://127.0.0.1:0,SECOND://127.0.0.1:0", **SECOND}) as broker:
        before = [broker.address(name) for name in ("PLAINTEXT", "SECOND")]
        broker.restart()
        assert [broker.address(name) for name in ("PLAINTEXT", "SECOND")] == before


def test_a_broker_that_does_not_run_cannot_be_restarted() -> None:
    with pytest.raises(RuntimeError, match="was not started"):
        ThreadedBroker().restart()


def test_a_topic_that_cannot_be_created_fails_the_start() -> None:
    with pytest.raises(ConfigurationError, match="the topic 'not legal!' cannot be created: Topic name is invalid"):
        ThreadedBroker(topics=["not legal!"]).start()


@pytest.mark.parametrize("kind", [EmbeddedBroker, ThreadedBroker])
def test_a_broker_that_was_not_started_has_no_address(kind: type[EmbeddedBroker | ThreadedBroker]) -> None:
    with pytest.raises(RuntimeError, match=r"no port before it runs: enter its `with` block, or call start\(\)"):
        _ = kind().bootstrap_servers
