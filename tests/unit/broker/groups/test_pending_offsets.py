"""Offsets in transactions: they wait for the end, and what was written later wins."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.embedded.groups import committed_offsets, opened_groups

from kafkawire.broker.controller import Controller
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.state import GroupsState
from kafkawire.broker.internal_topics.topic import partition_of
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    OffsetCommitKey,
    OffsetCommitValue,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafkawire.wire.batches import read_batches

TOPIC_ID = Uuid(b"t" * 16)
FIRST, SECOND = Producer(7, 0), Producer(8, 3)


def key(group: str = "g", partition: int = 0, topic: str = "t") -> OffsetCommitKey:
    return OffsetCommitKey(group, topic, partition)


def value(offset: int) -> OffsetCommitValue:
    return OffsetCommitValue(offset, -1, "", 1000)


def offset_of(state: GroupsState) -> int | None:
    found = state.by_id["g"].commits.get(("t", 0)) if "g" in state.by_id else None
    return None if found is None else found.offset


def pending(state: GroupsState) -> set[int]:
    return {producer_id for by_producer in state.by_id["g"].pending.values() for producer_id in by_producer}


@pytest.mark.parametrize(
    ("ends", "offset"),
    [
        ([(7, True), (8, True)], 6),
        ([(8, True), (7, True)], 6),
        ([(8, False), (7, True)], 5),
        ([(7, True), (8, False)], 5),
        ([(7, False), (8, False)], None),
    ],
)
def test_the_offset_that_was_written_last_counts(ends: Sequence[tuple[int, bool]], offset: int | None) -> None:
    state = GroupsState()
    state.apply(key(), value(5), FIRST)
    state.apply(key(), value(6), SECOND)
    assert pending(state) == {7, 8}
    for producer_id, committed in ends:
        state.end(producer_id, ["g"], committed=committed)
    assert offset_of(state) == offset
    assert not state.by_id["g"].pending
    assert state.groups_in(7) == state.groups_in(8) == ()


def test_a_plain_commit_that_came_later_counts() -> None:
    state = GroupsState()
    state.apply(key(), value(5), FIRST)
    state.apply(key(), value(9))
    assert pending(state) == {7}
    state.end(7, ["g"], committed=True)
    assert offset_of(state) == 9


def test_a_repeated_offset_of_a_transaction_counts() -> None:
    state = GroupsState()
    for offset in (5, 4):
        state.apply(key(), value(offset), FIRST)
    state.end(7, ["g"], committed=True)
    assert offset_of(state) == 4


def test_a_deleted_offset_is_pending_no_more() -> None:
    state = GroupsState()
    state.apply(key(), value(5), FIRST)
    assert list(state.topics()) == ["t"]
    assert list(state.commits_of("t")) == [key()]
    state.apply(key(), None)
    assert list(state.topics()) == []
    state.end(7, ["g"], committed=True)
    assert offset_of(state) is None


def test_a_deleted_group_has_nothing_pending() -> None:
    state = GroupsState()
    state.apply(key(), value(5), FIRST)
    for change in list(state.by_id["g"].removal()):
        state.apply(*change)
    assert state.by_id == {}
    state.end(7, ["g"], committed=True)
    assert (state.by_id, list(state.topics())) == ({}, [])


def test_a_producer_has_offsets_in_the_other_groups_when_those_of_one_are_deleted() -> None:
    state = GroupsState()
    for group in ("g", "h"):
        for partition in (0, 1):
            state.apply(key(group, partition), value(5), FIRST)
    state.apply(key("g", 0), None)
    assert {*state.groups_in(7)} == {"g", "h"}
    state.apply(key("g", 1), None)
    assert {*state.groups_in(7)} == {"h"}
    state.apply(key("h", 0), None)
    state.apply(key("h", 1), None)
    assert state.groups_in(7) == ()
    assert list(state.topics()) == []


def test_the_commits_of_a_topic_are_of_no_other_topic_and_of_all_groups() -> None:
    """Those that are pending too; a topic has commits until all of them are deleted."""
    state = GroupsState()
    for topic in ("s", "t", "u"):
        state.apply(key("g", topic=topic), value(1))
    state.apply(key("g", 1), value(2), FIRST)
    state.apply(key("h"), value(3))
    assert {*state.commits_of("t")} == {key("g"), key("g", 1), key("h")}
    for each in (key("g"), key("g", 1), key("g", topic="u")):
        state.apply(each, None)
    assert {*state.topics()} == {"s", "t"}
    assert list(state.commits_of("t")) == [key("h")]
    state.apply(key("h"), None)
    assert list(state.topics()) == ["s"]
    assert list(state.commits_of("t")) == []


def test_a_state_is_the_same_from_its_entries() -> None:
    state, again = GroupsState(), GroupsState()
    state.apply(key(), value(3))
    state.apply(key(), value(5), FIRST)
    state.apply(key(), value(6), SECOND)
    state.apply(key("h", 1), value(7), FIRST)
    assert state.size == 4
    for entry in state.entries():
        again.apply(*entry)
    assert again.by_id == state.by_id
    for each in (state, again):
        each.end(8, ["g"], committed=True)
        each.end(7, ["g", "h"], committed=True)
    assert again.by_id == state.by_id


async def make_topic(controller: Controller) -> None:
    controller.commit([TopicRecord("t", TOPIC_ID), PartitionRecord(0, TOPIC_ID, (1,), (1,), leader=1)])
    await controller.log.durable(controller.end_offset)


async def commit(coordinator: GroupCoordinator, group: str, offset: int, producer: Producer | None) -> None:
    await coordinator.prepare([group])
    coordinator.commit([(key(group), value(offset))], producer)
    await coordinator.durable()


@pytest.mark.parametrize("committed", [True, False])
async def test_pending_offsets_are_there_after_a_restart_and_end_in_kafkas_form(
    tmp_path: Path, committed: bool
) -> None:
    async with opened_groups(tmp_path, partitions=2) as (coordinator, controller):
        await make_topic(controller)
        await commit(coordinator, "g", 3, None)
        await commit(coordinator, "g", 5, FIRST)
    async with opened_groups(tmp_path) as (coordinator, _):
        assert committed_offsets(coordinator) == {"g": {0: 3}}
        assert pending(coordinator.state) == {7}
        place = partition_of("g", 2)
        await coordinator.prepare(["g"])
        coordinator.end_transaction(1 - place, FIRST, committed=not committed, coordinator_epoch=4)  # not its partition
        coordinator.end_transaction(place, Producer(7, 1), committed=committed, coordinator_epoch=4)
        await coordinator.durable()
        expected = {"g": {0: 5 if committed else 3}}
        assert committed_offsets(coordinator) == expected
    async with opened_groups(tmp_path) as (coordinator, _):
        assert committed_offsets(coordinator) == expected
        assert not coordinator.state.by_id["g"].pending
    log = tmp_path / f"__consumer_offsets-{place}" / "00000000000000000000.log"
    batches = [
        (each.producer_id, each.producer_epoch, each.base_sequence, each.is_transactional, each.is_control)
        for each in read_batches(log.read_bytes())
    ]
    assert batches == [(-1, -1, -1, False, False), (7, 0, 0, True, False), (7, 1, -1, True, True)]


async def test_pending_offsets_of_a_deleted_topic_are_dropped(tmp_path: Path) -> None:
    async with opened_groups(tmp_path) as (coordinator, controller):
        await make_topic(controller)
        await commit(coordinator, "g", 5, FIRST)
        controller.commit([RemoveTopicRecord(TOPIC_ID)])
        await controller.log.durable(controller.end_offset)
        await asyncio.sleep(0.05)
        assert not coordinator.state.by_id["g"].pending


async def commit_often(coordinator: GroupCoordinator) -> None:
    """Until the log is rewritten."""
    for offset in range(60):
        await commit(coordinator, "h", offset, None)


async def test_rewritten_logs_have_the_pending_offsets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkawire.broker.internal_topics.coordinator._FEWEST_TO_REWRITE", 20)
    async with opened_groups(tmp_path) as (coordinator, controller):
        await make_topic(controller)
        await commit(coordinator, "g", 5, FIRST)
        await commit_often(coordinator)
        await asyncio.sleep(0.1)
    async with opened_groups(tmp_path) as (coordinator, _):
        assert pending(coordinator.state) == {7}
        await coordinator.prepare(["g"])
        coordinator.end_transaction(0, FIRST, committed=True, coordinator_epoch=0)
        assert committed_offsets(coordinator) == {"g": {0: 5}, "h": {0: 59}}


async def test_a_crash_while_logs_are_rewritten_keeps_the_pending_offsets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is committed already, written again, does not take the place of what was pending before."""
    monkeypatch.setattr("kafkawire.broker.internal_topics.coordinator._FEWEST_TO_REWRITE", 20)
    write = os.write

    def write_before_crash(descriptor: int, content: bytes) -> int:
        if any(batch.is_transactional for batch in read_batches(bytes(content))):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, content)

    async with opened_groups(tmp_path) as (coordinator, controller):
        await make_topic(controller)
        await commit(coordinator, "g", 4, None)
        await commit(coordinator, "g", 5, FIRST)
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", write_before_crash)
            with pytest.raises(StorageError):
                await commit_often(coordinator)
    async with opened_groups(tmp_path) as (coordinator, _):
        await coordinator.prepare(["g"])
        coordinator.end_transaction(0, FIRST, committed=True, coordinator_epoch=0)
        assert committed_offsets(coordinator)["g"] == {0: 5}


@pytest.mark.parametrize("ended", [0, 1])
async def test_a_transaction_ends_for_the_groups_of_a_partition_only(tmp_path: Path, ended: int) -> None:
    async with opened_groups(tmp_path, partitions=2) as (coordinator, controller):
        await make_topic(controller)
        groups = {partition_of(name, 2): name for name in ("g", "h")}
        assert {*groups} == {0, 1}
        for name in groups.values():
            await commit(coordinator, name, 5, FIRST)
        coordinator.end_transaction(ended, FIRST, committed=True, coordinator_epoch=4)
        expected = {name: {0: 5} if place == ended else {} for place, name in groups.items()}
        assert committed_offsets(coordinator) == expected
