"""What Apache Kafka's own record classes write and read: questions to ``record_batches/RecordBatches.java``."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import newest_broker_release

from kafkawire.wire.batches.batch import Header, Record
from kafkawire.wire.batches.writer import encode_batch
from kafkawire.wire.compression import Codec

NOW: Final = 1_700_000_000_000
LENGTHS: Final = (0, 1, 5, 63, 64, 500, 8191, 8192)
_SOURCES: Final = Path(__file__).parent / "record_batches"


class Trial(msgspec.Struct, frozen=True):
    """A batch that both sides write."""

    records: tuple[Record, ...]
    magic: int = 2
    codec: Codec = Codec.NONE
    base_offset: int = 0
    partition_leader_epoch: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    transactional: bool = False
    control: bool = False
    log_append_time: int | None = None
    delete_horizon_ms: int | None = None

    def encode(self) -> bytes:
        arguments = msgspec.structs.asdict(self)
        del arguments["magic"]
        return encode_batch(arguments.pop("records"), **arguments)

    def question(self) -> dict[str, object]:
        return msgspec.structs.asdict(self) | {
            "codec": int(self.codec),
            "records": [
                msgspec.structs.asdict(record)
                | {
                    "key": hex_of(record.key),
                    "value": hex_of(record.value),
                    "headers": [(header.key, hex_of(header.value)) for header in record.headers],
                }
                for record in self.records
            ],
        }


def ask(folder: Path, questions: Sequence[dict[str, object]]) -> list[object]:
    """What Kafka answers, in the order of the questions; ``folder`` is for the question file."""
    file = folder / "questions.jsonl"
    file.write_bytes(msgspec.json.Encoder().encode_lines(questions))
    release = newest_broker_release()
    answers = run_tool(release, "RecordBatches", str(file), plugins=[compiled(release, _SOURCES)]).splitlines()
    return [msgspec.json.decode(answer) for answer in answers]


def written(answer: object) -> bytes:
    """The bytes that Kafka has written."""
    assert isinstance(answer, dict)
    return bytes.fromhex(answer["hex"])


def hex_of(octets: bytes | None) -> str | None:
    return None if octets is None else octets.hex()


def random_records(dice: random.Random, base_offset: int, *, lengths: Sequence[int] = LENGTHS) -> tuple[Record, ...]:
    offset, out = base_offset, []
    for _ in range(dice.choice((1, 2, 5))):
        headers = tuple(
            Header(dice.choice(("", "h", "\u20ac")), _octets(dice, lengths)) for _ in range(dice.choice((0, 0, 1, 3)))
        )
        timestamp = NOW + dice.choice((0, 1, -1, 64, 8192, 1 << 33))
        out.append(Record(offset, timestamp, _octets(dice, lengths), _octets(dice, lengths), headers))
        offset += dice.choice((1, 1, 3, 64, 8192))
    return tuple(out)


def _octets(dice: random.Random, lengths: Sequence[int]) -> bytes | None:
    if dice.random() < 0.2:
        return None
    length = dice.choice(lengths)
    return dice.choice((dice.randbytes, bytes))(length)
