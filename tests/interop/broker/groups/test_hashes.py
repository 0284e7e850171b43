"""The hash of topics in the records of groups is the one that Apache Kafka's library computes."""

from __future__ import annotations

import random

import pytest
from tests.interop.broker.groups.kafkas_coordinator import Hash, kafkas_coordinator

from kafkawire.broker.groups.xxh3 import xxh3_64

pytestmark = pytest.mark.interop

SIZES = (*range(300), 511, 512, 513, 1023, 1024, 1025, 1088, 2048, 5000)


def test_bytes_of_all_sizes_have_kafkas_hash() -> None:
    chance = random.Random(1)
    samples = [chance.randbytes(size) for size in SIZES]
    with kafkas_coordinator() as kafka:
        lines = kafka.ask([Hash(sample.hex()) for sample in samples])
    assert [int(line) % (1 << 64) for line in lines] == [xxh3_64(sample) for sample in samples]
