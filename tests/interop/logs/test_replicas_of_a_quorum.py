"""Replicas of three real brokers and controllers agree, and damaged copies of them are merged to the whole log."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from tests.apache_kafka.cluster import Cluster, running_cluster
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import DumpLog
from tests.apache_kafka.releases import newest_broker_release
from tests.kafka_logs.dumps import parse_dump

from kafkawire.admin import (
    BlockingAdminClient,
    CommittedOffset,
    ConfigChange,
    ConfigOperation,
    ConfigResource,
    NewTopic,
    TopicPartition,
)
from kafkawire.cli.app import main
from kafkawire.logs import (
    FindingKind,
    LogReadError,
    ReplicatedLog,
    compare_replicas,
    find_log_files,
    find_replicas,
    merge_replicas,
    read_table,
    table_named,
    table_names,
)
from kafkawire.logs.options import DEFAULT_OPTIONS
from kafkawire.logs.replicas.sound_batches import looks_compacted
from kafkawire.logs.tables.table import reads
from kafkawire.wire.batches import read_batches

pytestmark = [pytest.mark.interop, pytest.mark.nightly]

METADATA: Final = "__cluster_metadata-0"
OFFSETS: Final = "__consumer_offsets"
PROPERTIES: Final = {
    "metadata.log.max.record.bytes.between.snapshots": "3000",
    "offsets.topic.num.partitions": "1",
    "log.cleaner.backoff.ms": "200",
}
FILES: Final = {"file", "log"}
"""The columns that name files and folders."""


@dataclass(frozen=True)
class Copies:
    """The logs of three nodes, copied after they ended; the log.dirs of each in a folder."""

    folder: Path

    @property
    def nodes(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if path.name.startswith("node-"))

    def replicas(self, name: str) -> ReplicatedLog:
        logs, _ = find_replicas(self.nodes)
        return next(log for log in logs if log.name == name)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Copies:
    folder = tmp_path_factory.mktemp("quorum")
    with running_cluster(newest_broker_release(), folder / "cluster", properties=PROPERTIES) as cluster:
        with BlockingAdminClient(cluster.bootstrap) as admin:
            change(admin, "first")
        # Another leader with another epoch; the one that is killed has a log that ends somewhere.
        cluster.kill(eventually(lambda: leader_of(cluster), bool))
        eventually(lambda: leader_of(cluster), bool)
        cluster.wait_until_nodes_agree()
        with BlockingAdminClient(cluster.bootstrap) as admin:
            change(admin, "second")
        for node_id, node in cluster.nodes.items():
            if node_id not in cluster.running:
                copy_logs(node.log_dirs, folder / "lagging" / f"node-{node_id}")
        cluster.make_whole()
        with BlockingAdminClient(cluster.bootstrap) as admin:
            change(admin, "third")
            commit_slowly(admin)
        nodes = dict(cluster.nodes)
        for node in nodes.values():
            (replica,) = (each for log_dir in node.log_dirs for each in log_dir.glob(f"{OFFSETS}-0"))
            eventually(partial(has_gaps, replica), bool, seconds=60)
    for node_id, node in nodes.items():
        copy_logs(node.log_dirs, folder / f"node-{node_id}")
    return Copies(folder)


def leader_of(cluster: Cluster) -> int:
    """The active controller; 0 while there is none."""
    try:
        return cluster.active_controller()
    except (LookupError, OSError):
        return 0


def has_gaps(folder: Path) -> bool:
    """Whether compaction has removed offsets; a file that disappears meanwhile counts as no."""
    try:
        offsets = [row["log_offset"] for batch in read_table("records", folder) for row in batch.to_pylist()]
    except LogReadError:
        return False
    return len(offsets) < max(offsets, default=0) + 1


def copy_logs(log_dirs: tuple[Path, ...], target: Path) -> None:
    for log_dir in log_dirs:
        shutil.copytree(log_dir, target / log_dir.name, ignore=shutil.ignore_patterns(".lock"))


def change(admin: BlockingAdminClient, name: str) -> None:
    topics = [f"{name}-{number}" for number in range(20)]
    for topic in topics:
        admin.create_topics([NewTopic(topic, 3, 3, configs={"retention.ms": "60000"})]).all()
    admin.wait_for_topics(topics)
    admin.delete_topics(topics[:5]).all()
    admin.incremental_alter_configs(
        {
            ConfigResource.topic(topic): [ConfigChange("retention.ms", ConfigOperation.SET, "70000")]
            for topic in topics[5:]
        }
    ).all()


def commit_slowly(admin: BlockingAdminClient) -> None:
    """Commits over segments that each broker compacts for itself, at its own times."""
    for offset in range(4):
        commits = {TopicPartition(f"third-{number}", 0): CommittedOffset(offset) for number in range(5, 15)}
        for group in ("readers", "writers"):
            admin.alter_consumer_group_offsets(group, commits).all()
        if not offset:
            fast = {"segment.ms": "500", "min.cleanable.dirty.ratio": "0.001"}
            changes = [ConfigChange(name, ConfigOperation.SET, value) for name, value in fast.items()]
            admin.incremental_alter_configs({ConfigResource.topic(OFFSETS): changes}).all()
        time.sleep(1)


def test_the_metadata_logs_of_three_controllers_agree(copies: Copies) -> None:
    findings = list(compare_replicas(copies.replicas(METADATA)))
    assert {each.kind for each in findings} <= {FindingKind.SAME, FindingKind.SOME, FindingKind.ENDS}
    assert sum(each.batches for each in findings if each.kind is FindingKind.SAME) > 50
    ends = [each for each in findings if each.kind is FindingKind.ENDS]
    assert len(ends) == 3
    assert main(["replicas", "compare", *(word for node in copies.nodes for word in ("--log", str(node)))]) == 0


def test_replicas_of_a_compacted_topic_agree(copies: Copies) -> None:
    log = copies.replicas(f"{OFFSETS}-0")
    assert looks_compacted(log, DEFAULT_OPTIONS)
    findings = list(compare_replicas(log))
    assert not [each for each in findings if each.kind.is_difference or each.kind.is_damage]
    assert any(each.kind is FindingKind.SAME for each in findings)


def test_a_copy_from_an_earlier_time_lags_and_does_not_differ(copies: Copies) -> None:
    (lagging,) = (copies.folder / "lagging").iterdir()
    logs, _ = find_replicas([lagging, copies.nodes[0]])
    (log,) = (each for each in logs if each.name == METADATA)
    findings = list(compare_replicas(log))
    assert not [each for each in findings if each.kind.is_difference or each.kind.is_damage]


def test_a_merge_of_damaged_copies_is_the_whole_log_in_all_tables(
    copies: Copies, tmp_path: Path, kafka_dump_log: DumpLog
) -> None:
    log = copies.replicas(METADATA)
    sound = merge_replicas(log, tmp_path / "sound")
    damaged = [tmp_path / f"damaged-{number}" for number in range(3)]
    for number, (replica, target) in enumerate(zip(log.replicas, damaged, strict=True)):
        shutil.copytree(replica.name, target / METADATA)
        shutil.copy(Path(replica.name).parent / "meta.properties", target)
        damage(target / METADATA, number)
    break_snapshots(damaged)
    assert main(["replicas", "compare", *(word for each in damaged for word in ("--log", str(each)))]) == 3
    (broken,), _ = find_replicas(damaged)
    merged = merge_replicas(broken, tmp_path / "merged")
    assert (merged.first_offset, merged.last_offset) == (sound.first_offset, sound.last_offset)
    assert (merged.lost, merged.dropped, merged.batches) == ((), 0, sound.batches)
    assert sum(1 for taken in merged.taken.values() if taken) == 3
    whole, repaired = (Path(each.path) for each in (sound, merged))
    assert {path.name: path.read_bytes() for path in whole.iterdir()} == {
        path.name: path.read_bytes() for path in repaired.iterdir()
    }
    assert any(path.suffix == ".checkpoint" for path in whole.iterdir())
    files = find_log_files([repaired])
    tables = [each for each in table_names() if any(reads(table_named(each), file) for file in files)]
    for table in tables:
        assert rows_of(table, repaired) == rows_of(table, whole), table
    for path in sorted(repaired.iterdir()):
        dumped = parse_dump(kafka_dump_log(path, "--cluster-metadata-decoder"))
        assert all(batch.valid for batch in dumped)
        assert [each.base_offset for each in dumped] == [each.base_offset for each in read_batches(path.read_bytes())]


def damage(folder: Path, number: int) -> None:
    """Flip a bit in each third batch: in its offset, length or last byte."""
    for segment in folder.glob("*.log"):
        content = bytearray(segment.read_bytes())
        batches = [(each.position, each.size) for each in read_batches(bytes(content))]
        for at, (position, size) in enumerate(batches):
            if at % 3 == number:
                content[position + (5, 8, size - 1)[at // 3 % 3]] ^= 0x40
        segment.write_bytes(content)


def break_snapshots(brokers: list[Path]) -> None:
    """Truncate the snapshots of the last broker that another has too.

    Each controller writes its own, with the times of its clock, so the bytes of two are not the same.
    """
    *others, last = brokers
    for snapshot in (last / METADATA).glob("*.checkpoint"):
        if any((other / METADATA / snapshot.name).exists() for other in others):
            snapshot.write_bytes(snapshot.read_bytes()[:-20])


def rows_of(table: str, folder: Path) -> list[dict[str, object]]:
    return [
        {column: cell for column, cell in row.items() if column not in FILES}
        for batch in read_table(table, folder)
        for row in batch.to_pylist()
    ]
