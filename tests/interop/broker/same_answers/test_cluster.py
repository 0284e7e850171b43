"""The first requests of clients: the cluster, its nodes, and all topics of old versions."""

from __future__ import annotations

import pytest
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers
from tests.interop.broker.same_answers.talk import Talk

from kafkawire.layout import Uuid
from kafkawire.protocol import DescribeClusterRequest, DescribeClusterResponse, MetadataRequest, MetadataResponse

pytestmark = pytest.mark.interop


@same_answers_from_plain_brokers
def test_the_cluster(talk: Talk) -> None:
    for version in range(3):
        for operations in (False, True):
            talk.ask(DescribeClusterRequest(operations), version, DescribeClusterResponse)
    for version in (1, 2):
        for endpoint_type in (0, 1, 2, 3, -1, 127):
            talk.ask(DescribeClusterRequest(False, endpoint_type), version, DescribeClusterResponse)
    talk.ask(DescribeClusterRequest(False, 1, True), 2, DescribeClusterResponse)


@same_answers_from_plain_brokers
def test_metadata_of_no_topic(talk: Talk) -> None:
    for version in range(1, 14):
        talk.ask(MetadataRequest((), True), version, MetadataResponse)


@same_answers_from_plain_brokers
def test_metadata_of_versions_that_always_create(talk: Talk) -> None:
    for version in range(4):
        name = f"always-{version}"
        request = MetadataRequest((MetadataRequest.MetadataRequestTopic(name=name),))
        talk.ask(request, version, MetadataResponse)
        talk.ask_until(request, version, MetadataResponse, lambda answer: answer.topics[0].error_code == 0)


@same_answers_from_plain_brokers
def test_metadata_of_topics_with_neither_name_nor_id(talk: Talk) -> None:
    asked = MetadataRequest.MetadataRequestTopic
    for version in range(10, 14):
        for topics in (
            (asked(name=None),),
            (asked(name=None), asked(name="no-such-topic")),
            (asked(name="no-such-topic"), asked(name=None)),
            (asked(name=None), asked(Uuid(b"no such topic id"), None)),
            (asked(name=""),),
        ):
            talk.tell(MetadataRequest(topics, allow_auto_topic_creation=False), version)
