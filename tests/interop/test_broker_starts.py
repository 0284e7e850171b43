"""The broker of the other tests in this folder: it starts, and answers bytes that none of our code has encoded."""

from __future__ import annotations

import socket
import struct
from pathlib import Path

import pytest
from tests.apache_kafka.broker import Broker, running_broker
from tests.apache_kafka.fixtures import Brokers, DumpLog
from tests.apache_kafka.node import BrokerError
from tests.apache_kafka.releases import newest_broker_release, releases

pytestmark = pytest.mark.interop

API_VERSIONS_3 = "0000001c 0012 0003 00000007 0002 6b77 00 0a 6b61666b6177697265 04 302e31 00"
"""The request frame that docs/reference/wire-format.md shows."""


@pytest.mark.parametrize(
    "release",
    [pytest.param(each, marks=[pytest.mark.extended] * (each != newest_broker_release())) for each in releases()],
)
def test_answers_the_api_versions_frame_of_the_reference(release: str, kafka_brokers: Brokers) -> None:
    broker = kafka_brokers(release)
    with socket.create_connection((broker.host, broker.port), timeout=10) as connection:
        connection.sendall(bytes.fromhex(API_VERSIONS_3))
        size, correlation_id, error_code = struct.unpack(">iih", connection.recv(10, socket.MSG_WAITALL))
        body = connection.recv(size - 6, socket.MSG_WAITALL)
    assert (correlation_id, error_code) == (7, 0)
    assert len(body) == size - 6
    # header-api-versions-response: header 0, so the compact array of keys (Produce first) follows the error code.
    assert struct.unpack_from(">Bh", body)[1] == 0


def test_dump_log_reads_what_a_broker_wrote(kafka_broker: Broker, kafka_dump_log: DumpLog) -> None:
    segment = kafka_broker.data / "__cluster_metadata-0" / "00000000000000000000.log"
    text = kafka_dump_log(segment, "--cluster-metadata-decoder")
    assert '"type":"FEATURE_LEVEL_RECORD","version":0,"data":{"name":"metadata.version"' in text
    assert "isvalid: false" not in text


def test_broker_that_cannot_start_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(BrokerError, match=r"num\.io\.threads"),
        running_broker(newest_broker_release(), tmp_path, properties={"num.io.threads": "-1"}),
    ):
        pass
