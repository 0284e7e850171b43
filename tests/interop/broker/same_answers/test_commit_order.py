"""The order of the results of a commit: what is refused before the coordinator gets it comes first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest
from msgspec.structs import replace
from tests.interop.broker.same_answers.consumers import Consumer
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_consumer_groups import create, prompt
from tests.interop.broker.same_answers.test_groups import coordinated, strange_id, topic_of
from tests.interop.broker.same_answers.test_transactions import (
    add_offsets,
    begin,
    commit_offsets,
    find_coordinator,
)

from kafkawire.layout import Uuid
from kafkawire.protocol import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)

pytestmark = pytest.mark.interop

TOPICS: tuple[tuple[tuple[str, tuple[int, ...]], ...], ...] = (
    (("co-a", (0,)), ("co-none", (0,))),
    (("co-b", (0,)), ("co-a", (0, 7, 1))),
    (("co-a", (0,)), ("co-a", (1,)), ("co-a", (9,))),
    (("co-a", (0,)), ("co-a", (1,))),
    (("co-a", ()), ("co-b", (0,))),
    (("co-a", ()), ("co-b", (0,)), ("co-none", (0,))),
    (("co-none", (0,)), ("co-none", (0, 1))),
)
"""Names and partitions of commits."""

LENGTHS = {0: 0, 1: 4097, 7: 0, 9: 0}
"""Of the metadata, by partition."""

R = TypeVar("R", OffsetCommitResponse, TxnOffsetCommitResponse)
T = TypeVar("T")
P = TypeVar("P")


def keep_in_order(
    talk: Talk, request: OffsetCommitRequest | TxnOffsetCommitRequest, version: int, response: type[R]
) -> None:
    """Keep each result as an answer of its own, since those of an answer count in any order."""
    answer = talk.learn(request, version, response)
    for topic in answer.topics:
        for partition in topic.partitions:
            talk.keep(request, version, replace(answer, topics=(replace(topic, partitions=(partition,)),)))


def topics_of(
    topic: Callable[[str, Uuid, tuple[P, ...]], T], partition: Callable[[int], P], ids: dict[str, Uuid]
) -> list[tuple[T, ...]]:
    return [
        tuple(
            topic("" if ids else name, ids.get(name, strange_id(name)) if ids else Uuid(), tuple(map(partition, each)))
            for name, each in asked
        )
        for asked in TOPICS
    ]


@same_answers_from_plain_brokers
def test_results_of_commits(talk: Talk) -> None:
    ids = {name: topic_of(talk, name) for name in ("co-a", "co-b")}
    coordinated(talk, "co-group")
    asked = OffsetCommitRequest
    for version in (8, 9, 10):
        for topics in topics_of(
            asked.OffsetCommitRequestTopic,
            lambda number: asked.OffsetCommitRequestPartition(
                number, 5, committed_metadata="x" * (4097 if number == 1 else 0)
            ),
            ids if version >= 10 else {},
        ):
            for member, epoch in (("", -1), ("somebody", 5)):
                request = OffsetCommitRequest("co-group", epoch, member, topics=topics)
                keep_in_order(talk, request, version, OffsetCommitResponse)


@same_answers_from_plain_brokers
def test_results_of_commits_with_transactions(talk: Talk) -> None:
    for name in ("co-a", "co-b"):
        topic_of(talk, name)
    coordinated(talk, "co-tx-group")
    find_coordinator(talk, "co-tx")
    producer = begin(talk, "co-tx")
    add_offsets(talk, "co-tx", producer, "co-tx-group")
    asked = TxnOffsetCommitRequest
    for version in (2, 3, 5):
        for topics in topics_of(
            asked.TxnOffsetCommitRequestTopic, lambda number: asked.TxnOffsetCommitRequestPartition(number, 5), {}
        ):
            for group in ("co-tx-group", ""):
                request = TxnOffsetCommitRequest("co-tx", group, *producer, topics=topics)
                keep_in_order(talk, request, version, TxnOffsetCommitResponse)


@same_answers_from_plain_brokers
def test_members_need_no_epoch_for_what_is_refused_before(talk: Talk) -> None:
    create(talk, "cg-topic", 4)
    prompt(talk, "co-members")
    member, other = (Consumer(talk, "co-members", name) for name in ("member-a", "member-b"))
    member.join()
    other.join()
    member.beat()
    member.beat(reports=True)
    (owned,) = member.owned.values()
    own, theirs = owned[0], next(each for each in range(4) if each not in owned)
    asked = OffsetCommitRequest
    one = asked.OffsetCommitRequestPartition
    for partitions in ((own,), (own, 99), (99,), (theirs, own), (theirs, 99), (own, theirs, 99)):
        named = asked.OffsetCommitRequestTopic(
            "cg-topic", partitions=tuple(one(each, 5, committed_metadata="") for each in partitions)
        )
        unknown = replace(named, name="co-none", partitions=(one(0, 5, committed_metadata=""),))
        for topics in ((named,), (named, unknown), (unknown, named)):
            for epoch in (1, member.epoch - 1, member.epoch, 99):
                request = OffsetCommitRequest("co-members", epoch, "member-a", topics=topics)
                keep_in_order(talk, request, 9, OffsetCommitResponse)
            stranger = OffsetCommitRequest("co-members", 1, "stranger", topics=topics)
            keep_in_order(talk, stranger, 9, OffsetCommitResponse)
    find_coordinator(talk, "co-members-tx")
    producer = begin(talk, "co-members-tx")
    add_offsets(talk, "co-members-tx", producer, "co-members")
    for asked_for in ((own,), (own, 99), (theirs, 99), (99,)):
        for epoch in (member.epoch - 1, member.epoch):
            commit_offsets(
                talk,
                "co-members-tx",
                producer,
                "co-members",
                *(("cg-topic", each, 5) for each in asked_for),
                ("co-none", 0, 5),
                generation=epoch,
                member="member-a",
            )
