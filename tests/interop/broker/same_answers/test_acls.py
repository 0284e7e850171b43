"""ACLs: which are refused, which filters mean what, and what they allow (A3 to A27)."""

from __future__ import annotations

import itertools

import pytest
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers, same_answers_from_secure_brokers
from tests.interop.broker.same_answers.talk import CLOSED, Talk

from kafkawire.model.acls.bindings import AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.protocol import (
    CreateAclsRequest,
    CreateAclsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

pytestmark = pytest.mark.interop

Creation = CreateAclsRequest.AclCreation
Filter = DeleteAclsRequest.DeleteAclsFilter

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
LITERAL, PREFIXED, MATCH = PatternType.LITERAL, PatternType.PREFIXED, PatternType.MATCH
ALLOW, DENY = AclPermissionType.ALLOW, AclPermissionType.DENY
READ, WRITE, ALTER, DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.ALTER, AclOperation.DESCRIBE

ALICE = f"User:{USER}"
UNKNOWN, ANY, UNMAPPED = 0, 1, 99
EVERYTHING = DescribeAclsRequest(ANY, None, ANY, None, None, ANY, ANY)
LARGEST_BATCH = 10_000


def acl(
    name: str,
    operation: int = READ,
    permission: int = ALLOW,
    *,
    kind: int = TOPIC,
    pattern: int = LITERAL,
    principal: str = "User:zed",
    host: str = "*",
) -> Creation:
    return Creation(kind, name, pattern, principal, host, operation, permission)


def create(talk: Talk, *acls: Creation, version: int = 3) -> CreateAclsResponse:
    return talk.ask(CreateAclsRequest(acls), version, CreateAclsResponse)


def delete(talk: Talk, *filters: Filter, version: int = 3) -> DeleteAclsResponse:
    return talk.ask(DeleteAclsRequest(filters), version, DeleteAclsResponse)


def clear(talk: Talk) -> None:
    """Remove what the scenario has made."""
    everything = DeleteAclsRequest((Filter(ANY, None, ANY, None, None, ANY, ANY),))
    talk.ask_until(everything, 3, DeleteAclsResponse, lambda answer: not answer.filter_results[0].matching_acls)
    there(talk, 0)


def there(talk: Talk, count: int) -> None:
    """Wait until the given number of ACLs is there."""
    talk.ask_until(
        EVERYTHING, 3, DescribeAclsResponse, lambda answer: sum(len(one.acls) for one in answer.resources) == count
    )


@same_answers_from_plain_brokers
def test_without_an_authorizer_acl_requests_are_refused(talk: Talk) -> None:
    """A16."""
    for version in (1, 2, 3):
        create(talk, acl("t"), acl(""), acl("t", ANY), acl("t", UNMAPPED), version=version)
        talk.ask(EVERYTHING, version, DescribeAclsResponse)
        delete(talk, Filter(ANY, None, ANY, None, None, ANY, ANY), Filter(UNMAPPED, None, ANY, None, None, ANY, ANY))
    talk.tell(CreateAclsRequest((acl("t", UNKNOWN),)), 3)
    talk.tell(DescribeAclsRequest(UNKNOWN, None, ANY, None, None, ANY, ANY), 3)


@same_answers_from_secure_brokers
def test_acls_that_cannot_be_created_fail_alone_and_strange_ones_are_stored(talk: Talk) -> None:
    """A18, A19, A22."""
    wrong = (
        acl("t", kind=UNMAPPED),
        acl("t", kind=-5),
        acl("t", pattern=UNMAPPED),
        acl("t", UNMAPPED),
        acl("t", READ, UNMAPPED),
        acl("t", UNMAPPED, UNMAPPED, kind=UNMAPPED),
        acl(""),
        acl("", kind=UNMAPPED),
        *(acl(name, kind=CLUSTER) for name in ("x", "", "*", "kafka-cluster2")),
        acl("kafka", kind=CLUSTER, pattern=PREFIXED),
        acl("t", principal="zed"),
        acl("t", principal=""),
        acl("t", UNMAPPED, principal="zed"),
    )
    strange = (
        acl("kafka-cluster", kind=CLUSTER, pattern=PREFIXED),
        acl("not a legal topic"),
        acl("x" * 300),
        acl("*", pattern=PREFIXED),
        *(acl("t", principal=principal) for principal in (":zed", "User:", "Group:a:b", "User:*")),
        *(acl("t", host=host) for host in ("", "example.com", "10.0.0.0/8", "::1")),
        acl("t", AclOperation.TWO_PHASE_COMMIT),
        acl("t", AclOperation.CREATE_TOKENS, kind=GROUP),
    )
    create(talk, *wrong, *strange, acl("good"))
    there(talk, len(strange) + 1)


@same_answers_from_secure_brokers
def test_any_or_match_in_one_acl_fails_the_whole_creation(talk: Talk) -> None:
    """A19."""
    for bad in (
        acl("t", kind=ANY),
        acl("t", pattern=ANY),
        acl("t", pattern=MATCH),
        acl("t", ANY),
        acl("t", READ, ANY),
    ):
        create(talk, acl("good"), bad, acl(""), acl("t", UNMAPPED))
    there(talk, 0)


@same_answers_from_secure_brokers
def test_the_number_0_for_unknown_closes_the_connection(talk: Talk) -> None:
    """A11, A13."""
    for bad in (acl("t", kind=0), acl("t", pattern=0), acl("t", 0), acl("t", READ, 0)):
        talk.tell(CreateAclsRequest((acl("good"), bad)), 3)
    for parts in ((0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)):
        kind, pattern, operation, permission = parts
        talk.tell(DescribeAclsRequest(kind, None, pattern, None, None, operation, permission), 3)
        talk.tell(DeleteAclsRequest((Filter(kind, None, pattern, None, None, operation, permission),)), 3)
    there(talk, 0)


@same_answers_from_secure_brokers
def test_unmapped_numbers_in_filters(talk: Talk) -> None:
    create(talk, acl("t"))
    there(talk, 1)
    for parts in ((99, 1, 1, 1), (1, 99, 1, 1), (1, 1, 99, 1), (1, 1, 1, 99), (-3, 1, 1, 1)):
        kind, pattern, operation, permission = parts
        talk.ask(DescribeAclsRequest(kind, None, pattern, None, None, operation, permission), 3, DescribeAclsResponse)
        delete(
            talk,
            Filter(kind, None, pattern, None, None, operation, permission),
            Filter(ANY, "nothing", ANY, None, None, ANY, ANY),
        )


@same_answers_from_secure_brokers
def test_kip_140_an_unmapped_number_in_a_filter(talk: Talk) -> None:
    """The proposal: an error of a description, and UNSUPPORTED_VERSION for the filter of a deletion."""
    create(talk, acl("t"))
    there(talk, 1)
    for parts in ((99, 1, 1, 1), (1, 99, 1, 1), (1, 1, 99, 1), (1, 1, 1, 99)):
        kind, pattern, operation, permission = parts
        unmapped = DescribeAclsRequest(kind, None, pattern, None, None, operation, permission)
        described = talk.ask(unmapped, 3, DescribeAclsResponse)
        assert (described.error_code, described.resources) == (0, ())
        deleted = delete(
            talk,
            Filter(kind, None, pattern, None, None, operation, permission),
            Filter(TOPIC, "t", LITERAL, None, None, READ, ALLOW),
        )
        outcomes = [(result.error_code, len(result.matching_acls)) for result in deleted.filter_results]
        assert outcomes == [(ErrorCode.INVALID_REQUEST, 0), (ErrorCode.NONE, 1)]
        create(talk, acl("t"))
        there(talk, 1)


@same_answers_from_secure_brokers
def test_kip_140_the_number_0_in_a_filter_gets_no_answer(talk: Talk) -> None:
    """The proposal has an error for it; no filter of the request is applied."""
    create(talk, acl("t"))
    there(talk, 1)
    for parts in ((0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)):
        kind, pattern, operation, permission = parts
        unknown = Filter(kind, None, pattern, None, None, operation, permission)
        for request in (
            DescribeAclsRequest(kind, None, pattern, None, None, operation, permission),
            DeleteAclsRequest((Filter(TOPIC, "t", LITERAL, None, None, READ, ALLOW), unknown)),
        ):
            talk.tell(request, 3)
            assert talk.exchanges[-1].answer == CLOSED
    there(talk, 1)


@same_answers_from_secure_brokers
def test_filters_match_by_type_name_pattern_principal_host_operation_and_permission(talk: Talk) -> None:
    """A3 to A10."""
    acls = (
        acl("foo"),
        acl("foo", pattern=PREFIXED),
        acl("f", pattern=PREFIXED),
        acl("*"),
        acl("foobar"),
        acl("Foo"),
        acl("foo", kind=GROUP),
        acl("foo", WRITE, DENY, principal="User:*", host="10.0.0.1"),
        acl("foo", AclOperation.ALL),
    )
    create(talk, *acls)
    there(talk, len(acls))
    names = ("foo", "foobar", "*", "", "F", None)
    patterns = (LITERAL, PREFIXED, ANY, MATCH)
    for name, pattern, kind in itertools.product(names, patterns, (ANY, TOPIC, GROUP)):
        talk.ask(DescribeAclsRequest(kind, name, pattern, None, None, ANY, ANY), 3, DescribeAclsResponse)
    for principal, host in itertools.product(("User:zed", "user:zed", "User:*", "zed", "", None), ("*", "", None)):
        talk.ask(DescribeAclsRequest(ANY, None, ANY, principal, host, ANY, ANY), 2, DescribeAclsResponse)
    for operation, permission in itertools.product((ANY, READ, AclOperation.ALL, DESCRIBE), (ANY, ALLOW, DENY)):
        talk.ask(DescribeAclsRequest(ANY, None, ANY, None, None, operation, permission), 1, DescribeAclsResponse)


@same_answers_from_secure_brokers
def test_existing_acls_are_created_without_an_error_and_equal_filters_report_the_same(talk: Talk) -> None:
    """A19, A20."""
    create(talk, acl("t"), acl("t"), acl("t", WRITE), version=2)
    create(talk, acl("t"), version=1)
    there(talk, 2)
    by_name, by_operation = Filter(ANY, "t", ANY, None, None, ANY, ANY), Filter(ANY, None, ANY, None, None, READ, ANY)
    delete(talk, by_name, by_name, by_operation, Filter(GROUP, "t", LITERAL, None, None, ANY, ANY))
    there(talk, 0)
    create(talk)
    delete(talk)


@pytest.mark.nightly
@same_answers_from_secure_brokers
def test_more_than_10_000_acls_are_neither_created_nor_deleted_in_one_request(talk: Talk) -> None:
    """A27."""
    many = [acl(f"many-{number}") for number in range(LARGEST_BATCH + 1)]
    create(talk, *many)
    create(talk, *many, acl(""), acl("t", UNMAPPED), acl("t", principal="zed"))
    create(talk, *many[:-1])
    create(talk, *many)
    everything = Filter(ANY, None, ANY, None, None, ANY, ANY)
    talk.ask_until(EVERYTHING, 3, DescribeAclsResponse, lambda answer: len(answer.resources) == LARGEST_BATCH + 1)
    delete(talk, Filter(ANY, "many-7", ANY, None, None, ANY, ANY), everything)
    delete(talk, Filter(ANY, "many-7", ANY, None, None, ANY, ANY))
    delete(talk, everything, Filter(ANY, "many-8", ANY, None, None, ANY, ANY))
    delete(talk, everything)
    there(talk, 0)


@same_answers_from_secure_brokers
def test_authorized_operations_follow_from_the_acls_of_a_user(talk: Talk) -> None:
    """Read from the bits of answers; a user without DESCRIBE does not see the name of a topic (A25, A26)."""
    topic = CreateTopicsRequest.CreatableTopic("acl-topic", 1, 1)
    talk.ask(CreateTopicsRequest((topic,)), 7, CreateTopicsResponse)
    coordinator = FindCoordinatorRequest(coordinator_keys=(topic.name,))
    talk.ask_until(coordinator, 4, FindCoordinatorResponse, lambda answer: answer.coordinators[0].error_code == 0)
    operations = (READ, WRITE, AclOperation.CREATE, AclOperation.DELETE, ALTER, DESCRIBE)
    more = (AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS, AclOperation.ALL, AclOperation.CLUSTER_ACTION)
    name = "acl-topic"
    trials = (
        (),
        *((acl(name, one, principal=ALICE),) for one in (*operations, *more)),
        *((acl(name, one, DENY, principal=ALICE), acl(name, AclOperation.ALL, principal=ALICE)) for one in operations),
        *((acl(name, one, DENY, principal=ALICE), acl(name, AclOperation.ALL, principal=ALICE)) for one in more),
        (acl(name, AclOperation.DESCRIBE_CONFIGS, DENY, principal=ALICE), acl(name, ALTER, principal=ALICE)),
        (acl("*", READ, principal=ALICE),),
        (acl("acl-", READ, principal=ALICE, pattern=PREFIXED),),
        (acl("acl-topic", READ, principal=ALICE, pattern=PREFIXED),),
        (acl("acl-topics", READ, principal=ALICE, pattern=PREFIXED),),
        (acl("*", READ, principal=ALICE, pattern=PREFIXED),),
        (acl("*", READ, DENY, principal=ALICE), acl(name, AclOperation.ALL, principal=ALICE)),
        (acl("a", WRITE, DENY, principal=ALICE, pattern=PREFIXED), acl(name, AclOperation.ALL, principal=ALICE)),
        (acl(name, READ, principal="User:*"),),
        (acl(name, READ, DENY, principal="User:*"), acl(name, AclOperation.ALL, principal=ALICE)),
        (acl(name, READ, principal="Group:alice"), acl(name, READ, principal="User:alic")),
        (acl(name, READ, principal=ALICE, host="127.0.0.1"),),
        (acl(name, READ, principal=ALICE, host="127.0.0.2"),),
        (acl(name, READ, DENY, principal=ALICE, host="127.0.0.2"), acl(name, READ, principal=ALICE)),
        (acl(name, READ, principal=ALICE, kind=GROUP), acl(name, AclOperation.DELETE, principal=ALICE, kind=GROUP)),
        (acl("kafka-cluster", AclOperation.CREATE, principal=ALICE, kind=CLUSTER),),
        (acl("kafka-cluster", DESCRIBE, principal=ALICE, kind=CLUSTER),),
        (acl("kafka-cluster", ALTER, principal=ALICE, kind=CLUSTER),),
        (acl("kafka-cluster", AclOperation.ALTER_CONFIGS, principal=ALICE, kind=CLUSTER),),
        (acl("kafka-cluster", AclOperation.ALL, principal=ALICE, kind=CLUSTER, pattern=PREFIXED),),
    )
    for acls in trials:
        if acls:
            create(talk, *acls)
        there(talk, len(acls))
        with talk.logged_in(USER, PASSWORDS[USER]):
            asked = (MetadataRequest.MetadataRequestTopic(name=name),)
            talk.ask(MetadataRequest(asked, False, True, True), 10, MetadataResponse)
            groups = DescribeGroupsRequest((name,), True)
            talk.ask_until(groups, 5, DescribeGroupsResponse, lambda answer: answer.groups[0].error_code in {0, 30})
            talk.ask(DescribeClusterRequest(True), 1, DescribeClusterResponse)
        clear(talk)


@same_answers_from_secure_brokers
def test_acl_requests_need_rights_on_the_cluster(talk: Talk) -> None:
    """The texts of refusals are about objects inside of Kafka, so that only codes are compared (A17)."""
    with talk.logged_in(USER, PASSWORDS[USER]):
        for request, version in (
            (EVERYTHING, 3),
            (CreateAclsRequest((acl("t"), acl("t", ANY), acl(""))), 3),
            (DeleteAclsRequest((Filter(ANY, None, ANY, None, None, ANY, ANY),) * 2), 3),
        ):
            talk.ask_for_codes(request, version)
    create(talk, acl("kafka-cluster", ALTER, principal=ALICE, kind=CLUSTER))
    there(talk, 1)
    with talk.logged_in(USER, PASSWORDS[USER]):
        create(talk, acl("t"))
        there(talk, 2)
        delete(talk, Filter(ANY, "t", ANY, None, None, ANY, ANY))
