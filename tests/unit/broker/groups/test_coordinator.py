"""Commits of groups: durable, each in the partition of its group, readable by Kafka and by this broker."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.embedded.groups import committed_offsets, opened_groups
from tests.kafka_logs.dumps import real_logs

from kafkawire.broker import CorruptLogError, ManualClock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.controller import Controller
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.internal_topics.topic import InternalTopic, partition_of
from kafkawire.broker.nodes import Nodes
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.topics.placement import Placement
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    EndTxnMarker,
    OffsetCommitKey,
    OffsetCommitValue,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafkawire.records.control_records import ControlRecordType, encode_control_record
from kafkawire.records.coordinator_records import decode_coordinator_record, encode_coordinator_record
from kafkawire.wire.batches import Record, decode_records, encode_batch, read_batches

Change: TypeAlias = tuple[OffsetCommitKey, OffsetCommitValue | None]

LOG = Path("__consumer_offsets-0") / "00000000000000000000.log"
OFFSETS = "__consumer_offsets"
TOPIC_ID, OFFSETS_ID = Uuid(b"t" * 16), Uuid(b"o" * 16)
FIXTURE = Path(__file__).parents[3] / "fixtures" / "mixed-append-times" / "data"


def commit(group: str, partition: int, offset: int, topic: str = "t") -> Change:
    return OffsetCommitKey(group, topic, partition), OffsetCommitValue(offset, 3, "said", 1000)


async def make_topic(controller: Controller, name: str = "t", topic_id: Uuid = TOPIC_ID, partitions: int = 2) -> None:
    """Else commits of it are let go of at the next start."""
    records = [PartitionRecord(number, topic_id, (1,), (1,), leader=1) for number in range(partitions)]
    controller.commit([TopicRecord(name, topic_id), *records])
    await controller.log.durable(controller.end_offset)


async def commit_all(coordinator: GroupCoordinator, *changes: Change) -> None:
    await coordinator.prepare({key.group for key, _ in changes})
    coordinator.commit(changes)
    await coordinator.durable()


async def offsets_in(folder: Path) -> Mapping[str, Mapping[int, int]]:
    async with opened_groups(folder) as (coordinator, _):
        return committed_offsets(coordinator)


def folders(data_dir: Path) -> list[str]:
    """The names of all folders of partitions."""
    return sorted(path.name for path in data_dir.glob(f"{OFFSETS}-*"))


def groups_in(folder: Path) -> set[str]:
    """The groups of all records in a partition."""
    keys = (
        decode_coordinator_record(OFFSETS, record.key, record.value).key
        for path in folder.glob("*.log")
        for batch in read_batches(path.read_bytes())
        for record in decode_records(batch)
    )
    return {key.group for key in keys if isinstance(key, OffsetCommitKey)}


def batch_of(*changes: Change, base_offset: int = 0, timestamp: int = 1) -> bytes:
    pairs = [encode_coordinator_record(OFFSETS, key, value, 3 if value else None) for key, value in changes]
    records = [Record(timestamp=timestamp, key=key, value=value) for key, value in pairs]
    return encode_batch(records, base_offset=base_offset)


def write(folder: Path, partition: int, *batches: bytes, topic_id: Uuid | None = None) -> None:
    """A partition as somebody else has left it."""
    path = folder / f"{OFFSETS}-{partition}"
    path.mkdir()
    (path / LOG.name).write_bytes(b"".join(batches))
    if topic_id is not None:
        (path / "partition.metadata").write_text(f"version: 0\ntopic_id: {topic_id}")


def group_in(partition: int, partitions: int, name: str = "group") -> str:
    """The id of a group that belongs to a partition."""
    return next(
        each for each in (f"{name}-{number}" for number in range(1000)) if partition_of(each, partitions) == partition
    )


@pytest.mark.parametrize(
    ("group_id", "hash_code"),
    [
        ("", 0),
        ("a", 97),
        ("readers", 1080410128),
        ("billing", -109829509),
        ("polygenelubricants", -(2**31)),
        ("\u00e4\u20ac", 15432),
        ("\U0001f600", 1772899),
        ("x" * 100, 1680682496),
    ],
)
def test_groups_are_where_java_hashes_them(group_id: str, hash_code: int) -> None:
    """What ``String.hashCode`` of Java 17 says; the lowest integer has no absolute value, and Kafka takes 0."""
    for partitions in (1, 3, 50):
        expected = 0 if hash_code == -(2**31) else abs(hash_code) % partitions
        assert partition_of(group_id, partitions) == expected


async def test_durable_commits_are_there_again(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    async with opened_groups(tmp_path / "data") as (coordinator, controller):
        await make_topic(controller)
        await commit_all(coordinator, commit("a", 0, 5), commit("a", 1, 6))
        await commit_all(coordinator, commit("b", 0, 7))
        await commit_all(coordinator, (OffsetCommitKey("a", "t", 1), None))
        shutil.copytree(tmp_path / "data", copy)
        assert committed_offsets(coordinator) == {"a": {0: 5}, "b": {0: 7}}
    async with opened_groups(copy) as (again, _):
        assert committed_offsets(again) == {"a": {0: 5}, "b": {0: 7}}
        assert again.state.by_id["a"].commits["t", 0] == OffsetCommitValue(5, 3, "said", 1000)


@pytest.mark.parametrize("expires_ms", [-1, 0, 1, -2, -(1 << 63)])
async def test_the_expiration_times_of_older_clients_are_recorded(tmp_path: Path, expires_ms: int) -> None:
    """Version 1 of the record has them; newer ones have none, which -1 says."""
    value = OffsetCommitValue(5, -1, "said", 1000, expires_ms)
    async with opened_groups(tmp_path) as (coordinator, controller):
        await make_topic(controller)
        await commit_all(coordinator, (OffsetCommitKey("a", "t", 0), value))
    async with opened_groups(tmp_path) as (again, _):
        assert again.state.by_id["a"].commits["t", 0] == value


async def test_a_group_that_is_deleted_stays_deleted(tmp_path: Path) -> None:
    async with opened_groups(tmp_path) as (coordinator, controller):
        await make_topic(controller)
        await commit_all(coordinator, commit("a", 0, 5), commit("b", 0, 6))
        coordinator.commit([*coordinator.state.by_id["a"].removal()])
    async with opened_groups(tmp_path) as (again, _):
        assert committed_offsets(again) == {"b": {0: 6}}
        assert list(again.state.topics()) == ["t"]


async def test_a_torn_tail_is_cut(tmp_path: Path) -> None:
    async with opened_groups(tmp_path) as (coordinator, controller):
        await make_topic(controller)
        await commit_all(coordinator, commit("a", 0, 5))
    whole = (tmp_path / LOG).read_bytes()
    (tmp_path / LOG).write_bytes(whole + whole[:-1])
    assert await offsets_in(tmp_path) == {"a": {0: 5}}


async def test_a_log_of_something_else_is_refused(tmp_path: Path) -> None:
    write(tmp_path, 0, encode_batch([Record(key=b"\0", value=b"?")]))
    with pytest.raises(CorruptLogError, match="offset 0"):
        await offsets_in(tmp_path)


@pytest.mark.parametrize(
    ("ending", "expected"),
    [(ControlRecordType.COMMIT, {"a": {0: 5}}), (ControlRecordType.ABORT, {"a": {}}), (None, {"a": {}})],
    ids=["committed", "aborted", "open"],
)
async def test_commits_of_transactions_count_when_they_are_committed(
    tmp_path: Path, ending: ControlRecordType | None, expected: Mapping[str, Mapping[int, int]]
) -> None:
    key, value = encode_coordinator_record(OFFSETS, *commit("a", 0, 5), 3)
    log = encode_batch(
        [Record(key=key, value=value)], producer_id=9, producer_epoch=0, base_sequence=0, transactional=True
    )
    if ending is not None:
        key, value = encode_control_record(ending, EndTxnMarker(), 0)
        marker = [Record(key=key, value=value)]
        log += encode_batch(marker, base_offset=1, producer_id=9, producer_epoch=0, transactional=True, control=True)
    async with opened_groups(tmp_path) as (_, controller):
        await make_topic(controller)
    write(tmp_path, 0, log)
    assert await offsets_in(tmp_path) == expected


async def test_logs_of_overwritten_commits_are_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkawire.broker.internal_topics.coordinator._FEWEST_TO_REWRITE", 100)
    async with opened_groups(tmp_path, partitions=2) as (coordinator, controller):
        await make_topic(controller, partitions=3)
        for offset in range(300):
            await commit_all(coordinator, commit("a", 0, offset), commit("b", offset % 3, offset))
        expected = committed_offsets(coordinator)
    for partition in range(2):
        assert sum(path.stat().st_size for path in (tmp_path / f"{OFFSETS}-{partition}").glob("*.log")) < 15_000
    assert await offsets_in(tmp_path) == expected


async def test_without_a_directory_nothing_is_kept(tmp_path: Path) -> None:
    async with opened_groups(tmp_path) as (_, controller):
        placement = Placement(Nodes(Cluster("", 1, "", 0), Uuid()))
        topic = InternalTopic(OFFSETS, controller, BrokerConfiguration({}), placement)
        coordinator = GroupCoordinator.opened(None, topic, ManualClock(), store=RecordStore())
        await commit_all(coordinator, commit("a", 0, 5))
        assert committed_offsets(coordinator) == {"a": {0: 5}}
        await coordinator.close()
    assert folders(tmp_path) == []


@pytest.mark.parametrize("number", [0, 1])
async def test_a_log_of_kafka_is_read(tmp_path: Path, number: int) -> None:
    """The newest that Kafka's own tool says of each partition of a group; records of members are passed over."""
    real = next(log for log in real_logs() if log.name == f"{OFFSETS}-{number}/{LOG.name}")
    said: dict[tuple[str, str, int], int] = {}
    for rest in (record.rest for batch in real.read_dump() for record in batch.records):
        found = re.search(r'key: ({"type":"1",.*?}}) payload: (.*)$', rest)
        if found is None:
            continue
        key, value = json.loads(found[1])["data"], json.loads(found[2]) if found[2] != "<DELETE>" else None
        where = (key["group"], key["topic"], key["partition"])
        if value is None:
            said.pop(where, None)
        else:
            said[where] = value["data"]["offset"]
    async with opened_groups(tmp_path) as (_, controller):
        await make_topic(controller, OFFSETS, OFFSETS_ID)
        for index, name in enumerate(sorted({topic for _, topic, _ in said})):
            await make_topic(controller, name, Uuid(index.to_bytes(16, "big")), 50)
    write(tmp_path, number, real.read_bytes(), topic_id=OFFSETS_ID)
    async with opened_groups(tmp_path) as (coordinator, _):
        assert said == {
            (group.group_id, *partition): value.offset
            for group in coordinator.state.by_id.values()
            for partition, value in group.commits.items()
        }
    assert said


