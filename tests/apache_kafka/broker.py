"""A real Apache Kafka: one node, broker and controller (KRaft), on free ports, with its data in a scratch folder."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.apache_kafka.prerequisites import java
from tests.apache_kafka.releases import class_path

_JVM = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
_QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
_CLUSTER_ID = "a2Fma2F3aXJlLXRlc3RzMA"
_NODE_ID = 1
_SECONDS_TO_START = 60.0
_SECONDS_TO_STOP = 20.0
_SECONDS_BETWEEN_LOOKS = 0.05
_STARTS = 3

_SMALL = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
}
"""What one node needs to serve all its internal topics."""

_METADATA_1 = bytes.fromhex("0000000e 0003 0001 00000000 ffff 00000000")
"""A frame with a Metadata request, version 1, for no topic: it works before anything of ours does."""


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker that answers.

    Attributes:
        release: of Apache Kafka.
        host, port: of the plain listener.
        controller_port: of the controller listener.
        cluster_id: id of the cluster.
        node_id: id of the one node.
        data: the folder of its logs.
        output: the file with what it printed: warnings and errors.
    """

    release: str
    host: str
    port: int
    controller_port: int
    cluster_id: str
    node_id: int
    data: Path
    output: Path

    @property
    def address(self) -> str:
        """``host:port``, as clients want it."""
        return f"{self.host}:{self.port}"


class BrokerError(Exception):
    """A broker that does not start; the message is what it printed."""


class _PortTakenError(BrokerError):
    """Another process was faster in taking a free port."""


@contextmanager
def running_broker(
    release: str, folder: Path, *, properties: Mapping[str, str] | None = None, format_arguments: Sequence[str] = ()
) -> Iterator[Broker]:
    """Format the storage of a new cluster and start its only node; it is stopped when the context ends.

    Args:
        release: of Apache Kafka.
        folder: an empty folder for its configuration, its data and its output.
        properties: further ``server.properties``; they win. ``PLAINTEXT`` and ``CONTROLLER`` listeners are there.
        format_arguments: further arguments of ``kafka-storage format``, such as ``--add-scram``.

    Raises:
        BrokerError: if it does not answer in time.
    """
    for attempt in range(_STARTS):
        home = folder / f"start-{attempt}"
        home.mkdir(parents=True)
        broker = _configured(release, home, properties or {})
        _format(broker, home, format_arguments)
        process = _start(broker, home)
        try:
            _wait_until_it_answers(broker, process)
        except _PortTakenError:
            continue
        except BaseException:
            _stop(process)
            raise
        try:
            yield broker
        finally:
            _stop(process)
        return
    raise BrokerError(f"no free ports in {_STARTS} attempts")


def run_tool(release: str, tool: str, *arguments: str) -> str:
    """What a command line tool of Apache Kafka prints.

    Args:
        release: of Apache Kafka.
        tool: the name of its main class.
        arguments: its command line.

    Raises:
        subprocess.CalledProcessError: if it fails.
    """
    command = [*_java_command(release), tool, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _configured(release: str, home: Path, properties: Mapping[str, str]) -> Broker:
    host = "127.0.0.1"
    port, controller_port = _free_ports(host, 2)
    broker = Broker(
        release, host, port, controller_port, _CLUSTER_ID, _NODE_ID, home / "data", home / "output.txt"
    )  # fmt: skip
    settings = {
        "process.roles": "broker,controller",
        "node.id": str(_NODE_ID),
        "controller.quorum.voters": f"{_NODE_ID}@{host}:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{host}:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(broker.data),
        **_SMALL,
        **properties,
    }
    lines = [f"{name}={value}\n" for name, value in settings.items()]
    (home / "server.properties").write_text("".join(lines), "utf-8")
    return broker


def _format(broker: Broker, home: Path, arguments: Sequence[str]) -> None:
    storage = ("--config", str(home / "server.properties"), "--cluster-id", broker.cluster_id)
    try:
        run_tool(broker.release, "kafka.tools.StorageTool", "format", *storage, *arguments)
    except subprocess.CalledProcessError as error:
        raise BrokerError(f"kafka-storage format failed:\n{error.stdout}{error.stderr}") from error


def _start(broker: Broker, home: Path) -> subprocess.Popen[bytes]:
    command = [*_java_command(broker.release), "kafka.Kafka", str(home / "server.properties")]
    with broker.output.open("wb") as output:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=home)


def _java_command(release: str) -> list[str]:
    return [java(), *_JVM, _QUIET, "-cp", os.pathsep.join(map(str, class_path(release)))]


def _wait_until_it_answers(broker: Broker, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < deadline:
        if _lists_itself(broker):
            return
        try:
            process.wait(_SECONDS_BETWEEN_LOOKS)
        except subprocess.TimeoutExpired:
            continue
        printed = broker.output.read_text("utf-8", errors="replace")
        kind = _PortTakenError if "Address already in use" in printed else BrokerError
        raise kind(f"Apache Kafka {broker.release} ended with exit code {process.returncode}:\n{printed}")
    printed = broker.output.read_text("utf-8", errors="replace")
    raise BrokerError(f"Apache Kafka {broker.release} did not answer within {_SECONDS_TO_START} s:\n{printed}")


def _lists_itself(broker: Broker) -> bool:
    """Whether its metadata has a broker: it answers a little before the controller lets it in."""
    try:
        with socket.create_connection((broker.host, broker.port), timeout=_SECONDS_TO_START) as connection:
            connection.sendall(_METADATA_1)
            answer = connection.recv(12, socket.MSG_WAITALL)
    except OSError:
        return False
    return len(answer) == 12 and struct.unpack(">iii", answer)[2] > 0


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_ports(host: str, count: int) -> list[int]:
    """Ports that were free a moment ago."""
    listeners = [socket.create_server((host, 0)) for _ in range(count)]
    try:
        return [int(listener.getsockname()[1]) for listener in listeners]
    finally:
        for listener in listeners:
            listener.close()
