"""Damaged logs of other clusters: a twin begins without what is incomplete, or says what is wrong."""

from __future__ import annotations

import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES
from tests.made.logs import METADATA_LOG, write_batches

from kafkawire.broker import StorageError
from kafkawire.broker.image.metadata_image import image_of
from kafkawire.broker.metadata_log.copied_log import CopiedLog
from kafkawire.wire.batches import Record, decode_records, encode_batch, read_batches

SOURCE = FIXTURES / "logs" / METADATA_LOG


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(SOURCE, tmp_path / METADATA_LOG)
    return tmp_path / METADATA_LOG


def read(folder: Path) -> None:
    with suppress(StorageError):
        image_of(CopiedLog(folder).replay())


@pytest.mark.parametrize("seed", range(60))
def test_changed_and_missing_bytes_of_files(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    path = chance.choice(sorted(each for each in folder.iterdir() if each.suffix in {".log", ".checkpoint"}))
    octets = bytearray(path.read_bytes())
    at = chance.randrange(len(octets))
    if seed % 2:
        del octets[at:]
    else:
        octets[at] ^= chance.randrange(1, 256)
    path.write_bytes(octets)
    read(folder)


@pytest.mark.parametrize("seed", range(60))
def test_changed_records_in_valid_batches(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    segment = SOURCE / f"{0:020}.log"
    values = [
        bytes(record.value or b"")
        for batch in read_batches(segment.read_bytes())
        if not batch.is_control
        for record in decode_records(batch)
    ]
    for _ in range(3):
        at = chance.randrange(len(values))
        value = bytearray(values[at])
        value[chance.randrange(len(value))] ^= chance.randrange(1, 256)
        values[at] = bytes(value[: chance.randrange(1, len(value) + 1)])
    records = [Record(timestamp=1, value=value) for value in values]
    write_batches(tmp_path / METADATA_LOG, 0, [encode_batch(records, partition_leader_epoch=1)])
    read(tmp_path / METADATA_LOG)
