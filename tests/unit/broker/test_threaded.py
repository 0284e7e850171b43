from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.broker import ConfigurationError, DataDirectoryError, ThreadedBroker
from kafkawire.protocol import CreateTopicsRequest
from kafkawire.protocol.errors import NotControllerError


def test_a_program_without_asyncio_has_a_broker() -> None:
    with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("orders", num_partitions=3)]).all()
        assert list(admin.list_topics()) == ["orders"]
        assert admin.describe_cluster().cluster_id == broker.cluster_id
    assert [thread for thread in threading.enumerate() if thread.name == "kafkawire broker"] == []


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


def test_it_cannot_be_started_twice() -> None:
    with ThreadedBroker() as broker, pytest.raises(RuntimeError):
        broker.start()
