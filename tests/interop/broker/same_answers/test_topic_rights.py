"""Who may create, change and see topics and configurations."""

from __future__ import annotations

import pytest
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_secure_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_config_alterations import SET, Change, Changed, Replaced, change, replace
from tests.interop.broker.same_answers.test_config_descriptions import (
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
    Resource,
    describe,
)
from tests.interop.broker.same_answers.test_topics import Config, Topic, create, settled

from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    CreateAclsRequest,
    CreateAclsResponse,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
    MetadataRequest,
    MetadataResponse,
)

pytestmark = pytest.mark.interop

_ANY, _LITERAL, _PREFIXED, _ALLOW = 1, 3, 4, 3
_CLUSTER = (ResourceType.CLUSTER, "kafka-cluster", _LITERAL)


def allow(talk: Talk, *rights: tuple[tuple[ResourceType, str, int], AclOperation]) -> None:
    """Give the user rights, and wait until the broker has them."""
    principal = f"User:{USER}"
    creations = tuple(
        CreateAclsRequest.AclCreation(kind, name, pattern, principal, "*", operation, _ALLOW)
        for (kind, name, pattern), operation in rights
    )
    talk.ask(CreateAclsRequest(creations), 3, CreateAclsResponse)
    for creation in creations:
        wanted = DescribeAclsRequest(
            creation.resource_type, creation.resource_name, creation.resource_pattern_type, principal, None,
            creation.operation, _ANY,
        )  # fmt: skip
        talk.ask_until(wanted, 3, DescribeAclsResponse, lambda answer: bool(answer.resources))


def prefixed(name: str) -> tuple[ResourceType, str, int]:
    return (ResourceType.TOPIC, name, _PREFIXED)


@same_answers_from_secure_brokers
def test_topics_that_may_be_created(talk: Talk) -> None:
    allow(talk, (prefixed("rt-create"), AclOperation.CREATE), (prefixed("rt-create-d"), AclOperation.DESCRIBE_CONFIGS))
    names = ("rt-create-a", "rt-create-d", "rt-none", "a b", "__cluster_metadata", "rt-none")
    with talk.logged_in(USER, PASSWORDS[USER]):
        for version in range(2, 8):
            create(talk, *(Topic(f"{name}", 1, 1) for name in names), version=version, validate_only=True)
        create(talk, Topic("rt-none", 0, 0, (), (Config("no.such", "x"),)), Topic("rt-create-a", 10_001, 1))


@same_answers_from_secure_brokers
def test_topics_that_may_be_seen(talk: Talk) -> None:
    allow(talk, (prefixed("rt-see"), AclOperation.DESCRIBE))
    created = create(talk, Topic("rt-see-a", 1, 1), Topic("rt-hidden", 1, 1))
    ids = {topic.name: topic.topic_id for topic in created.topics}
    settled(talk, *ids)
    asked = MetadataRequest.MetadataRequestTopic
    names = ("rt-see-a", "rt-hidden", "rt-see-none", "rt-hidden-none", "a b")
    by_name, by_id = tuple(asked(name=name) for name in names), tuple(asked(ids[name], None) for name in sorted(ids))
    with talk.logged_in(USER, PASSWORDS[USER]):
        for version in (4, 8, 9, 12, 13):
            talk.ask(MetadataRequest(by_name, False, False, version >= 8), version, MetadataResponse)
        talk.ask(MetadataRequest(by_name, True), 12, MetadataResponse)
        talk.ask(MetadataRequest(by_id, False), 12, MetadataResponse)
        for version in range(8, 11):
            talk.ask(MetadataRequest((), False, True, True), version, MetadataResponse)
        pages = tuple(map(DescribeTopicPartitionsRequest.TopicRequest, names))
        talk.ask(DescribeTopicPartitionsRequest(pages), 0, DescribeTopicPartitionsResponse)
        for cursor in (("rt-hidden", 0), ("rt-see-a", 0)):
            at = DescribeTopicPartitionsRequest.Cursor(*cursor)
            talk.ask(DescribeTopicPartitionsRequest(pages, 2000, at), 0, DescribeTopicPartitionsResponse)
        for operations in (False, True):
            talk.ask(DescribeClusterRequest(operations), 1, DescribeClusterResponse)


