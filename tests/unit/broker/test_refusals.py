from __future__ import annotations

from kafkawire.broker.refusals import refusal
from kafkawire.protocol import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    FetchRequest,
    FetchResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)

NOT_CONTROLLER = 41


def test_items_are_named_as_in_the_request() -> None:
    topics = (DeleteTopicsRequest.DeleteTopicState("a"), DeleteTopicsRequest.DeleteTopicState("b"))
    refused = refusal(DeleteTopicsRequest(topics=topics), 6, NOT_CONTROLLER, message="elsewhere")
    assert isinstance(refused, DeleteTopicsResponse)
    assert [(item.name, item.error_code, item.error_message) for item in refused.responses] == [
        ("a", NOT_CONTROLLER, "elsewhere"),
        ("b", NOT_CONTROLLER, "elsewhere"),
    ]


def test_names_that_are_no_structs_name_items_too() -> None:
    refused = refusal(DeleteTopicsRequest(topic_names=("a", "b")), 5, NOT_CONTROLLER)
    assert isinstance(refused, DeleteTopicsResponse)
    assert [item.name for item in refused.responses] == ["a", "b"]


def test_a_refusal_has_an_error_for_each_item_without_a_name() -> None:
    creation = CreateAclsRequest.AclCreation()
    refused = refusal(CreateAclsRequest((creation, creation)), 3, NOT_CONTROLLER)
    assert isinstance(refused, CreateAclsResponse)
    assert [result.error_code for result in refused.results] == [NOT_CONTROLLER] * 2


def test_a_user_in_two_arrays_is_reported_once() -> None:
    request = AlterUserScramCredentialsRequest(
        (AlterUserScramCredentialsRequest.ScramCredentialDeletion("u", 1),),
        (AlterUserScramCredentialsRequest.ScramCredentialUpsertion("u", 2, 4096, b"s", b"p"),),
    )
    refused = refusal(request, 0, NOT_CONTROLLER)
    assert isinstance(refused, AlterUserScramCredentialsResponse)
    assert [result.user for result in refused.results] == ["u"]


def test_a_fetch_is_refused_partition_by_partition_until_there_are_topic_ids() -> None:
    asked = FetchRequest(topics=(FetchRequest.FetchTopic("t", partitions=(FetchRequest.FetchPartition(4),)),))
    before, since = refusal(asked, 12, NOT_CONTROLLER), refusal(asked, 13, NOT_CONTROLLER)
    assert isinstance(before, FetchResponse)
    assert isinstance(since, FetchResponse)
    partition = before.responses[0].partitions[0]
    assert (partition.partition_index, partition.error_code, partition.high_watermark) == (4, NOT_CONTROLLER, -1)
    assert (since.error_code, since.responses) == (NOT_CONTROLLER, ())


def test_the_refusal_of_a_group_has_no_topics() -> None:
    topic = OffsetFetchRequest.OffsetFetchRequestTopics("t", partition_indexes=(0,))
    request = OffsetFetchRequest(groups=(OffsetFetchRequest.OffsetFetchRequestGroup("g", topics=(topic,)),))
    refused = refusal(request, 9, NOT_CONTROLLER)
    assert isinstance(refused, OffsetFetchResponse)
    assert [(group.group_id, group.error_code, group.topics) for group in refused.groups] == [("g", NOT_CONTROLLER, ())]