# The topic.


async def test_the_topic_is_made_when_a_coordinator_is_first_needed(tmp_path: Path) -> None:
    async with opened_groups(tmp_path, partitions=3) as (coordinator, controller):
        topics, configs = controller.image.topics.by_name, controller.image.configs
        assert OFFSETS not in topics
        await coordinator.prepare([])
        assert OFFSETS not in topics
        coordinator.expect()
        topic = topics[OFFSETS]
        assert [(each.leader, each.isr, each.replicas) for each in topic.partitions.values()] == [(1, (1,), (1,))] * 3
        assert configs.of(2, OFFSETS) == {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": "104857600",
        }
        coordinator.expect()
        assert topics[OFFSETS] is topic


async def test_each_group_is_in_its_partition_in_files_of_kafkas_form(tmp_path: Path) -> None:
    groups = [group_in(partition, 5) for partition in (0, 3)]
    async with opened_groups(tmp_path, partitions=5) as (coordinator, controller):
        await make_topic(controller)
        await commit_all(coordinator, *(commit(group, 0, 7) for group in groups))
        topic_id = controller.image.topics.by_name[OFFSETS].topic_id
    assert folders(tmp_path) == [f"{OFFSETS}-0", f"{OFFSETS}-3"]
    for partition, group in zip((0, 3), groups, strict=True):
        folder = tmp_path / f"{OFFSETS}-{partition}"
        assert groups_in(folder) == {group}
        assert (folder / "partition.metadata").read_text() == f"version: 0\ntopic_id: {topic_id}"
        assert (folder / "leader-epoch-checkpoint").read_text() == "0\n1\n0 0\n"
    async with opened_groups(tmp_path, partitions=1) as (again, controller):
        assert committed_offsets(again) == {group: {0: 7} for group in groups}
        assert len(controller.image.topics.by_name[OFFSETS].partitions) == 5


