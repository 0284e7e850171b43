"""Decoding and encoding: within bounds, and with the same bytes in the loop and in a thread."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

import pytest

from kafkawire.broker.request_work import RequestWork
from kafkawire.broker.requests import Refused, RefusedRequestError
from kafkawire.protocol import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FetchRequest,
    MetadataRequest,
    ProduceRequest,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.rpc import encode_request, encode_response
from kafkawire.wire import Message


@pytest.fixture
def work() -> Iterator[RequestWork]:
    work = RequestWork(20_000)
    yield work
    work.close()


def groups(count: int) -> DescribeGroupsRequest:
    return DescribeGroupsRequest(tuple(str(number) for number in range(count)))


def frame(request: Message, version: int) -> bytes:
    return encode_request(request, version, correlation_id=1)[4:]


@pytest.mark.parametrize("count", [0, 10, 5000, 15_000, 20_000])
async def test_requests_of_any_size_are_read(work: RequestWork, count: int) -> None:
    async with work.request(frame(groups(count), 5)) as request:
        assert request.body == groups(count)


async def test_bounded_requests_are_refused_in_words(work: RequestWork) -> None:
    with pytest.raises(
        RefusedRequestError, match=r"DescribeGroupsRequest with more than 20000 items.*split the request"
    ):
        async with work.request(frame(groups(20_001), 5)):
            pass


@pytest.mark.parametrize("size", [3, 100, 5000])
async def test_messages_other_than_requests_are_refused(work: RequestWork, size: int) -> None:
    for content in (bytes(size), b"\xff" * size, frame(groups(size), 5)[:-1], b"\0\3\0\x0c" + bytes(size)):
        with contextlib.suppress(RefusedRequestError):
            async with work.request(content) as request:
                assert request.body is not None  # zeros are a Produce request of an old version, for one


@pytest.mark.usefixtures("one_engine")
async def test_requests_of_many_elements_are_answered_one_at_a_time(work: RequestWork) -> None:
    inside = most = 0

    async def answered(request: Message, version: int) -> None:
        nonlocal inside, most
        async with work.request(frame(request, version)):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.05)
            inside -= 1

    await asyncio.gather(*(answered(groups(15_000), 5) for _ in range(3)))
    assert most == 1
    many = tuple(FetchRequest.FetchPartition(number) for number in range(15_000))
    waiting = FetchRequest(topics=(FetchRequest.FetchTopic("t", partitions=many),))
    await asyncio.gather(*(answered(waiting, 12) for _ in range(3)))
    assert most > 1


async def test_records_are_no_elements(work: RequestWork) -> None:
    partition = ProduceRequest.PartitionProduceData(0, bytes(1_000_000))
    request = ProduceRequest(topic_data=(ProduceRequest.TopicProduceData("t", partition_data=(partition,)),))
    async with work.request(frame(request, 9)) as read:
        assert read.body == request


@pytest.mark.parametrize("count", [0, 10, 499, 501, 5000])
async def test_answers_of_any_size_are_the_same_bytes(work: RequestWork, count: int) -> None:
    group = DescribeGroupsResponse.DescribedGroup(group_id="g")
    answer = DescribeGroupsResponse(groups=(group,) * count)
    assert await work.answer(answer, 5, 7) == encode_response(answer, 5, correlation_id=7)


@pytest.mark.parametrize("count", [1, 5000])
async def test_refusals_name_the_request(work: RequestWork, count: int) -> None:
    topics = tuple(MetadataRequest.MetadataRequestTopic(name=str(number)) for number in range(count))
    answer = await work.refusal(MetadataRequest(topics), 9, Refused(ErrorCode.INVALID_REQUEST))
    named = [topic.name for topic in getattr(answer, "topics", ())]
    assert named == [topic.name for topic in topics]