@same_answers_from_secure_brokers
def test_topics_that_may_be_deleted_and_grow(talk: Talk) -> None:
    allow(
        talk,
        (prefixed("rt-gone"), AclOperation.DELETE),
        (prefixed("rt-known"), AclOperation.DESCRIBE),
        (prefixed("rt-grow"), AclOperation.ALTER),
    )
    names = ("rt-gone-a", "rt-gone-b", "rt-known-a", "rt-secret-a", "rt-grow-a")
    created = create(talk, *(Topic(name, 1, 1) for name in names))
    ids = {topic.name: topic.topic_id for topic in created.topics}
    settled(talk, *names)
    state = DeleteTopicsRequest.DeleteTopicState
    by_id = tuple(state(None, ids[name]) for name in names if name != "rt-gone-a")
    by_name = tuple(state(name) for name in ("rt-gone-a", "rt-gone-none", "rt-known-a", "rt-known-none", "rt-secret-a"))
    more = CreatePartitionsRequest.CreatePartitionsTopic
    with talk.logged_in(USER, PASSWORDS[USER]):
        talk.ask(DeleteTopicsRequest(by_id, (), 30_000), 6, DeleteTopicsResponse)
        talk.ask(DeleteTopicsRequest(by_name, (), 30_000), 6, DeleteTopicsResponse)
        grown = tuple(more(name, 2, None) for name in ("rt-grow-a", "rt-grow-none", "rt-known-a", "rt-secret-a"))
        talk.ask(CreatePartitionsRequest(grown, 30_000), 3, CreatePartitionsResponse)


@same_answers_from_secure_brokers
def test_configurations(talk: Talk) -> None:
    create(talk, Topic("rt-configs-a", 1, 1), Topic("rt-shut", 1, 1))
    settled(talk, "rt-configs-a", "rt-shut")
    group = (ResourceType.GROUP, "rt-configs", _PREFIXED)
    described = tuple(
        Resource(kind, name, ("retention.ms", "consumer.session.timeout.ms", "interval.ms", "node.id"))
        for kind, name in (
            (TOPIC, "rt-configs-a"), (TOPIC, "rt-configs-none"), (TOPIC, "rt-shut"), (TOPIC, "a b"), (BROKER, "1"),
            (BROKER, ""), (BROKER, "9"), (GROUP, "rt-configs-g"), (GROUP, "rt-shut-g"), (CLIENT_METRICS, "rt-cm"),
        )
    )  # fmt: skip
    changes = (
        *(Changed(TOPIC, name, (Change("retention.ms", SET, "5"),)) for name in ("rt-configs-a", "rt-shut", "rt-no")),
        Changed(TOPIC, "a b", ()),
        Changed(BROKER, "1", (Change("log.flush.interval.messages", SET, "5"),)),
        Changed(BROKER, "", (Change("num.partitions", SET, "5"),)),
        Changed(BROKER_LOGGER, "1", (Change("root", SET, "WARN"),)),
        *(
            Changed(GROUP, name, (Change("share.isolation.level", SET, "read_committed"),))
            for name in ("rt-configs-g", "rt-shut-g")
        ),
        Changed(CLIENT_METRICS, "rt-cm", (Change("interval.ms", SET, "100"),)),
    )
    replacements = tuple(Replaced(one.resource_type, one.resource_name, ()) for one in changes)
    for right in (None, AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS):
        if right is not None:
            allow(talk, (prefixed("rt-configs"), right), (group, right))
        with talk.logged_in(USER, PASSWORDS[USER]):
            describe(talk, *described)
            change(talk, *changes, validate_only=True)
            replace(talk, *replacements, validate_only=True)
            talk.ask(ListConfigResourcesRequest((BROKER,)), 1, ListConfigResourcesResponse)
    allow(talk, (_CLUSTER, AclOperation.ALTER_CONFIGS))
    with talk.logged_in(USER, PASSWORDS[USER]):
        describe(talk, *described)
        change(talk, *changes, validate_only=True)
        talk.ask(ListConfigResourcesRequest((BROKER,)), 1, ListConfigResourcesResponse)
