"""Whatever ends a broker, what it has acknowledged is there, and what it has not is there whole or not at all."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.embedded.process import STARTER, running, started
from tests.hostile.broker.crashing import LoadClient, halted_by_a_full_disk, kill_9

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.file_log import FileLog, LogSettings
from kafkawire.broker.storage.data_directory import METADATA_FOLDER
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.protocol import AlterClientQuotasRequest, AlterClientQuotasResponse
from kafkawire.rpc import decode_response, encode_request

SEED: Final = 20_261_121
KILLS: Final = 12
ENTITIES: Final = 40
AT_ONCE: Final = 3
VERSION: Final = 1
SNAPSHOTS: Final = {"metadata.log.max.record.bytes.between.snapshots": "20000"}


class Client(LoadClient):
    """Sets quotas; the request number n gives each of its entities the value n."""

    IN_FLIGHT = 64

    def frame(self, number: int) -> bytes:
        return encode_request(request(number), VERSION, correlation_id=number, client_id="load")

    def number_of(self, answer: bytes) -> int:
        number, answered = decode_response(answer, AlterClientQuotasResponse, VERSION)
        assert [entry.error_code for entry in answered.entries] == [0] * AT_ONCE
        return number


def request(number: int) -> AlterClientQuotasRequest:
    asked = AlterClientQuotasRequest
    change = (asked.OpData("producer_byte_rate", float(number)),)
    return asked(tuple(asked.EntryData((asked.EntityData("user", user),), change) for user in users(number)))


def users(number: int) -> Iterator[str]:
    return (f"user-{(number * AT_ONCE + index) % ENTITIES}" for index in range(AT_ONCE))


def after(number: int) -> Mapping[str, float]:
    """The quotas that the first requests amount to."""
    return {user: float(each) for each in range(1, number + 1) for user in users(each)}


def found(data_dir: Path) -> Mapping[str, float]:
    """The quotas that a directory holds."""
    image = MetadataImage()
    for record in FileLog(data_dir / METADATA_FOLDER, LogSettings(), ManualClock()).replay():
        image.apply(record)
    quotas = image.client_quotas.by_entity
    return {_user(entity): values["producer_byte_rate"] for entity, values in quotas.items()}


def _user(entity: ClientQuotaEntity) -> str:
    user = entity["user"]
    assert user is not None
    return user


def check(data_dir: Path, acknowledged: int, sent: int) -> int:
    """The state is that of the first requests: all that were acknowledged, perhaps some more; returns how many."""
    state = found(data_dir)
    last = int(max(state.values(), default=0))
    assert acknowledged <= last <= sent
    assert state == after(last)
    return last


def test_kill_9_under_load_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    chosen = random.Random(SEED)
    number = 0
    with running([sys.executable, "-c", STARTER]) as process:
        for _ in range(KILLS):
            pid, port = started(process, tmp_path, SNAPSHOTS)
            client = Client(port, number)
            client.run(answers=chosen.randrange(1, 400))
            kill_9(process, pid)
            client.take_answers()
            number = check(tmp_path, client.acknowledged, client.sent)
    assert number > KILLS
    assert sorted((tmp_path / METADATA_FOLDER).glob("*.checkpoint")) != []


def test_a_full_disk_halts_the_program_and_takes_nothing_back(tmp_path: Path) -> None:
    client, errors = halted_by_a_full_disk(tmp_path, Client)
    assert "00000000000000000000.log: writing the records from offset" in errors
    assert "File too large" in errors
    check(tmp_path / "data", client.acknowledged, client.sent)
