"""A history equals a simple replay, for any changes and any kept part of the log and its snapshots."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from random import Random

from hypothesis import example, given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.kafka_logs.histories import Row, history, still_open, time
from tests.made.cluster_state import (
    CLUSTER_HISTORIES,
    ClusterHappening,
    ClusterState,
    Facts,
    facts_of_row,
    new_partition,
)
from tests.made.logs import METADATA_LOG, Step, write_checkpoint, write_segment

from kafkawire.layout import Uuid
from kafkawire.logs import Accounts, ReadOptions, find_log_files, read_metadata_histories, read_table
from kafkawire.protocol import (
    AbortTransactionRecord,
    AccessControlEntryRecord,
    BeginTransactionRecord,
    ClientQuotaRecord,
    ConfigRecord,
    EndTransactionRecord,
    NoOpRecord,
    PartitionRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafkawire.wire import Message

NAMES = ("acl_history", "quota_history", "config_history", "topic_history", *CLUSTER_HISTORIES)
_TOPIC = 2
_START = 1_000_000
_CLUSTER_KINDS = 4
"""How many of the kinds of records are one of ``ClusterHappening``."""


@dataclass
class Replay:
    """The state that records make, in the most simple way."""

    acls: dict[Uuid, AccessControlEntryRecord] = field(default_factory=dict)
    quotas: dict[tuple[str, str], float] = field(default_factory=dict)
    configs: dict[tuple[str, str], str] = field(default_factory=dict)
    topics: dict[Uuid, tuple[str, int]] = field(default_factory=dict)
    cluster: ClusterState = field(default_factory=ClusterState)

    def apply(self, record: Message) -> None:
        self.cluster.apply(record)
        match record:
            case AccessControlEntryRecord():
                self.acls[record.id] = record
            case RemoveAccessControlEntryRecord():
                del self.acls[record.id]
            case ClientQuotaRecord(key=key, value=value, remove=remove):
                user = record.entity[0].entity_name or "<default>"
                self.quotas.pop((user, key), None) if remove else self.quotas.update({(user, key): value})
            case ConfigRecord(resource_name=resource, name=name, value=value):
                self.configs.pop((resource, name), None) if value is None else self.configs.update(
                    {(resource, name): value}
                )
            case TopicRecord():
                self.topics[record.topic_id] = (record.name, 0)
            case PartitionRecord():
                name, count = self.topics[record.topic_id]
                self.topics[record.topic_id] = (name, count + 1)
            case RemoveTopicRecord():
                name, _ = self.topics.pop(record.topic_id)
                self.configs = {key: value for key, value in self.configs.items() if key[0] != name}

    def facts(self, history_name: str) -> Facts:
        match history_name:
            case "acl_history":
                return frozenset((str(key), acl.principal, acl.operation) for key, acl in self.acls.items())
            case "quota_history":
                return frozenset((*key, value) for key, value in self.quotas.items())
            case "config_history":
                return frozenset((*key, value) for key, value in self.configs.items())
            case "topic_history":
                return frozenset((str(key), *topic) for key, topic in self.topics.items())
            case _:
                return self.cluster.facts(history_name)

    def records(self) -> Iterator[Message]:
        """What a snapshot holds."""
        yield from self.cluster.records()
        for topic_id, (name, _) in self.topics.items():
            yield TopicRecord(name, topic_id)
            yield from self.cluster.partitions_of(topic_id)
        yield from self.acls.values()
        yield from (ConfigRecord(_TOPIC, *key, value) for key, value in self.configs.items())
        for (user, key), value in self.quotas.items():
            yield _quota(user, key, value)


def facts_of(name: str, rows: Sequence[Row]) -> Facts:
    if name in CLUSTER_HISTORIES:
        return frozenset(facts_of_row(name, row) for row in rows)
    columns = {
        "acl_history": ("acl_id", "principal", "operation_code"),
        "quota_history": ("user", "key", "value"),
        "config_history": ("resource_name", "name", "value"),
        "topic_history": ("topic_id", "name", "partitions"),
    }[name]
    return frozenset(tuple(row[column] for column in columns) for row in rows if row.get("value", "") is not None)


def _quota(user: str, key: str, value: float, *, remove: bool = False) -> ClientQuotaRecord:
    named = None if user == "<default>" else user
    return ClientQuotaRecord((ClientQuotaRecord.EntityData("user", named),), key, value, remove)


class Happening:
    """Records that make sense one after the other, out of arbitrary choices."""

    def __init__(self) -> None:
        self.now = Replay()
        self._ids = 0

    def records(self, kind: int, which: int, value: int, seed: int) -> list[Message]:
        dice = Random(seed)
        if kind < _CLUSTER_KINDS:
            made: list[Message] = [ClusterHappening(self.now.cluster).record(dice)]
        else:
            makers = (self._acl, self._quota, self._config, self._topic, self._grown)
            made = [_with_replicas(record, dice) for record in makers[kind - _CLUSTER_KINDS](which, value)]
        for record in made:
            self.now.apply(record)
        return made

    def _acl(self, which: int, value: int) -> list[Message]:
        user = f"User:{which}"
        held = next((acl.id for acl in self.now.acls.values() if acl.principal == user), None)
        if held is not None:
            return [RemoveAccessControlEntryRecord(held)]
        return [AccessControlEntryRecord(self._new_id(), 2, "t", 3, user, "*", value + 3, 3)]

    def _quota(self, which: int, value: int) -> list[Message]:
        user, key = ("<default>", "alice", "bob")[which], "producer_byte_rate"
        return [_quota(user, key, value, remove=value == 0 and (user, key) in self.now.quotas)]

    def _config(self, which: int, value: int) -> list[Message]:
        return [ConfigRecord(_TOPIC, f"t{which}", "retention.ms", str(value) if value else None)]

    def _topic(self, which: int, value: int) -> list[Message]:
        name = f"t{which}"
        held = next((topic_id for topic_id, topic in self.now.topics.items() if topic[0] == name), None)
        if held is not None:
            return [RemoveTopicRecord(held)]
        topic_id = self._new_id()
        return [TopicRecord(name, topic_id), *(PartitionRecord(each, topic_id) for each in range(value + 1))]

    def _grown(self, which: int, value: int) -> list[Message]:
        found = [(topic_id, count) for topic_id, (name, count) in self.now.topics.items() if name == f"t{which}"]
        return [PartitionRecord(count, topic_id) for topic_id, count in found] or [NoOpRecord()]

    def _new_id(self) -> Uuid:
        self._ids += 1
        return Uuid(self._ids.to_bytes(16, "big"))


def _with_replicas(record: Message, dice: Random) -> Message:
    return new_partition(record.topic_id, record.partition_id, dice) if isinstance(record, PartitionRecord) else record


@dataclass(frozen=True)
class Story:
    """Batches, and the state and the time after each; where a transaction is open there is no snapshot."""

    steps: tuple[Step, ...]
    states: tuple[Replay, ...]
    may_be_snapshot: tuple[bool, ...]

    def offset_after(self, count: int) -> int:
        return sum(len(step.records) for step in self.steps[:count])

    def state_at(self, at: int) -> Replay:
        found = Replay()
        for step, state in zip(self.steps, self.states, strict=True):
            found = state if step.time <= at else found
        return found


_CHOICES = st.tuples(st.integers(0, _CLUSTER_KINDS + 4), st.integers(0, 2), st.integers(0, 2), st.integers(0, 1 << 16))
_BATCHES = st.tuples(
    st.integers(0, 2), st.lists(_CHOICES, min_size=1, max_size=3), st.sampled_from(["plain", "plain", "end", "abort"])
)


@st.composite
def stories(draw: st.DrawFn) -> Story:
    happening, steps, states, snapshots = Happening(), [], [], []
    now = _START
    for passed, choices, kind in draw(st.lists(_BATCHES, min_size=1, max_size=12)):
        before = deepcopy(happening.now)
        records = [record for choice in choices for record in happening.records(*choice)]
        now += passed
        if kind != "plain":
            end = EndTransactionRecord() if kind == "end" else AbortTransactionRecord()
            steps.append(Step(now, (BeginTransactionRecord(), *records)))
            states.append(before)
            snapshots.append(False)
            now += passed
            records = [end]
            happening.now = deepcopy(before) if kind == "abort" else happening.now
        steps.append(Step(now, tuple(records)))
        states.append(deepcopy(happening.now))
        snapshots.append(True)
    return Story(tuple(steps), tuple(states), tuple(snapshots))


def write(folder: Path, story: Story, segments: Sequence[int], snapshots: Sequence[int], first: int = 0) -> None:
    """Write the batches from the first kept one on, cut into segments, and snapshots after some numbers of batches."""
    cuts = sorted({first, *(cut for cut in segments if first < cut < len(story.steps)), len(story.steps)})
    for begin, end in pairwise(cuts):
        write_segment(folder, story.offset_after(begin), story.steps[begin:end])
    for count in snapshots:
        if 0 < count <= len(story.steps) and story.may_be_snapshot[count - 1]:
            state, last = story.states[count - 1], story.steps[count - 1].time
            write_checkpoint(folder, story.offset_after(count), [*state.records()], time=last)


_PLACES = st.lists(st.integers(0, 24), max_size=3)


@given(stories(), _PLACES, _PLACES, st.lists(st.tuples(st.integers(0, 4), st.integers(0, 400)), max_size=3))
@settings(max_examples=scaled(15))
def test_histories_read_together_are_those_read_alone(
    story: Story, segments: list[int], snapshots: list[int], flips: list[tuple[int, int]]
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / METADATA_LOG
        write(folder, story, segments, snapshots)
        files = sorted(folder.iterdir())
        for number, place in flips:
            _flip(files[number % len(files)], place)
        options, accounts = ReadOptions(secrets=True), Accounts()
        together: dict[str, list[Row]] = {name: [] for name in NAMES}
        for name, batch in read_metadata_histories(
            dict.fromkeys(NAMES), find_log_files([str(folder)]), options, accounts
        ):
            together[name] += batch.to_pylist()
        alone = {
            name: [row for batch in read_table(name, folder, options) for row in batch.to_pylist()] for name in NAMES
        }
        assert together == alone
        assert accounts.balanced


def _flip(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place % len(content)] ^= 1
    file.write_bytes(content)


@given(stories(), _PLACES, _PLACES)
@settings(max_examples=scaled(10))
def test_state_as_of_any_time_is_the_replay_up_to_it(story: Story, segments: list[int], snapshots: list[int]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / METADATA_LOG
        write(folder, story, segments, snapshots)
        for at in {step.time for step in story.steps} | {story.steps[-1].time + 1}:
            for name in NAMES:
                rows = history(name, folder, options=ReadOptions(as_of=time(at), secrets=True))
                assert facts_of(name, rows) == story.state_at(at).facts(name)
        for name in NAMES:
            assert facts_of(name, still_open(history(name, folder))) == story.states[-1].facts(name)


@given(stories(), _PLACES, _PLACES)
@settings(max_examples=scaled(10))
def test_cuts_and_snapshots_beside_a_whole_log_change_nothing(
    story: Story, segments: list[int], snapshots: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        whole, cut = Path(scratch) / "whole" / METADATA_LOG, Path(scratch) / "cut" / METADATA_LOG
        write(whole, story, [], [])
        write(cut, story, segments, snapshots)
        for name in NAMES:
            assert history(name, whole) == history(name, cut)


def story_of(*steps: Sequence[Message]) -> Story:
    now, states = Replay(), []
    for records in steps:
        for record in records:
            now.apply(record)
        states.append(deepcopy(now))
    made = (Step(_START + number, tuple(records)) for number, records in enumerate(steps))
    return Story(tuple(made), tuple(states), (True,) * len(steps))


_T2 = Uuid(b"t" * 16)
_CREATED = (TopicRecord("t2", _T2), new_partition(_T2, 0, Random(0)))
_UNSET = (ConfigRecord(_TOPIC, "t2", "retention.ms", None),)
_SET = (ConfigRecord(_TOPIC, "t2", "retention.ms", "1"),)
_DELETED = (RemoveTopicRecord(_T2),)


@given(stories(), st.integers(1, 24), st.integers(0, 3), _PLACES, _PLACES)
@example(story_of(_CREATED, _UNSET, _DELETED), 2, 2, [], [])
@example(story_of(_CREATED, _UNSET, _DELETED, _SET), 2, 2, [], [])
@example(story_of(_CREATED, _SET, _UNSET, _UNSET, _SET), 2, 0, [], [])
@settings(max_examples=scaled(15))
def test_a_snapshot_replaces_the_deleted_beginning(
    story: Story, count: int, overlap: int, segments: list[int], more_snapshots: list[int]
) -> None:
    """The same rows hold, and the same rows have ended since; only beginnings before the kept records are unknown."""
    count = 1 + count % len(story.steps)
    while not story.may_be_snapshot[count - 1]:
        count += 1
    with tempfile.TemporaryDirectory() as scratch:
        whole, kept = Path(scratch) / "whole" / METADATA_LOG, Path(scratch) / "kept" / METADATA_LOG
        write(whole, story, [], [])
        first = max(0, count - overlap)
        while first and not story.may_be_snapshot[first - 1]:
            first -= 1  # Kafka deletes up to a snapshot, which no transaction spans
        snapshots = [each for each in more_snapshots if each >= count]
        write(kept, story, segments, [count, *snapshots], first)
        for name in NAMES:
            expected, rows = history(name, whole), history(name, kept)
            assert facts_of(name, still_open(rows)) == facts_of(name, still_open(expected))
            _check_same_but_for_beginnings(rows, expected, story.steps[count - 1].time)


def _check_same_but_for_beginnings(rows: list[Row], expected: list[Row], since: int) -> None:
    """Every row held at its time; and there is a row for everything that held after the snapshot."""
    left = list(expected)
    for row in filter(_is_whole, rows):
        found = next((each for each in left if _alike(row, each, time(since))), None)
        if found is not None:
            left.remove(found)
        else:  # a snapshot leaves out what is not set, so it does not show that the topic is gone as well
            assert row.get("value", "") is None, row
            assert not any(_contradicts(each, row) for each in expected), row
    for missing in left:
        ended = missing["valid_to"] is not None and missing["valid_to"] <= time(since)
        assert ended or missing.get("value", "") is None, missing


def _contradicts(row: Row, unset: Row) -> bool:
    """Whether a row says that something was set while another one says that it was not."""
    if row["value"] is None or any(row[name] != unset[name] for name in ("resource_type", "resource_name", "name")):
        return False
    began, end = unset["from_offset"], unset["to_offset"]
    return (row["to_offset"] is None or began < row["to_offset"]) and (end is None or row["from_offset"] < end)


def _is_whole(row: Row) -> bool:
    """Whether it is more than an end, or changes, of something that began before the log."""
    changed_only = any(name in row and row[name] is None for name in ("partition_epoch", "incarnation_id"))
    return (row["valid_from"] is not None or row["added_by_snapshot"]) and not changed_only


def _alike(row: Row, other: Row, since: datetime) -> bool:
    """Before the snapshot, a record may repeat an earlier state, which the log does not show."""
    ignored = {"valid_from", "created_at", "from_offset", "added_by_snapshot"}
    if any(row[name] != other[name] for name in row.keys() - ignored):
        return False
    began = row["valid_from"]
    return began is None or began == other["valid_from"] or other["valid_from"] < began <= since
