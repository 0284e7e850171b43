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

PROGRAM: Final = "import sys; from kafkawire.cli.app import main; sys.exit(main())"


class Client:
    """Produces numbers from 0 on, many requests at a time."""

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
    partition = ProduceRequest.PartitionProduceData(0, records)
    return ProduceRequest(acks=-1, topic_data=(ProduceRequest.TopicProduceData("t", partition_data=(partition,)),))


async def create(data_dir: Path) -> None:
    async with EmbeddedBroker(data_dir=data_dir) as broker, AdminClient(broker.bootstrap_servers) as admin:
        (await admin.create_topics([NewTopic("t", 1, 1, configs={"segment.bytes": "1048576"})])).all()


def check(data_dir: Path, acknowledged: int, sent: int) -> int:
    """The records are the first that were sent: all that were acknowledged, perhaps some more; returns how many."""

    async def recovered() -> None:
        async with EmbeddedBroker(data_dir=data_dir):
            pass

    asyncio.run(recovered())
    logs = sorted((data_dir / "t-0").glob("*.log"))
    batches = [batch for path in logs for batch in read_batches(path.read_bytes())]
    assert [batch.base_offset for batch in batches] == [*range(len(batches))]
    values = [record.value or b"" for batch in batches for record in decode_records(batch)]
    assert [int(value.rstrip(b"\0")) for value in values] == [*range(len(values))]
    assert acknowledged <= len(values) <= sent
    return len(values)


def test_kill_9_under_load_loses_no_record_that_was_acknowledged(tmp_path: Path) -> None:
    chosen = random.Random(SEED)
    asyncio.run(create(tmp_path))
    number = 0
    with running([sys.executable, "-c", STARTER]) as process:
        for _ in range(KILLS):
            pid, port = started(process, tmp_path, {})
            client = Client(port, number)
            client.run(answers=chosen.randrange(1, 300))
            os.kill(pid, signal.SIGKILL)
            assert pipe(process.stdout).readline() == "gone\n"
            client.take_answers()
            number = check(tmp_path, client.acknowledged, client.sent)
    assert number > KILLS


def test_a_full_disk_halts_the_program_and_takes_no_record_back(tmp_path: Path) -> None:
    """A limit on the size of files replaces a full disk: the system raises the same kind of error for both."""
    data_dir, ready = tmp_path / "data", tmp_path / "ready"
    asyncio.run(create(data_dir))
    arguments = ["broker", "--port=0", f"--data-dir={data_dir}", f"--ready-file={ready}"]
    with running([sys.executable, "-c", PROGRAM, *arguments], largest_file=50_000) as process:
        assert "listens on" in pipe(process.stdout).readline()
        client = Client(int(ready.read_text().rpartition(":")[2]), 0)
        with pytest.raises(ConnectionError):
            client.run(answers=10_000)
        client.take_answers()
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 1
    assert f"{0:020d}.log: writing failed: File too large" in errors
    assert "Traceback" not in errors
    assert client.acknowledged > 100
    check(data_dir, client.acknowledged, client.sent)
