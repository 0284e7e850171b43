"""The rows of histories at the end of a log equal the state that Kafka's own classes make of the same records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final

import msgspec
import pytest
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import newest_release
from tests.kafka_logs.histories import Row, history, still_open
from tests.made.cluster_state import CLUSTER_HISTORIES, ClusterHappening, ClusterState, facts_of_row, new_partition
from tests.made.logs import METADATA_LOG

from kafkawire.broker.metadata_log.record_versions import METADATA_VERSION, RECORD_VERSIONS
from kafkawire.layout import Uuid
from kafkawire.protocol import FeatureLevelRecord, RemoveTopicRecord, TopicRecord
from kafkawire.records.metadata_records import encode_metadata_record
from kafkawire.wire import Message
from kafkawire.wire.batches import Record, encode_batch

pytestmark = pytest.mark.conformance

_SOURCES: Final = Path(__file__).parent / "metadata_images"
_LOGS: Final = 60
_RECORDS: Final = 120


class _Answer(msgspec.Struct):
    records: list[str] | None = None
    error: str | None = None

    def octets(self) -> list[bytes]:
        assert self.records is not None, self.error
        return [*map(bytes.fromhex, self.records)]


def test_the_end_state_of_random_logs_is_that_of_kafkas_image(tmp_path: Path) -> None:
    dice = Random(19)
    logs = [[_encoded(record) for record in _happened(dice)] for _ in range(_LOGS)]
    questions = [{"records": [value.hex() for value in log], "step": dice.choice((1, 7, 500))} for log in logs]
    seen = dict.fromkeys(CLUSTER_HISTORIES, 0)
    for number, (log, answer) in enumerate(zip(logs, _ask(tmp_path, questions), strict=True)):
        ours, kafkas = (
            _write(tmp_path / f"{number}-{side}", values) for side, values in (("log", log), ("image", answer))
        )
        for name in CLUSTER_HISTORIES:
            expected = _facts(name, kafkas)
            assert _facts(name, ours) == expected, name
            seen[name] += len(expected)
    assert min(seen.values()) > _LOGS


def _happened(dice: Random) -> list[Message]:
    state, made = ClusterState(), list[Message]()
    happening = ClusterHappening(state)

    def happen(*records: Message) -> None:
        for record in records:
            state.apply(record)
            made.append(record)

    happen(FeatureLevelRecord("metadata.version", METADATA_VERSION), FeatureLevelRecord("kraft.version", 1))
    for number in range(_RECORDS):
        if number % 10 == 0:
            topic_id = Uuid((number + 1).to_bytes(16, "big"))
            happen(TopicRecord(f"t{number}", topic_id), new_partition(topic_id, 0, dice))
        elif len(state.topics) > 3:
            happen(RemoveTopicRecord(dice.choice([*state.topics])))
        else:
            happen(happening.record(dice))
    return made


def _encoded(record: Message) -> bytes:
    return encode_metadata_record(record, RECORD_VERSIONS[record.NAME])


def _ask(folder: Path, questions: Sequence[Mapping[str, object]]) -> list[list[bytes]]:
    file = folder / "questions.jsonl"
    file.write_bytes(msgspec.json.Encoder().encode_lines(questions))
    release = newest_release()
    answers = run_tool(release, "MetadataImages", str(file), plugins=[compiled(release, _SOURCES)]).splitlines()
    return [msgspec.json.decode(answer, type=_Answer).octets() for answer in answers]


def _write(folder: Path, values: list[bytes]) -> Path:
    log = folder / METADATA_LOG
    log.mkdir(parents=True)
    (log / f"{0:020}.log").write_bytes(encode_batch([Record(timestamp=1, value=value) for value in values]))
    return log


def _facts(name: str, log: Path) -> set[tuple[object, ...]]:
    rows: list[Row] = still_open(history(name, log))
    return {facts_of_row(name, row) for row in rows}
