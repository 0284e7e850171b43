"""Members of share groups, and the states of their groups."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from msgspec.structs import replace
from tests.apache_kafka.eventually import eventually
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_config_alterations import SET, Change, Changed, change, seen
from tests.interop.broker.same_answers.test_data import topic_with_leaders

from kafkawire.layout import Uuid
from kafkawire.model.configs.resources import ConfigResourceType
from kafkawire.protocol import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    ProduceRequest,
    ProduceResponse,
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)
from kafkawire.wire.batches import Record, encode_batch

_SHARE = 2
_NOT_YET = {3, 14, 15, 16}
"""Errors of a topic or a coordinator that a busy broker has not loaded yet; the topics of these tests exist."""
_TIME = time.time_ns() // 1_000_000  # brokers delete records of long ago
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)

Acknowledged: TypeAlias = tuple[int, int, Sequence[int]]
"""First offset, last offset, types."""


def shared(talk: Talk, name: str, *, offset: int = 0) -> Uuid:
    """Make a topic of two partitions, and the states of a group of the same name."""
    _, topic_id = topic_with_leaders(talk, name)
    key = f"{name}:{topic_id}:0"
    find = FindCoordinatorRequest(key_type=_SHARE, coordinator_keys=(key,))
    eventually(
        lambda: talk.learn(find, 6, FindCoordinatorResponse), lambda answer: not answer.coordinators[0].error_code
    )
    initialize(talk, name, topic_id, offset=offset)
    return topic_id


def initialize(talk: Talk, group: str, topic_id: Uuid, *, epoch: int = 0, offset: int = 0) -> None:
    data = tuple(InitializeShareGroupStateRequest.PartitionData(each, epoch, offset) for each in (0, 1))
    request = InitializeShareGroupStateRequest(
        group, (InitializeShareGroupStateRequest.InitializeStateData(topic_id, data),)
    )
    talk.ask_until(request, 0, InitializeShareGroupStateResponse, _is_coordinated)


def _is_coordinated(answer: InitializeShareGroupStateResponse) -> bool:
    return not any(each.error_code in _NOT_YET for topic in answer.results for each in topic.partitions)


def produce(
    talk: Talk, name: str, *counts: int, partition: int = 0, producer: tuple[int, int] = (-1, -1), transaction: str = ""
) -> None:
    """Produce a batch for each number of records."""
    sequence = 0
    for count in counts:
        records = [Record(timestamp=_TIME, value=b"v%d" % each) for each in range(count)]
        batch = encode_batch(
            records,
            producer_id=producer[0],
            producer_epoch=producer[1],
            base_sequence=sequence if transaction else -1,
            transactional=bool(transaction),
        )
        sequence += count
        data = (ProduceRequest.PartitionProduceData(partition, batch),)
        request = ProduceRequest(
            transaction or None, -1, 5000, (ProduceRequest.TopicProduceData(name, partition_data=data),)
        )
        talk.ask(request, 9, ProduceResponse)


@dataclass(slots=True)
class Member:
    """A member with a session.

    Attributes:
        keeps_records: whether the records are compared, which have no ids of the broker.
    """

    talk: Talk
    group: str
    topic_id: Uuid
    member_id: str = "member-1"
    epoch: int = 0
    partitions: Sequence[int] = (0,)
    keeps_records: bool = True

    def fetch(
        self,
        *acknowledged: Acknowledged,
        most: int = 500,
        batch_size: int = 500,
        wait_ms: int = 3000,
        least: int = 1,
        most_bytes: int = 1 << 20,
        mode: int = 0,
        renews: bool = False,
        version: int = 2,
        forget: Sequence[int] = (),
    ) -> ShareFetchResponse:
        """Fetch from all partitions, with acknowledgements of the first."""
        batches = tuple(ShareFetchRequest.AcknowledgementBatch(*each) for each in acknowledged)
        of_partitions = tuple(
            ShareFetchRequest.FetchPartition(each, acknowledgement_batches=() if at else batches)
            for at, each in enumerate(self.partitions)
        )
        topics = (ShareFetchRequest.FetchTopic(self.topic_id, of_partitions),) if of_partitions else ()
        request = ShareFetchRequest(
            self.group, self.member_id, self.epoch, wait_ms, least, most_bytes, most, batch_size, mode, renews, topics,
            (ShareFetchRequest.ForgottenTopic(self.topic_id, tuple(forget)),) if forget else (),
        )  # fmt: skip
        answer = self.talk.learn(request, version, ShareFetchResponse)
        self.talk.keep(request, version, answer if self.keeps_records else _without_records(answer))
        self.epoch += answer.error_code == 0 and self.epoch >= 0
        return answer

    def look(self, *acknowledged: Acknowledged) -> ShareFetchResponse:
        """Fetch where there is nothing, or may be nothing."""
        return self.fetch(*acknowledged, wait_ms=300)

    def acknowledge(
        self, *acknowledged: Acknowledged, renews: bool = False, version: int = 2, epoch: int | None = None
    ) -> ShareAcknowledgeResponse:
        batches = tuple(ShareAcknowledgeRequest.AcknowledgementBatch(*each) for each in acknowledged)
        partition = ShareAcknowledgeRequest.AcknowledgePartition(0, batches)
        topics = (ShareAcknowledgeRequest.AcknowledgeTopic(self.topic_id, (partition,)),) if batches else ()
        asked = self.epoch if epoch is None else epoch
        request = ShareAcknowledgeRequest(self.group, self.member_id, asked, renews, topics)
        answer = self.talk.ask(request, version, ShareAcknowledgeResponse)
        self.epoch += answer.error_code == 0 and asked > 0
        return answer

    def leave(self) -> None:
        self.acknowledge(epoch=-1)


def summarize(talk: Talk, group: str, topic_id: Uuid, *partitions: int, version: int = 1) -> None:
    asked = ReadShareGroupStateSummaryRequest
    data = tuple(asked.PartitionData(each, 0) for each in partitions or (0,))
    talk.ask(asked(group, (asked.ReadStateSummaryData(topic_id, data),)), version, ReadShareGroupStateSummaryResponse)


def read(talk: Talk, group: str, topic_id: Uuid, *, leader_epoch: int = -1, partition: int = 0) -> None:
    asked = ReadShareGroupStateRequest
    data = (asked.PartitionData(partition, leader_epoch),)
    talk.ask(asked(group, (asked.ReadStateData(topic_id, data),)), 0, ReadShareGroupStateResponse)


def available(talk: Talk, group: str, topic_id: Uuid, partition: int = 0, *, deliveries: int = 1) -> None:
    """Wait until a delivered record is available again, since Kafka ends a session after it has answered."""
    asked = ReadShareGroupStateRequest
    request = asked(group, (asked.ReadStateData(topic_id, (asked.PartitionData(partition, -1),)),))
    eventually(
        lambda: talk.learn(request, 0, ReadShareGroupStateResponse),
        lambda answer: any(
            not each.delivery_state and each.delivery_count >= deliveries
            for each in answer.results[0].partitions[0].state_batches
        ),
    )
    time.sleep(0.2)  # the leader of the partition changes its memory after the state is written


def _without_records(answer: ShareFetchResponse) -> ShareFetchResponse:
    topics = (
        replace(topic, partitions=tuple(replace(each, records=b"") for each in topic.partitions))
        for topic in answer.responses
    )
    return replace(answer, responses=tuple(topics))


def configure(talk: Talk, group: str, **configs: str) -> None:
    """Set configurations of a group, with ``_`` for ``.``, and wait until they are there."""
    named = {name.replace("_", "."): value for name, value in configs.items()}
    change(
        talk, Changed(ConfigResourceType.GROUP, group, tuple(Change(name, SET, value) for name, value in named.items()))
    )
    for name, value in named.items():
        seen(talk, (ConfigResourceType.GROUP, group), name, value, 8)