async def test_a_new_leader_of_a_partition_has_an_epoch_of_its_own(tmp_path: Path) -> None:
    async with opened_groups(tmp_path) as (coordinator, controller):
        await make_topic(controller)
        await commit_all(coordinator, commit("a", 0, 1))
        topic = controller.image.topics.by_name[OFFSETS]
        controller.commit([PartitionChangeRecord(0, topic.topic_id, leader=1)])
    async with opened_groups(tmp_path) as (coordinator, _):
        await commit_all(coordinator, commit("a", 0, 2))
    assert (tmp_path / LOG.parent / "leader-epoch-checkpoint").read_text() == "0\n2\n0 0\n1 1\n"
    batches = read_batches((tmp_path / LOG).read_bytes())
    assert [batch.partition_leader_epoch for batch in batches] == [0, 1]


async def test_commits_that_have_no_topic_get_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An earlier version of the broker kept them so."""
    data = shutil.copytree(FIXTURE, tmp_path / "data", copy_function=shutil.copyfile)
    expected = {f"group-{group}": [number + 1 for number in range(6)] for group in range(4)}
    for _ in range(2):
        async with opened_groups(data, partitions=50) as (coordinator, controller):
            topic = controller.image.topics.by_name[OFFSETS]
            assert len(topic.partitions) == 1
            assert (data / LOG.parent / "partition.metadata").read_text() == f"version: 0\ntopic_id: {topic.topic_id}"
            found = {
                group.group_id: sorted(value.offset for value in group.commits.values())
                for group in coordinator.state.by_id.values()
            }
            assert found == expected
    warnings = [each for each in caplog.messages if OFFSETS in each]
    assert len(warnings) == 1
    assert warnings[0].startswith("__consumer_offsets-0 has 24 records, but the metadata log had no such topic")


async def test_folders_of_other_topics_are_set_aside_as_kafka_does_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened_groups(tmp_path) as (_, controller):
        await make_topic(controller, OFFSETS, OFFSETS_ID, 2)
    write(tmp_path, 0, batch_of(commit("a", 0, 1)), topic_id=Uuid(b"x" * 16))
    write(tmp_path, 1, topic_id=OFFSETS_ID)
    write(tmp_path, 2, topic_id=OFFSETS_ID)
    assert await offsets_in(tmp_path) == {}
    names = folders(tmp_path)
    assert [re.sub(r"\.[0-9a-f]{32}-", ".ID-", name) for name in names] == [
        f"{OFFSETS}-0.ID-stray",
        f"{OFFSETS}-1",
        f"{OFFSETS}-2.ID-stray",
    ]
    assert f"{tmp_path}/{OFFSETS}-0: renamed to {names[0]}, as Apache Kafka does: " in caplog.text


async def test_commits_go_with_their_topic_and_it_can_be_made_again(tmp_path: Path) -> None:
    async with opened_groups(tmp_path) as (coordinator, controller):
        await make_topic(controller)
        await commit_all(coordinator, commit("a", 0, 1))
        first = controller.image.topics.by_name[OFFSETS].topic_id
        controller.commit([RemoveTopicRecord(first)])
        assert committed_offsets(coordinator) == {}
        await commit_all(coordinator, commit("b", 0, 2))
        second = controller.image.topics.by_name[OFFSETS].topic_id
    assert first != second
    assert folders(tmp_path) == [f"{OFFSETS}-0"]
    assert await offsets_in(tmp_path) == {"b": {0: 2}}
    async with opened_groups(tmp_path) as (coordinator, controller):
        controller.commit([RemoveTopicRecord(second)])
    assert folders(tmp_path) == []
    assert await offsets_in(tmp_path) == {}


async def test_commits_of_other_topics_stay_when_a_topic_is_deleted(tmp_path: Path) -> None:
    async with opened_groups(tmp_path) as (coordinator, controller):
        ids = {name: Uuid(name.encode() * 16) for name in "mtz"}
        for name, topic_id in ids.items():
            await make_topic(controller, name, topic_id)
        await commit_all(coordinator, *(commit("g", number, 5, name) for name in ids for number in range(2)))
        await coordinator.prepare(["g"])
        coordinator.commit([commit("g", 0, 6, name) for name in ids], Producer(7, 0))
        controller.commit([RemoveTopicRecord(ids["t"])])
    async with opened_groups(tmp_path) as (coordinator, _):
        group = coordinator.state.by_id["g"]
        assert sorted(group.commits) == [("m", 0), ("m", 1), ("z", 0), ("z", 1)]
        assert sorted(group.pending) == [("m", 0), ("z", 0)]


# Groups in other partitions than their own.


async def test_commits_in_the_wrong_partition_of_an_earlier_version_are_moved(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It wrote everything to partition 0, also where Kafka had made 50; the times of records say what came last."""
    group, native = group_in(7, 50), group_in(0, 50)
    async with opened_groups(tmp_path) as (_, controller):
        await make_topic(controller, partitions=5)
        await make_topic(controller, OFFSETS, OFFSETS_ID, 50)
    write(
        tmp_path, 7,
        batch_of(commit(group, 0, 1), commit(group, 1, 1), commit(group, 2, 1), timestamp=10),
        batch_of(commit(group, 2, 3), base_offset=3, timestamp=30),
        topic_id=OFFSETS_ID,
    )  # fmt: skip
    write(
        tmp_path, 0,
        batch_of(commit(native, 0, 9), commit(group, 1, 2), commit(group, 2, 2), commit(group, 3, 2), timestamp=20),
        batch_of((OffsetCommitKey(group, "t", 0), None), base_offset=4, timestamp=20),
        topic_id=OFFSETS_ID,
    )  # fmt: skip
    expected = {group: {1: 2, 2: 3, 3: 2}, native: {0: 9}}
    for _ in range(2):
        assert await offsets_in(tmp_path) == expected
        assert groups_in(tmp_path / f"{OFFSETS}-7") == {group}
        assert groups_in(tmp_path / f"{OFFSETS}-0") == {native}
    assert sum("are not in the partitions where Apache Kafka looks for them" in each for each in caplog.messages) == 1


