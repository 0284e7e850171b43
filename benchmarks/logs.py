"""Tables of Kafka's logs beside kafka-dump-log, on the same segments.

kafka-dump-log runs in a warm Java machine that discards its output, which is its fastest way. Times are processor time:
of our process, and of the dumping thread in Java.
"""

from __future__ import annotations

import struct
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count, cycle, islice
from pathlib import Path

import msgspec
from tests.apache_kafka.java_program import running_program
from tests.apache_kafka.releases import newest_broker_release
from tests.kafka_logs.dumps import real_logs

from benchmarks.processes import interleave_processes, run_process
from benchmarks.results import KAFKA, OURS, Measurement, Target
from benchmarks.sampling import Call, Waiting, interleave_waiting
from kafkawire.broker.metadata_log.record_versions import RECORD_VERSIONS
from kafkawire.broker.storage.segment_index import SegmentIndex
from kafkawire.layout import Uuid
from kafkawire.logs import LOCAL, Accounts, find_log_files, plan, read_changes, read_table, table_named
from kafkawire.protocol import (
    AccessControlEntryRecord,
    ConfigRecord,
    PartitionRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafkawire.records.metadata_records import encode_metadata_record
from kafkawire.wire import Message
from kafkawire.wire.batches import Record, decode_records, encode_batch, read_batches

LARGE_TARGETS = (Target(KAFKA, 5),)
MIXED_TARGETS = (Target(KAFKA, 3),)
HISTORY_TARGETS = (Target(KAFKA, 1.5),)
MOST_ROUNDS = 5
"""A round takes many seconds."""

DECODING = "decoding"
INDEX_TARGETS = (Target(DECODING, 10),)
ONE_PROCESS = "one process"
PROCESSES_TARGETS = (Target(ONE_PROCESS, 1.7),)
FROM_NOTHING = "from nothing"
CONTINUED_TARGETS = (Target(FROM_NOTHING, 2),)
APPENDED = 0.05
"""The part of a log that is new to a continued reading."""
MEMORY_GROWTH = 1.2
"""The most memory that a process may take for four times the input, as a multiple of its memory for the input."""

_SOURCES = Path(__file__).parent / "java" / "dumping"
_TABLE = "offset_commit"
_LOG = "__consumer_offsets-0"
_METADATA_LOG = "__cluster_metadata-0"
_CONFIGS = ("retention.ms", "cleanup.policy", "segment.bytes", "min.insync.replicas")
_ACLS_OF_TOPIC = 10
_TOPICS_KEPT = 1000
_WARMING = 2
"""Runs of the Java machine that do not count, in addition to the first round."""
_READ = """
import sys
from pathlib import Path
from kafkawire.logs import read_table
rows = sum(batch.num_rows for batch in read_table(*sys.argv[1:]))
status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
print(rows, int(status["VmHWM"].split()[0]) * 1024)
"""


class _Go(msgspec.Struct):
    """A request for one more run."""


@dataclass(frozen=True)
class Load:
    """The sizes of the segments.

    Attributes:
        size: of a segment, in bytes.
        partitions: number of partitions of a commit, in the segment of large batches.
        memory_size: of the smaller segment of the memory measurement.
        divided_sizes: of the logs that two processes read.
    """

    size: int = 62 * 1024 * 1024
    partitions: int = 100
    memory_size: int = 24 * 1024 * 1024
    divided_sizes: tuple[int, ...] = (310 * 1024 * 1024, 1240 * 1024 * 1024)


SMALL = Load(size=60_000, partitions=20, memory_size=30_000, divided_sizes=(60_000,))


@dataclass(frozen=True)
class Memory:
    """The peak memory of a process that reads a segment, in bytes.

    Attributes:
        table: what it reads.
        size: of the segment.
        peak: resident, of the whole process.
    """

    table: str
    size: int
    peak: int


def run(rounds: int, load: Load) -> Iterator[Measurement]:
    """Measure beside Kafka's own tool."""
    with tempfile.TemporaryDirectory() as work:
        large = write_commits(Path(work) / "large", load)
        mixed = write_mixture(Path(work) / "mixed", load)
        commits, own = f"commits of {load.partitions} partitions", "Kafka's own batches, a third of them snappy"
        yield _beside_kafka(commits, _TABLE, large, rounds, LARGE_TARGETS)
        yield _beside_kafka(own, _TABLE, mixed, rounds, MIXED_TARGETS)
        yield _beside_kafka(f"offset_commits, {commits}", "offset_commits", large, rounds, HISTORY_TARGETS)
        yield _beside_kafka(f"offset_commits, {own}", "offset_commits", mixed, rounds, HISTORY_TARGETS)
        yield _beside_kafka(f"group_history, {own}", "group_history", mixed, rounds, HISTORY_TARGETS)
        metadata = write_metadata(Path(work) / "metadata", load)
        for name in ("acl_history", "config_history", "partition_history"):
            yield _beside_kafka(f"{name}, topics with their ACLs", name, metadata, rounds, HISTORY_TARGETS)
        for size in load.divided_sizes:
            divided = write_mixture(Path(work) / str(size), replace(load, size=size))
            _write_index(divided)
            yield _in_two_processes(own, divided, rounds)
            divided.unlink()
        yield _continued(metadata, rounds)
        yield _index_pass(large, rounds)


def memory(load: Load) -> list[Memory]:
    """The memory for a segment, and for one four times as large: of a table, then of a history."""
    with tempfile.TemporaryDirectory() as work:
        segments = [
            write_commits(Path(work) / str(times), Load(times * load.memory_size, load.partitions)) for times in (1, 4)
        ]
        return [
            Memory(name, each.stat().st_size, int(run_process(_READ, name, str(each)).split()[1]))
            for name in (_TABLE, "offset_commits")
            for each in segments
        ]


def write_commits(root: Path, load: Load) -> Path:
    """Write a segment of large batches from the offset commits of a real one."""
    commits = [record for record in _real_records() if record.key is not None and record.key[:2] == b"\0\1"]
    path = root / _LOG / f"{0:020}.log"
    path.parent.mkdir(parents=True)
    offset = 0
    source = cycle(commits)
    with path.open("wb") as file:
        while file.tell() < load.size:
            records = [
                msgspec.structs.replace(record, offset=offset + at, timestamp=1_795_250_000_000 + offset)
                for at, record in enumerate(islice(source, load.partitions))
            ]
            file.write(encode_batch(records, base_offset=offset, partition_leader_epoch=0))
            offset += len(records)
    return path


def write_mixture(root: Path, load: Load) -> Path:
    """Write a segment that repeats the batches of real ones, with increasing offsets."""
    path = root / _LOG / f"{0:020}.log"
    path.parent.mkdir(parents=True)
    contents = [log.read_bytes() for log in real_logs() if log.name.startswith("__consumer_offsets")]
    offset = 0
    with path.open("wb") as file:
        for content in cycle(contents):
            for batch in read_batches(content):
                file.write(struct.pack(">q", offset) + content[batch.position + 8 : batch.position + batch.size])
                offset += batch.last_offset_delta + 1
            if file.tell() >= load.size:
                return path
    raise AssertionError


def write_metadata(root: Path, load: Load) -> Path:
    """Write a segment of a metadata log in which topics with ACLs are created, configured twice, and some deleted."""
    path = root / _METADATA_LOG / f"{0:020}.log"
    path.parent.mkdir(parents=True)
    offset = 0
    with path.open("wb") as file:
        for number in count():
            time = 1_795_250_000_000 + number
            values = [encode_metadata_record(each, RECORD_VERSIONS[each.NAME]) for each in _life_of_topics(number)]
            records = [Record(timestamp=time, value=value) for value in values]
            file.write(encode_batch(records, base_offset=offset, partition_leader_epoch=1))
            offset += len(records)
            if file.tell() >= load.size:
                return path
    raise AssertionError


def _write_index(segment: Path) -> None:
    """Write the indexes that Kafka keeps beside a segment; parts of a log are found with them."""
    index = SegmentIndex(segment, 0)
    for batch in read_batches(segment.read_bytes()):
        index.add(batch, batch.position)
    index.store()


def _life_of_topics(number: int) -> Iterator[Message]:
    """The creation of a topic with its ACLs, and changes of earlier topics."""
    yield TopicRecord(f"topic-{number}", _uuid(number))
    for partition in range(3):
        yield PartitionRecord(partition, _uuid(number), (1, 2, 3), (1, 2, 3), leader=1)
    for name in _CONFIGS:
        yield ConfigRecord(2, f"topic-{number}", name, str(number))
    for each in range(_ACLS_OF_TOPIC):
        acl_id = _uuid(number, each + 1)
        yield AccessControlEntryRecord(acl_id, 2, f"topic-{number}", 3, f"User:app-{number}-{each}", "*", 3 + each, 3)
    earlier = number - _TOPICS_KEPT
    if earlier >= 0:
        yield ConfigRecord(2, f"topic-{earlier}", _CONFIGS[0], str(number))
        yield RemoveAccessControlEntryRecord(_uuid(earlier, 1))
        if number % 2:
            yield from (RemoveAccessControlEntryRecord(_uuid(earlier, each + 2)) for each in range(_ACLS_OF_TOPIC - 1))
            yield RemoveTopicRecord(_uuid(earlier))


def _uuid(topic: int, acl: int = 0) -> Uuid:
    return Uuid(topic.to_bytes(8, "big") + acl.to_bytes(8, "big"))


def _real_records() -> Sequence[Record]:
    contents = [log.read_bytes() for log in real_logs() if log.name.startswith("__consumer_offsets")]
    return [record for content in contents for batch in read_batches(content) for record in decode_records(batch)]


@contextmanager
def dump_log(segments: Sequence[Path]) -> Iterator[Waiting]:
    """Kafka's own tool on segments of one log, in a warm Java machine."""
    decoder = "--cluster-metadata-decoder" if segments[0].parent.name == _METADATA_LOG else "--offsets-decoder"
    options = ("--files", ",".join(map(str, segments)), decoder)
    with running_program(
        newest_broker_release(), _SOURCES, "Dumping", heap="1g", options=(), arguments=options
    ) as program:
        program.ask([_Go()] * _WARMING)
        yield Waiting(lambda: float(program.ask([_Go()])[0]))


def _beside_kafka(case: str, table: str, segment: Path, rounds: int, targets: tuple[Target, ...]) -> Measurement:
    kind = "log tables" if table == _TABLE else "histories"
    accounts = Accounts()
    list(read_table(table, str(segment), accounts=accounts))
    with dump_log([segment]) as dump:
        seconds = interleave_waiting(
            {OURS: Waiting(lambda: _processor_time(lambda: _read(table, segment))), KAFKA: dump}, rounds
        )
    rate = accounts.records_read / sorted(seconds[OURS])[len(seconds[OURS]) // 2]
    size = f"{segment.stat().st_size / 1e6:.0f} MB, {accounts.records_read:,} records"
    return Measurement(kind, f"{case}: {size}", seconds, targets, (f"{rate / 1000:.0f} thousand records/s",))


def _in_two_processes(case: str, segment: Path, rounds: int) -> Measurement:
    body = 'sum(batch.num_rows for batch in read_table("offset_commits", sys.argv[1], processes={}))'
    bodies = {OURS: body.format(2), ONE_PROCESS: body.format(1)}
    before = "from kafkawire.logs import read_table"
    seconds = interleave_processes(bodies, rounds, before=before, argument=str(segment))
    return Measurement(
        "processes", f"offset_commits, {case}: {segment.stat().st_size / 1e6:.0f} MB", seconds, PROCESSES_TARGETS
    )


def _continued(segment: Path, rounds: int) -> Measurement:
    """A reading that continues from a state, and one of all of the log; neither keeps its state."""
    table, whole, state = "acl_history", segment.read_bytes(), segment.with_name("state")
    known = [batch.position for batch in read_batches(whole)]
    segment.write_bytes(whole[: known[int(len(known) * (1 - APPENDED))]])
    changes = read_changes(table, str(segment.parent), state)
    begun = sum(batch.num_rows for batch in changes)
    changes.commit()
    segment.write_bytes(whole)

    def read(kept: Path) -> int:
        return sum(batch.num_rows for batch in read_changes(table, str(segment.parent), kept))

    assert begun
    assert read(state)
    contenders = {
        OURS: Waiting(lambda: _processor_time(lambda: read(state))),
        FROM_NOTHING: Waiting(lambda: _processor_time(lambda: read(state.with_name("no-state")))),
    }
    case = f"{table}, topics with their ACLs: {segment.stat().st_size / 1e6:.0f} MB, {APPENDED:.0%} of it new"
    return Measurement("continued", case, interleave_waiting(contenders, rounds), CONTINUED_TARGETS)


def _index_pass(segment: Path, rounds: int) -> Measurement:
    table = table_named(_TABLE)
    files = find_log_files([str(segment)])

    def hop() -> None:
        assert plan(table, files, max_partition_bytes=max(files[0].size // 8, 1), store=LOCAL)

    contenders = {
        OURS: Waiting(lambda: _processor_time(hop)),
        DECODING: Waiting(lambda: _processor_time(lambda: _read(_TABLE, segment))),
    }
    seconds = interleave_waiting(contenders, rounds)
    case = f"planning by hopping from batch to batch: {segment.stat().st_size / 1e6:.0f} MB"
    return Measurement("index pass", case, seconds, INDEX_TARGETS)


def _processor_time(call: Call) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


def _read(table: str, segment: Path) -> int:
    return sum(batch.num_rows for batch in read_table(table, str(segment)))
