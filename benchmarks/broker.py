"""The embedded broker beside Apache Kafka; both receive the same bytes over a socket.

Both write changes to disk before they answer. The time is what a client waits.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import struct
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tests.apache_kafka.broker import AUTHORIZER
from tests.apache_kafka.node import HOST, Node, free_ports, listed_brokers
from tests.apache_kafka.releases import newest_broker_release

from benchmarks import batches, broker_data
from benchmarks.broker_programs import running_program
from benchmarks.results import KAFKA, OURS, DisagreementError, Measurement, Target
from benchmarks.sampling import Call, Waiting, interleave_waiting
from kafkawire.broker.embedded import EmbeddedBroker
from kafkawire.protocol import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kafkawire.rpc import decode_response, encode_request
from kafkawire.wire import Message

START_TARGETS = (Target(KAFKA, 1),)
IN_PROCESS_TARGETS = (Target(None, 0.150),)
REQUEST_TARGETS = (Target(KAFKA, 1),)

_SECONDS = 60.0
_HEAP = "1g"
_ANY, _LITERAL, _TOPIC, _READ, _ALLOW = 1, 3, 2, 3, 3


@dataclass(frozen=True)
class Load:
    """The size of the benchmark.

    Attributes:
        changes, reads: number of pipelined requests that change something, and that only read.
        acls: number of ACLs that one request creates.
        starts: number of starts of each program.
        filters: number of filters in a batch.
        messages: number of messages that are produced and fetched.
        copied: number of records in a copied state.
    """

    changes: int = 200
    reads: int = 2_000
    acls: int = 10_000
    starts: int = 5
    filters: int = 500
    messages: int = 100_000
    copied: int = 10_000


SMALL = Load(changes=5, reads=20, acls=20, starts=1, filters=5, messages=100, copied=100)
"""For a trial of the benchmark."""


def run(rounds: int, load: Load) -> Iterator[Measurement]:
    """Measure everything.

    Raises:
        DisagreementError: a request fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        node, kafka_port = _formatted(home)
        yield _starts(home, node, kafka_port, min(rounds, load.starts))
        yield _starts_in_process(home, rounds)
        yield from broker_data.starts(rounds, load.copied)
        with _running_kafka(node, kafka_port), running_program(home / "ours") as port:
            ours, theirs = Connection(port), Connection(kafka_port)
            yield _changes(ours, theirs, rounds, load.changes)
            yield _reads(ours, theirs, rounds, load.reads)
            yield _acls(ours, theirs, rounds, load.acls)
            ours.close()
            theirs.close()
            with running_program(None, broker_data.NO_DELAY) as in_memory:
                yield from broker_data.run(rounds, load.messages, in_memory, kafka_port)
        yield from batches.run(rounds, load.filters, home / "batches")