async def test_groups_move_when_the_topic_gets_more_partitions(tmp_path: Path) -> None:
    groups = [group_in(partition, 3) for partition in range(3)]
    async with opened_groups(tmp_path, partitions=1) as (coordinator, controller):
        await make_topic(controller)
        await commit_all(coordinator, *(commit(group, 0, 1) for group in groups))
        topic = controller.image.topics.by_name[OFFSETS]
        controller.commit([PartitionRecord(number, topic.topic_id, (1,), (1,), leader=1) for number in (1, 2)])
        await commit_all(coordinator, *(commit(group, 1, 2) for group in groups))
    expected = {group: {0: 1, 1: 2} for group in groups}
    assert [groups_in(tmp_path / f"{OFFSETS}-{number}") for number in range(3)] == [{group} for group in groups]
    assert await offsets_in(tmp_path) == expected


async def test_a_crash_while_groups_are_moved_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was there before is deleted last: until then both are there, and the times decide."""
    group = group_in(2, 3)
    async with opened_groups(tmp_path) as (_, controller):
        await make_topic(controller)
        await make_topic(controller, OFFSETS, OFFSETS_ID, 3)
    write(tmp_path, 0, batch_of(commit(group, 0, 5)), topic_id=OFFSETS_ID)

    async def crash(*_arguments: object) -> None:
        raise OSError("the power is gone")

    with monkeypatch.context() as patched:
        patched.setattr("kafkawire.broker.storage.batch_log.BatchLog.delete_before", crash)
        assert await offsets_in(tmp_path) == {group: {0: 5}}
    assert [groups_in(tmp_path / f"{OFFSETS}-{number}") for number in (0, 2)] == [{group}, {group}]
    assert await offsets_in(tmp_path) == {group: {0: 5}}
    assert [groups_in(tmp_path / f"{OFFSETS}-{number}") for number in (0, 2)] == [set(), {group}]
