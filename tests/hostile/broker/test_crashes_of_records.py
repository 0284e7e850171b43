"""Whatever ends a broker, the records that it has acknowledged are there, at the offsets of the acknowledgement."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Final

import pytest
from tests.embedded.process import STARTER, pipe, running, started

from kafkawire.admin import AdminClient, NewTopic
from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import ProduceRequest, ProduceResponse
from kafkawire.rpc import decode_response, encode_request
from kafkawire.wire.batches import Record, decode_records, encode_batch, read_batches

SEED: Final = 20_261_125
KILLS: Final = 8
IN_FLIGHT: Final = 32
VERSION: Final = 9
PARTITIONS: Final = 3

PROGRAM: Final = "import sys; from kafkawire.cli.app import main; sys.exit(main())"


class Client:
    """Produces numbers, many requests at a time; number n goes to partition n modulo their count."""

    def __init__(self, port: int, number: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self._input = self._socket.makefile("rb")
        self.sent = self.acknowledged = number

    def run(self, answers: int) -> None:
        """Continue until this number of answers has arrived.

        Raises:
            ConnectionError: the broker is gone.
        """
        for _ in range(answers):
            while self.sent - self.acknowledged < IN_FLIGHT:
                frame = encode_request(request(self.sent), VERSION, correlation_id=self.sent, client_id="load")
                self._socket.sendall(frame)
                self.sent += 1
            self._take_answer()

    def take_answers(self) -> None:
        """All that came before the broker was gone."""
        try:
            while self.acknowledged < self.sent:
                self._take_answer()
        except ConnectionError:
            pass
        finally:
            self._input.close()
            self._socket.close()

    def _take_answer(self) -> None:
        (size,) = struct.unpack(">i", self._read(4))
        number, answer = decode_response(self._read(size), ProduceResponse, VERSION)
        (result,) = answer.responses[0].partition_responses
        assert (number, result.error_code) == (self.acknowledged, 0)
        self.acknowledged += 1

    def _read(self, size: int) -> bytes:
        content = self._input.read(size)
        if len(content) < size:
            raise ConnectionResetError("the broker is gone")
        return content


def request(number: int) -> ProduceRequest:
    records = encode_batch([Record(timestamp=number, value=b"%d" % number + bytes(100))])
    partition = ProduceRequest.PartitionProduceData(number % PARTITIONS, records)
    return ProduceRequest(acks=-1, topic_data=(ProduceRequest.TopicProduceData("t", partition_data=(partition,)),))


async def create(data_dir: Path) -> None:
    async with EmbeddedBroker(data_dir=data_dir) as broker, AdminClient(broker.bootstrap_servers) as admin:
        topic = NewTopic("t", PARTITIONS, 1, configs={"segment.bytes": "1048576"})
        (await admin.create_topics([topic])).all()


def check(data_dir: Path, acknowledged: int, sent: int) -> int:
    """What a broker serves is what was sent, up to a number in each partition; returns how many were sent at least."""

    async def served() -> list[list[int]]:
        async with EmbeddedBroker(data_dir=data_dir):
            return [_numbers(data_dir / f"t-{partition}") for partition in range(PARTITIONS)]

    numbers = asyncio.run(served())
    for partition, found in enumerate(numbers):
        assert found == list(range(partition, sent, PARTITIONS))[: len(found)]
    assert sorted(number for found in numbers for number in found)[:acknowledged] == list(range(acknowledged))
    return max((found[-1] for found in numbers if found), default=-1) + 1


def _numbers(folder: Path) -> list[int]:
    batches = (batch for path in sorted(folder.glob("*.log")) for batch in read_batches(path.read_bytes()))
    return [int((record.value or b"").rstrip(b"\0")) for batch in batches for record in decode_records(batch)]


def test_kill_9_under_load_loses_no_record_that_was_acknowledged(tmp_path: Path) -> None:
    chosen = random.Random(SEED)
    asyncio.run(create(tmp_path))
    with running([sys.executable, "-c", STARTER]) as process:
        number = 0
        for _ in range(KILLS):
            pid, port = started(process, tmp_path, {})
            client = Client(port, number)
            client.run(answers=chosen.randrange(1, 200))
            os.kill(pid, signal.SIGKILL)
            assert pipe(process.stdout).readline() == "gone\n"
            client.take_answers()
            # Partitions may end at different numbers; the next client begins after the last, so sent ones are known.
            number = check(tmp_path, client.acknowledged, client.sent)
            if number % PARTITIONS or not _is_even(tmp_path, number):
                number = _fill(tmp_path, client.sent)
    assert number > KILLS


def _is_even(data_dir: Path, number: int) -> bool:
    return sum(len(_numbers(data_dir / f"t-{partition}")) for partition in range(PARTITIONS)) == number
