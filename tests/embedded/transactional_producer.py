"""A transactional producer over a connection to an embedded broker, and what committed readers get."""

from __future__ import annotations

from dataclasses import dataclass

from tests.embedded.connection import BrokerConnection

from kafkawire.protocol import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    EndTxnRequest,
    EndTxnResponse,
    FetchRequest,
    FetchResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    ProduceRequest,
    ProduceResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, decode_records, encode_batch, read_batches

COMMITTED = 1
"""The isolation level of readers that get no aborted records."""


@dataclass
class TransactionalProducer:
    """A producer of version 2 of transactions.

    Attributes:
        client: its connection.
        transactional_id: its id.
        producer_id, epoch: that it has; -1 before ``begin``.
        sequences: partition to the sequence of the next record.
    """

    client: BrokerConnection
    transactional_id: str = "t"
    producer_id: int = -1
    epoch: int = -1

    def __post_init__(self) -> None:
        self.sequences: dict[tuple[str, int], int] = {}

    async def begin(self, timeout_ms: int = 60_000) -> int:
        """Ask for an epoch as a new producer; returns the error."""
        request = InitProducerIdRequest(self.transactional_id, timeout_ms)
        answer = await self.client.ask(request, 5, InitProducerIdResponse)
        if not answer.error_code:
            self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            self.sequences = {}
        return answer.error_code

    async def begun(self, timeout_ms: int = 60_000) -> None:
        """Begin, again after an open transaction is aborted."""
        while (error := await self.begin(timeout_ms)) == ErrorCode.CONCURRENT_TRANSACTIONS:
            pass
        assert not error

    async def write(self, value: bytes, topic: str = "out", partition: int = 0, *, version: int = 12) -> int:
        """Write a record in the transaction; returns the error."""
        sequence = self.sequences.get((topic, partition), 0)
        records = encode_batch(
            [Record(value=value)],
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            transactional=True,
        )
        data = ProduceRequest.TopicProduceData(
            topic, partition_data=(ProduceRequest.PartitionProduceData(partition, records),)
        )
        request = ProduceRequest(self.transactional_id, -1, 30_000, (data,))
        answer = await self.client.ask(request, version, ProduceResponse)
        error = answer.responses[0].partition_responses[0].error_code
        if not error:
            self.sequences[topic, partition] = sequence + 1
        return error

    async def commit_offset(self, group: str, offset: int, topic: str = "in", partition: int = 0) -> int:
        """Commit an offset of a group with the transaction; returns the error."""
        one = TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition(partition, offset)
        topics = (TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic(topic, partitions=(one,)),)
        request = TxnOffsetCommitRequest(self.transactional_id, group, self.producer_id, self.epoch, topics=topics)
        answer = await self.client.ask(request, 5, TxnOffsetCommitResponse)
        return answer.topics[0].partitions[0].error_code

    async def end(self, *, committed: bool) -> int:
        """Commit or abort; returns the error."""
        request = EndTxnRequest(self.transactional_id, self.producer_id, self.epoch, committed)
        answer = await self.client.ask(request, 5, EndTxnResponse)
        if not answer.error_code:
            self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            self.sequences = {}
        return answer.error_code


async def committed_values(client: BrokerConnection, topic: str = "out", partition: int = 0) -> list[bytes]:
    """The values that a committed reader gets."""
    asked = FetchRequest.FetchTopic(topic, partitions=(FetchRequest.FetchPartition(partition, -1, 0, -1, 0, 1 << 20),))
    request = FetchRequest(max_wait_ms=0, isolation_level=COMMITTED, topics=(asked,))
    answer = await client.ask(request, 12, FetchResponse)
    (found,) = answer.responses[0].partitions
    assert not found.error_code
    aborted = sorted((each.first_offset, each.producer_id) for each in found.aborted_transactions or ())
    values, skipped = [], set[int]()
    for batch in read_batches(found.records or b""):
        while aborted and aborted[0][0] <= batch.base_offset:
            skipped.add(aborted.pop(0)[1])
        if batch.is_control:
            skipped.discard(batch.producer_id)
        elif not (batch.is_transactional and batch.producer_id in skipped):
            values += [bytes(record.value or b"") for record in decode_records(batch)]
    return values


async def committed_offset(
    client: BrokerConnection, group: str, topic: str = "in", partition: int = 0, *, is_stable: bool = False
) -> tuple[int, int]:
    """The error and the offset that a group has committed."""
    asked = OffsetFetchRequest.OffsetFetchRequestTopics(topic, partition_indexes=(partition,))
    groups = (OffsetFetchRequest.OffsetFetchRequestGroup(group, topics=(asked,)),)
    answer = await client.ask(OffsetFetchRequest(groups=groups, require_stable=is_stable), 9, OffsetFetchResponse)
    found = answer.groups[0].topics[0].partitions[0]
    return found.error_code, found.committed_offset


async def state_of(client: BrokerConnection, transactional_id: str = "t") -> tuple[str, int]:
    """The state and the epoch of a transactional id; the number of the error instead of the state."""
    answer = await client.ask(DescribeTransactionsRequest((transactional_id,)), 0, DescribeTransactionsResponse)
    (found,) = answer.transaction_states
    return found.transaction_state or str(found.error_code), found.producer_epoch
