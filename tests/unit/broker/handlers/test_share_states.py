"""The APIs of share coordinators (KIP-932): states begin, are written, read, summarized and end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest
from tests.embedded.connection import BrokerConnection, connected_to
from tests.embedded.share_fetching import GROUP, create

from kafkawire.broker import EmbeddedBroker
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

NO_TOPIC = Uuid.from_text("AAAAAAAAAAAAAAAAAAAACg")


@pytest.fixture
async def client() -> AsyncIterator[BrokerConnection]:
    async with EmbeddedBroker() as broker, connected_to(broker) as connection:
        yield connection


async def initialized(client: BrokerConnection, topic_id: Uuid, *, epoch: int, offset: int, partition: int = 0) -> int:
    asked = InitializeShareGroupStateRequest
    request = asked(GROUP, (asked.InitializeStateData(topic_id, (asked.PartitionData(partition, epoch, offset),)),))
    answer = await client.ask(request, 0, InitializeShareGroupStateResponse)
    return answer.results[0].partitions[0].error_code


async def written(
    client: BrokerConnection,
    topic_id: Uuid,
    *batches: tuple[int, int, int, int],
    start: int = 0,
    epoch: int = -1,
    leader: int = -1,
    partition: int = 0,
) -> int:
    asked = WriteShareGroupStateRequest
    data = asked.PartitionData(partition, epoch, leader, start, 0, tuple(asked.StateBatch(*each) for each in batches))
    request = asked(GROUP, (asked.WriteStateData(topic_id, (data,)),))
    answer = await client.ask(request, 1, WriteShareGroupStateResponse)
    return answer.results[0].partitions[0].error_code


async def state(
    client: BrokerConnection, topic_id: Uuid, *, leader: int = -1, partition: int = 0, group: str = GROUP
) -> ReadShareGroupStateResponse.PartitionResult:
    asked = ReadShareGroupStateRequest
    request = asked(group, (asked.ReadStateData(topic_id, (asked.PartitionData(partition, leader),)),))
    answer = await client.ask(request, 0, ReadShareGroupStateResponse)
    return answer.results[0].partitions[0]


async def summary(
    client: BrokerConnection, topic_id: Uuid, *, partition: int = 0
) -> ReadShareGroupStateSummaryResponse.PartitionResult:
    asked = ReadShareGroupStateSummaryRequest
    request = asked(GROUP, (asked.ReadStateSummaryData(topic_id, (asked.PartitionData(partition, 0),)),))
    answer = await client.ask(request, 1, ReadShareGroupStateSummaryResponse)
    return answer.results[0].partitions[0]


async def ended(client: BrokerConnection, topic_id: Uuid, *, partition: int = 0) -> int:
    asked = DeleteShareGroupStateRequest
    request = asked(GROUP, (asked.DeleteStateData(topic_id, (asked.PartitionData(partition),)),))
    answer = await client.ask(request, 0, DeleteShareGroupStateResponse)
    return answer.results[0].partitions[0].error_code


def batches_of(read: ReadShareGroupStateResponse.PartitionResult) -> Sequence[tuple[int, int, int, int]]:
    return [
        (each.first_offset, each.last_offset, each.delivery_state, each.delivery_count) for each in read.state_batches
    ]


async def test_what_is_written_is_read_until_the_state_ends(client: BrokerConnection) -> None:
    topic_id = await create(client)
    assert not await written(client, topic_id, (0, 9, 0, 1), (20, 29, 2, 1))
    assert batches_of(await state(client, topic_id)) == [(0, 9, 0, 1), (20, 29, 2, 1)]
    assert not await written(client, topic_id, (5, 9, 2, 2), start=5)
    read = await state(client, topic_id, leader=3)
    assert (read.start_offset, batches_of(read)) == (5, [(5, 9, 2, 2), (20, 29, 2, 1)])
    found = await summary(client, topic_id)
    assert (found.start_offset, found.leader_epoch, found.state_epoch) == (5, 3, 0)
    assert not await ended(client, topic_id)
    assert (await state(client, topic_id)).error_code == ErrorCode.INVALID_REQUEST
    assert (await summary(client, topic_id)).start_offset == -1


async def test_lower_epochs_are_fenced(client: BrokerConnection) -> None:
    topic_id = await create(client)
    assert not (await state(client, topic_id, leader=3)).error_code
    assert (await state(client, topic_id, leader=2)).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert await written(client, topic_id, leader=2) == ErrorCode.FENCED_LEADER_EPOCH
    assert not await initialized(client, topic_id, epoch=2, offset=5)
    assert await initialized(client, topic_id, epoch=1, offset=5) == ErrorCode.FENCED_STATE_EPOCH
    assert await written(client, topic_id, epoch=1) == ErrorCode.FENCED_STATE_EPOCH
    assert (await summary(client, topic_id)).start_offset == 5


@pytest.mark.parametrize(
    ("partition", "code"),
    [(-1, ErrorCode.INVALID_REQUEST), (9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)],
    ids=["negative", "unknown"],
)
async def test_partitions_have_to_exist(client: BrokerConnection, partition: int, code: ErrorCode) -> None:
    topic_id = await create(client)
    assert await initialized(client, topic_id, epoch=0, offset=0, partition=partition) == code
    assert await ended(client, topic_id, partition=partition) == code
    assert (await summary(client, topic_id, partition=partition)).error_code == code
    assert await ended(client, NO_TOPIC) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_a_state_that_has_not_begun_is_neither_read_nor_written(client: BrokerConnection) -> None:
    topic_id = await create(client)
    assert (await state(client, topic_id, group="others")).error_code == ErrorCode.INVALID_REQUEST
    assert await written(client, topic_id, partition=9) == ErrorCode.INVALID_REQUEST


async def test_a_request_without_a_group_has_an_empty_answer(client: BrokerConnection) -> None:
    assert (await client.ask(InitializeShareGroupStateRequest(""), 0, InitializeShareGroupStateResponse)).results == ()
    assert (await client.ask(ReadShareGroupStateRequest(""), 0, ReadShareGroupStateResponse)).results == ()
    assert (await client.ask(WriteShareGroupStateRequest(""), 1, WriteShareGroupStateResponse)).results == ()
    assert (await client.ask(DeleteShareGroupStateRequest(""), 0, DeleteShareGroupStateResponse)).results == ()
    request = ReadShareGroupStateSummaryRequest("")
    assert (await client.ask(request, 1, ReadShareGroupStateSummaryResponse)).results == ()
