"""``quota_metrics()`` of the embedded broker, and Kafka's metrics by JMX, after the same load."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.apache_kafka.broker import running_broker
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.prerequisites import program
from tests.apache_kafka.releases import newest_broker_release

from kafkawire.admin import AdminSettings, BlockingAdminClient, ClientQuotaAlteration, ClientQuotaEntity, NewTopic
from kafkawire.broker import ClientQuotaType, ThreadedBroker

pytestmark = [pytest.mark.interop, pytest.mark.nightly]

READER = Path(__file__).parents[2] / "conformance" / "java" / "quota_metrics" / "QuotaMetrics.java"
RECORDS = 40
"""Of 1 000 bytes each, for clients with a quota of 2 000 bytes a second: the producer is throttled."""

Values = Mapping[tuple[str, str], float]


def load(server: str) -> None:
    """Clients with quotas: one that produces, one that creates 40 partitions."""
    with BlockingAdminClient(server) as client:
        client.create_topics([NewTopic("t", 1, 1)]).all()
        quotas = {"producer": {"producer_byte_rate": 2000.0}, "maker": {"controller_mutation_rate": 2.0}}
        client.alter_client_quotas(
            [ClientQuotaAlteration(ClientQuotaEntity.of_client(each), limits) for each, limits in quotas.items()]
        ).all()
    run_tool(
        newest_broker_release(), "org.apache.kafka.tools.ProducerPerformance", "--topic", "t",
        "--num-records", str(RECORDS), "--record-size", "1000", "--throughput", "100",
        "--producer-props", f"bootstrap.servers={server}", "client.id=producer", "linger.ms=0", "batch.size=1",
    )  # fmt: skip
    with BlockingAdminClient(server, settings=AdminSettings(client_id="maker")) as client:
        for name in ("a", "b", "c", "d"):
            client.create_topics([NewTopic(name, 10, 1)]).all()


def of_kafka(folder: Path) -> Values:
    with running_broker(newest_broker_release(), folder) as broker:
        reader = subprocess.Popen(
            [program("java"), "--add-modules", "jdk.attach", str(READER), str(process_of(folder))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "ready\n"
            load(broker.address)
            printed, _ = reader.communicate("\n")
        finally:
            reader.kill()
    values = {}
    for line in printed.splitlines():
        kind, client, attribute, value = line.split("\t")
        if value != "NaN":
            values[f"{kind} {attribute}", client] = float(value)
    return values


def process_of(folder: Path) -> int:
    """The id of the broker whose files are in a folder."""
    for each in Path("/proc").glob("[0-9]*"):
        try:
            words = (each / "cmdline").read_text("utf-8", "replace")
        except OSError:
            continue
        if "java" in words and str(folder) in words:
            return int(each.name)
    raise AssertionError("the broker has no process")


def test_rates_and_throttle_times_are_those_of_kafka(tmp_path: Path) -> None:
    kafkas = of_kafka(tmp_path)
    with ThreadedBroker() as broker:
        load(broker.bootstrap_servers)
        ours = {(each.quota_type, each.tags["client-id"]): each for each in broker.quota_metrics()}
    produced = ours[ClientQuotaType.PRODUCE, "producer"]
    made = ours[ClientQuotaType.CONTROLLER_MUTATION, "maker"]
    assert produced.rate == pytest.approx(kafkas["Produce byte-rate", "producer"], rel=0.25)
    assert produced.throttle_ms == pytest.approx(kafkas["Produce throttle-time", "producer"], rel=0.25)
    assert made.rate == pytest.approx(kafkas["ControllerMutation mutation-rate", "maker"], rel=0.1)
    # The broker that forwards to a controller records its throttle times as those of requests. They are shorter by the
    # time that the topics took, which a busy machine makes longer.
    assert made.throttle_ms == pytest.approx(kafkas["Request throttle-time", "maker"], rel=0.25)