class Connection:
    """A connection to a broker.

    Args:
        port: the port of the broker.
    """

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection((HOST, port), _SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._input: BinaryIO = self._socket.makefile("rb")

    def ask(self, frames: Sequence[bytes]) -> Sequence[bytes]:
        """Send all requests, then receive all answers."""
        self._socket.sendall(b"".join(frames))
        return [self._answer() for _ in frames]

    def close(self) -> None:
        """Leave."""
        self._input.close()
        self._socket.close()

    def _answer(self) -> bytes:
        (size,) = struct.unpack(">i", self._input.read(4))
        return self._input.read(size)


def _starts(home: Path, node: Node, kafka_port: int, rounds: int) -> Measurement:
    """The time from the start of a program, on an existing directory, until it answers."""

    def start_kafka() -> float:
        begin = time.perf_counter()
        with _running_kafka(node, kafka_port):
            return time.perf_counter() - begin

    def start_ours() -> float:
        begin = time.perf_counter()
        with running_program(home / "started"):
            return time.perf_counter() - begin

    contenders: Mapping[str, Call | Waiting] = {OURS: Waiting(start_ours), KAFKA: Waiting(start_kafka)}
    return Measurement("broker start", "the program", interleave_waiting(contenders, rounds), START_TARGETS)


def _starts_in_process(home: Path, rounds: int) -> Measurement:
    """The time to start an embedded broker on a new directory, in a program that has imported it."""

    async def start(data_dir: Path) -> float:
        begin = time.perf_counter()
        async with EmbeddedBroker(AUTHORIZER, data_dir=data_dir):
            return time.perf_counter() - begin

    asyncio.run(start(home / "first"))
    seconds = tuple(asyncio.run(start(home / f"embedded-{number}")) for number in range(rounds))
    return Measurement(
        "broker start", "in the process of a test, with a data directory", {OURS: seconds}, IN_PROCESS_TARGETS
    )


def _changes(ours: Connection, theirs: Connection, rounds: int, count: int) -> Measurement:
    asked = AlterClientQuotasRequest
    values = itertools.count(1)

    def alter(connection: Connection) -> float:
        change = (asked.OpData("producer_byte_rate", float(next(values))),)
        entities = ((asked.EntityData("user", f"user-{number}"),) for number in range(count))
        frames = _frames([asked((asked.EntryData(entity, change),)) for entity in entities], 1)
        begin = time.perf_counter()
        answers = connection.ask(frames)
        taken = time.perf_counter() - begin
        for answer in answers:
            _check(entry.error_code for entry in decode_response(answer, AlterClientQuotasResponse, 1)[1].entries)
        return taken

    contenders = {OURS: Waiting(lambda: alter(ours)), KAFKA: Waiting(lambda: alter(theirs))}
    case = f"{count} requests that change a quota, pipelined"
    return Measurement("broker requests", case, interleave_waiting(contenders, rounds), REQUEST_TARGETS)


def _reads(ours: Connection, theirs: Connection, rounds: int, count: int) -> Measurement:
    frames = _frames([DescribeClusterRequest()] * count, 1)
    for connection in (ours, theirs):
        answers = (decode_response(answer, DescribeClusterResponse, 1)[1] for answer in connection.ask(frames))
        _check(answer.error_code for answer in answers)
    contenders = {OURS: lambda: ours.ask(frames), KAFKA: lambda: theirs.ask(frames)}
    case = f"{count} requests that describe the cluster, pipelined"
    return Measurement("broker requests", case, interleave_waiting(contenders, rounds), REQUEST_TARGETS)


def _acls(ours: Connection, theirs: Connection, rounds: int, count: int) -> Measurement:
    creation = CreateAclsRequest.AclCreation
    request = CreateAclsRequest(
        tuple(creation(_TOPIC, f"topic-{number}", _LITERAL, "User:u", "*", _READ, _ALLOW) for number in range(count))
    )
    creating = _frames([request], 3)
    every = DeleteAclsRequest.DeleteAclsFilter(_ANY, None, _ANY, None, None, _ANY, _ANY)
    deleting = _frames([DeleteAclsRequest((every,))], 3)

    def create(connection: Connection) -> float:
        begin = time.perf_counter()
        (created,) = connection.ask(creating)
        taken = time.perf_counter() - begin
        (deleted,) = connection.ask(deleting)
        _check(result.error_code for result in decode_response(created, CreateAclsResponse, 3)[1].results)
        _check(result.error_code for result in decode_response(deleted, DeleteAclsResponse, 3)[1].filter_results)
        return taken

    contenders = {OURS: Waiting(lambda: create(ours)), KAFKA: Waiting(lambda: create(theirs))}
    seconds = interleave_waiting(contenders, rounds)
    return Measurement("broker requests", f"a request that creates {count} ACLs", seconds, REQUEST_TARGETS)


def _frames(requests: Sequence[Message], version: int) -> list[bytes]:
    return [
        encode_request(request, version, correlation_id=number, client_id="benchmark")
        for number, request in enumerate(requests)
    ]


def _check(error_codes: Iterable[int]) -> None:
    wrong = {*error_codes} - {0}
    if wrong:
        raise DisagreementError(f"requests fail with the error codes {wrong}")


def _formatted(home: Path) -> tuple[Node, int]:
    port, controller_port = free_ports(2)
    properties = {
        **AUTHORIZER,
        **broker_data.NO_DELAY,
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{HOST}:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(home / "kafka-data"),
    }
    node = Node(newest_broker_release(), 1, home / "kafka", properties, heap=_HEAP)
    node.format()
    return node, port


@contextmanager
def _running_kafka(node: Node, port: int) -> Iterator[None]:
    node.start()
    try:
        node.wait_until(lambda: 1 in listed_brokers(port))
        yield
    finally:
        node.stop()
