"""The image of a real log equals Kafka's own snapshot and Kafka's own answers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from tests.kafka_logs.dumps import FIXTURES

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.file_log import FileLog, LogSettings
from kafkawire.broker.metadata_log.record_versions import RECORD_VERSIONS
from kafkawire.broker.metadata_log.snapshots import read_snapshot
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    FenceBrokerRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    TopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UnregisterControllerRecord,
)
from kafkawire.records.metadata_records import decode_metadata_record, encode_metadata_record
from kafkawire.records.metadata_transactions import MetadataTransactions
from kafkawire.wire import Message
from kafkawire.wire.batches import decode_records, read_batches

FOLDER: Final = FIXTURES / "logs" / "__cluster_metadata-0"
SNAPSHOT: Final = FOLDER / "00000000000000000202-0000000001.checkpoint"
TOPIC: Final = Uuid(bytes(15) + b"\7")


def logged(end_offset: int) -> Iterator[Message]:
    for path in sorted(FOLDER.glob("*.log")):
        for batch in read_batches(path.read_bytes()):
            for record in () if batch.is_control else decode_records(batch):
                if record.offset < end_offset:
                    yield decode_metadata_record(record.value).message


def committed(records: Iterable[Message]) -> Iterator[Message]:
    transactions = MetadataTransactions[Message]()
    for record in records:
        yield from transactions.take(record.API_KEY, record)


def image_of(*records: Message) -> MetadataImage:
    image = MetadataImage()
    for record in records:
        image.apply(record)
    return image


def comparable(records: Iterable[Message]) -> list[bytes]:
    """Records as bytes, in an order of their own: Kafka's maps have none, not even in lists of features."""

    def with_sorted_features(record: Message) -> Message:
        features = getattr(record, "features", None)
        return (
            record if features is None else msgspec.structs.replace(record, features=tuple(sorted(features, key=str)))
        )

    return sorted(encode_metadata_record(with_sorted_features(each), RECORD_VERSIONS[each.NAME]) for each in records)


def test_the_log_below_kafkas_snapshot_amounts_to_the_snapshot() -> None:
    image = image_of(*committed(logged(202)))
    assert comparable(image.records()) == comparable(read_snapshot(SNAPSHOT).records)


def test_a_snapshot_and_the_log_after_it_equal_the_whole_log(tmp_path: Path) -> None:
    whole = image_of(*committed(logged(401)))
    copied = tmp_path / "log"
    shutil.copytree(FOLDER, copied, copy_function=shutil.copyfile)
    log = FileLog(copied, LogSettings(), ManualClock())
    assert comparable(image_of(*log.replay()).records()) == comparable(whole.records())


def test_an_image_is_made_again_of_its_own_records(image: MetadataImage) -> None:
    records = tuple(image.records())
    assert tuple(image_of(*records).records()) == records
    assert {record.NAME for record in records} == {
        "AccessControlEntryRecord",
        "ClientQuotaRecord",
        "ConfigRecord",
        "DelegationTokenRecord",
        "FeatureLevelRecord",
        "PartitionRecord",
        "ProducerIdsRecord",
        "RegisterBrokerRecord",
        "RegisterControllerRecord",
        "TopicRecord",
        "UserScramCredentialRecord",
    }


@pytest.fixture(scope="module")
def end_state() -> dict[str, Any]:
    state: dict[str, Any] = json.loads((FIXTURES / "end-state.json").read_text())
    return state


@pytest.fixture(scope="module")
def image() -> MetadataImage:
    return image_of(*committed(logged(401)))


def test_topics_tokens_and_users_equal_kafkas_answers(image: MetadataImage, end_state: dict[str, Any]) -> None:
    assert sorted(image.topics.by_name) == sorted(topic["name"] for topic in end_state["topics"])
    assert sorted(image.tokens.by_id) == sorted(token["token_id"] for token in end_state["delegation_tokens"])
    assert sorted(image.scram.by_user) == sorted(user["user"] for user in end_state["scram_users"])


BROKER = RegisterBrokerRecord(broker_id=1, broker_epoch=5, fenced=True, log_dirs=(TOPIC,))


def registered(image: MetadataImage) -> RegisterBrokerRecord:
    return image.registrations.brokers[1]


def test_brokers_are_fenced_and_unfenced() -> None:
    assert not registered(image_of(BROKER, BrokerRegistrationChangeRecord(1, 5, fenced=-1))).fenced
    assert registered(image_of(BROKER, BrokerRegistrationChangeRecord(1, 5))).fenced
    assert not registered(image_of(BROKER, UnfenceBrokerRecord(1, 5))).fenced
    assert registered(image_of(BROKER, UnfenceBrokerRecord(1, 5), FenceBrokerRecord(1, 5))).fenced
    shutting_down = BrokerRegistrationChangeRecord(1, 5, in_controlled_shutdown=1)
    assert registered(image_of(BROKER, shutting_down)).in_controlled_shutdown
    cordoned = registered(image_of(BROKER, BrokerRegistrationChangeRecord(1, 5, cordoned_log_dirs=(TOPIC,))))
    assert (cordoned.cordoned_log_dirs, cordoned.log_dirs, cordoned.fenced) == ((TOPIC,), (TOPIC,), True)
    assert image_of(BROKER, UnregisterBrokerRecord(1, 5)).registrations.brokers == {}


def test_controllers_are_registered_and_unregistered() -> None:
    record = RegisterControllerRecord(3001)
    assert image_of(record).registrations.controllers == {3001: record}
    assert image_of(record, UnregisterControllerRecord(3001)).registrations.controllers == {}


@pytest.mark.parametrize(("name", "epochs"), [("a", [1, 0]), ("", [1, 1])])
def test_eligible_leaders_are_forgotten_for_one_topic_or_all(name: str, epochs: list[int]) -> None:
    ids = (Uuid(bytes(15) + b"\1"), Uuid(bytes(15) + b"\2"))
    records: list[Message] = []
    for topic, topic_id in zip("ab", ids, strict=True):
        partition = PartitionRecord(0, topic_id, (1,), (), partition_epoch=0, eligible_leader_replicas=(1,))
        records += (TopicRecord(topic, topic_id), partition)
    image = image_of(*records, ClearElrRecord(name))
    partitions = [image.topics.by_id[topic_id].partitions[0] for topic_id in ids]
    assert [partition.partition_epoch for partition in partitions] == epochs
    assert [partition.eligible_leader_replicas for partition in partitions] == [
        () if epoch else (1,) for epoch in epochs
    ]
