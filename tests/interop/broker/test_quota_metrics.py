"""``quota_metrics()`` of the embedded broker, and Kafka's metrics by JMX, after the same load."""

from __future__ import annotations

import importlib
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.apache_kafka.broker import running_broker
from tests.apache_kafka.prerequisites import program
from tests.apache_kafka.releases import newest_broker_release

from kafkawire.admin import AdminSettings, BlockingAdminClient, ClientQuotaAlteration, ClientQuotaEntity, NewTopic
from kafkawire.broker import ClientQuotaType, QuotaMetric, ThreadedBroker

pytestmark = [pytest.mark.interop, pytest.mark.nightly]

READER = Path(__file__).parents[2] / "conformance" / "java" / "quota_metrics" / "QuotaMetrics.java"
RECORDS = 40
"""Of 1 000 bytes each, for clients with a quota of 2 000 bytes a second: the producer is throttled."""

SECONDS = 60
"""For the records of the throttled producer; they take about 15."""

T = TypeVar("T")
Ours = Mapping[tuple[ClientQuotaType, str], QuotaMetric]
Values = Mapping[tuple[str, str], float]


def loaded(server: str, read: Callable[[], T]) -> tuple[T, T]:
    """What is read when a client with a quota has produced, and when another has created 40 partitions.

    Rates fall from then on, so nothing comes in between: the end of a program takes seconds on a busy machine.
    """
    with BlockingAdminClient(server) as client:
        client.create_topics([NewTopic("t", 1, 1)]).all()
        client.wait_for_topics(["t"])
        quotas = {"producer": {"producer_byte_rate": 2000.0}, "maker": {"controller_mutation_rate": 2.0}}
        client.alter_client_quotas(
            [ClientQuotaAlteration(ClientQuotaEntity.of_client(each), limits) for each, limits in quotas.items()]
        ).all()
    produce(server)
    produced = read()
    with BlockingAdminClient(server, settings=AdminSettings(client_id="maker")) as client:
        for name in ("a", "b", "c", "d"):
            client.create_topics([NewTopic(name, 10, 1)]).all()
        return produced, read()


def produce(server: str) -> None:
    """Produce batches of one record."""
    confluent: Any = importlib.import_module("confluent_kafka")
    one_by_one = {"linger.ms": 0, "batch.num.messages": 1, "max.in.flight.requests.per.connection": 5}
    producer = confluent.Producer({"bootstrap.servers": server, "client.id": "producer", **one_by_one})
    for _ in range(RECORDS):
        producer.produce("t", bytes(1000))
    assert producer.flush(SECONDS) == 0


def of_kafka(folder: Path) -> tuple[Values, Values]:
    with running_broker(newest_broker_release(), folder) as broker:
        reader = subprocess.Popen(
            [program("java"), "--add-modules", "jdk.attach", str(READER), str(process_of(folder))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        try:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "ready\n"
            return loaded(broker.address, lambda: values_of(reader))
        finally:
            reader.kill()
            reader.communicate()


def values_of(reader: subprocess.Popen[str]) -> Values:
    assert reader.stdin is not None
    assert reader.stdout is not None
    reader.stdin.write("\n")
    values = {}
    for line in iter(reader.stdout.readline, "\n"):
        kind, client, attribute, value = line.split("\t")
        if value != "NaN\n":
            values[f"{kind} {attribute}", client] = float(value)
    return values


def of_embedded() -> tuple[Ours, Ours]:
    with ThreadedBroker() as broker:
        return loaded(
            broker.bootstrap_servers,
            lambda: {(each.quota_type, each.tags["client-id"]): each for each in broker.quota_metrics()},
        )


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
    kafkas_of_producing, kafkas_of_making = of_kafka(tmp_path)
    of_producing, of_making = of_embedded()
    produced = of_producing[ClientQuotaType.PRODUCE, "producer"]
    made = of_making[ClientQuotaType.CONTROLLER_MUTATION, "maker"]
    assert produced.rate == pytest.approx(kafkas_of_producing["Produce byte-rate", "producer"], rel=0.25)
    assert produced.throttle_ms == pytest.approx(kafkas_of_producing["Produce throttle-time", "producer"], rel=0.25)
    assert made.rate == pytest.approx(kafkas_of_making["ControllerMutation mutation-rate", "maker"], rel=0.1)
    # The broker that forwards to a controller records its throttle times as those of requests. They are shorter by the
    # time that the topics took, which a busy machine makes longer.
    assert made.throttle_ms == pytest.approx(kafkas_of_making["Request throttle-time", "maker"], rel=0.25)
