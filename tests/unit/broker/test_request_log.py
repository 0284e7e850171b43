"""The log of requests that tests of clients read."""

from __future__ import annotations

from typing import Any

import pytest

from kafkawire.admin import BlockingAdminClient, NewTopic, ScramMechanism, ScramUpsertion
from kafkawire.broker import EmbeddedBroker, ReceivedRequest, RequestLog, ThreadedBroker
from kafkawire.broker.sessions import ANONYMOUS, Session
from kafkawire.protocol import (
    AlterUserScramCredentialsRequest,
    CreateTopicsRequest,
    CreateTopicsResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
)
from kafkawire.wire import Message

SESSION = Session(ANONYMOUS, "127.0.0.1", "PLAINTEXT")


def received(request: Message, response: Message | None = None, version: int = 7) -> ReceivedRequest[Message]:
    return ReceivedRequest(request, version, "billing", SESSION, response)


def test_requests_are_kept_in_their_order_with_their_responses() -> None:
    with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("orders"), NewTopic("not legal!")])
        (created,) = broker.requests.of(CreateTopicsRequest)
        assert [topic.name for topic in created.request.topics] == ["orders", "not legal!"]
        assert isinstance(created.response, CreateTopicsResponse)
        assert (created.version, created.session.host) == (7, "127.0.0.1")
        (error,) = created.errors
        assert (error.path, error.code) == ("topics[1].error_code", 17)
        names = [each.request.NAME for each in broker.requests]
        assert names[0] == "ApiVersionsRequest"
        assert names.index("CreateTopicsRequest") == len(names) - 1


def test_a_request_whose_connection_a_fault_closes_has_no_response() -> None:
    with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        broker.faults.drop(CreateTopicsRequest, times=1)
        admin.create_topics([NewTopic("orders")]).all()
        first, second = broker.requests.of(CreateTopicsRequest)
        assert first.response is None
        assert str(first).endswith(": no response")
        assert second.errors == ()


def test_the_text_of_a_request_has_no_contents() -> None:
    with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.alter_user_scram_credentials([ScramUpsertion("ann", ScramMechanism.SCRAM_SHA_256, "secret")]).all()
        (altered,) = broker.requests.of(AlterUserScramCredentialsRequest)
    assert repr(altered) == "<AlterUserScramCredentialsRequest v0 from kafkawire-admin, User:ANONYMOUS: no errors>"
    assert repr(broker.requests) == f"<{len(broker.requests)} requests>"


def test_old_requests_make_room() -> None:
    log = RequestLog(kept=2)
    for name in ("a", "b", "c"):
        log.add(received(CreateTopicsRequest((CreateTopicsRequest.CreatableTopic(name),))), 10)
    assert [each.request.topics[0].name for each in log.of(CreateTopicsRequest)] == ["b", "c"]
    log.clear()
    assert (len(log), list(log)) == (0, [])


def test_large_requests_make_room_and_the_last_one_is_kept() -> None:
    log = RequestLog()
    log.add(received(MetadataRequest()), 10)
    log.add(received(ProduceRequest()), 100 << 20)
    assert [each.request.NAME for each in log] == ["ProduceRequest"]


def test_a_log_of_none_keeps_none() -> None:
    log = RequestLog(kept=0)
    log.add(received(MetadataRequest()), 10)
    assert len(log) == 0


def test_errors_are_shown_with_their_place_and_name() -> None:
    topic, partition = MetadataResponse.MetadataResponseTopic, MetadataResponse.MetadataResponsePartition
    response = MetadataResponse(
        topics=(
            topic(error_code=3, name="a"),
            topic(name="b", partitions=(partition(), partition(error_code=5))),
            topic(error_code=29, name="c"),
            topic(error_code=999, name="d"),
        ),
    )
    assert str(received(MetadataRequest(), response)) == (
        "MetadataRequest v7 from billing, User:ANONYMOUS: topics[0]: UNKNOWN_TOPIC_OR_PARTITION (3); "
        "topics[1].partitions[1]: LEADER_NOT_AVAILABLE (5); topics[2]: TOPIC_AUTHORIZATION_FAILED (29); and 1 more"
    )
    assert str(received(MetadataRequest(), response).errors[-1]) == "topics[3]: unknown (999)"


def test_requests_are_found_by_class_and_not_by_name() -> None:
    name: Any = "CreateTopicsRequest"
    with pytest.raises(TypeError, match="class of a request, got 'CreateTopicsRequest'"):
        EmbeddedBroker().requests.of(name)
