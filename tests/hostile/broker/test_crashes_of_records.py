"""Whatever ends a broker, the records that it has acknowledged are there, at the offsets of the acknowledgement."""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path
from typing import Final

from tests.embedded.process import STARTER, running, started
from tests.hostile.broker.crashing import LoadClient, halted_by_a_full_disk, kill_9

from kafkawire.admin import AdminClient, NewTopic
from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import ProduceRequest, ProduceResponse
from kafkawire.rpc import decode_response, encode_request
from kafkawire.wire.batches import Record, decode_records, encode_batch, read_batches

SEED: Final = 20_261_125
KILLS: Final = 8
VERSION: Final = 9


class Client(LoadClient):
    """Produces numbers from 0 on: the request number n has n - 1."""

    def frame(self, number: int) -> bytes:
        return encode_request(request(number - 1), VERSION, correlation_id=number, client_id="load")

    def number_of(self, answer: bytes) -> int:
        number, answered = decode_response(answer, ProduceResponse, VERSION)
        (result,) = answered.responses[0].partition_responses
        assert result.error_code == 0
        return number


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
            kill_9(process, pid)
            client.take_answers()
            number = check(tmp_path, client.acknowledged, client.sent)
    assert number > KILLS


def test_a_full_disk_halts_the_program_and_takes_no_record_back(tmp_path: Path) -> None:
    asyncio.run(create(tmp_path / "data"))
    client, errors = halted_by_a_full_disk(tmp_path, Client)
    assert f"{0:020d}.log: writing failed: File too large" in errors
    check(tmp_path / "data", client.acknowledged, client.sent)
