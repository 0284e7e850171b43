"""ACLs: the answer for each item, and what is stored (A11 to A27, KIP-888)."""

from __future__ import annotations

import time

import pytest
from tests.embedded.handlers import handled, handlers_by_request

from kafkawire.admin import AclBinding, AdminClient, AdminSettings
from kafkawire.broker import EmbeddedBroker
from kafkawire.broker.authorization import Authorization
from kafkawire.broker.controller import Controller
from kafkawire.broker.handlers import acls
from kafkawire.broker.handlers.acls import AclHandlers
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.plugins.standard_authorizer import StandardAuthorizer
from kafkawire.broker.requests import Call, RefusedRequestError
from kafkawire.broker.sessions import Principal, Session
from kafkawire.model.acls.bindings import AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.protocol import (
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
)
from kafkawire.wire import Message

TOPIC, READ, ALLOW = ResourceType.TOPIC, AclOperation.READ, AclPermissionType.ALLOW
LITERAL, PREFIXED, MATCH = PatternType.LITERAL, PatternType.PREFIXED, PatternType.MATCH
ANY = 1
ROOT, NOBODY = Principal("root"), Principal("nobody")

Creation = CreateAclsRequest.AclCreation
Filter = DeleteAclsRequest.DeleteAclsFilter
Described = DescribeAclsRequest.DescribeAclsFilter
EVERYTHING = Filter(ANY, None, ANY, None, None, ANY, ANY)


class Broker:
    """The handlers of ACLs on a state of their own."""

    def __init__(self, *, has_authorizer: bool = True) -> None:
        self.controller = Controller(MetadataLog(), MetadataImage())
        authorizer = StandardAuthorizer(self.controller.image.acls, {str(ROOT)}, allow_everyone_if_no_acl=False)
        access = Authorization(authorizer if has_authorizer else None)
        self._handlers = handlers_by_request(AclHandlers, self.controller, access)

    def ask(self, request: Message, version: int, principal: Principal = ROOT) -> Message:
        assert request.API_KEY is not None
        call = Call(request.API_KEY, version, "test", Session(principal, "127.0.0.1", "PLAINTEXT"))
        answer = handled(self._handlers[type(request)], request, call)
        return type(answer).decode(answer.encode(version), version)

    def create(self, *creations: Creation) -> list[tuple[int, str | None]]:
        answer = self.ask(CreateAclsRequest(creations), 3)
        assert isinstance(answer, CreateAclsResponse)
        return [(one.error_code, one.error_message) for one in answer.results]

    def delete(self, *filters: Filter) -> list[tuple[int, str | None, int]]:
        answer = self.ask(DeleteAclsRequest(filters), 3)
        assert isinstance(answer, DeleteAclsResponse)
        return [(one.error_code, one.error_message, len(one.matching_acls)) for one in answer.filter_results]


def acl(name: str = "orders", operation: int = READ, *, kind: int = TOPIC, pattern: int = LITERAL) -> Creation:
    return Creation(kind, name, pattern, "User:alice", "*", operation, ALLOW)


def test_results_are_in_order_and_good_acls_are_stored() -> None:
    """A19."""
    broker = Broker()
    assert broker.create(acl(), acl(""), acl("x", kind=ResourceType.CLUSTER), acl("o", pattern=PREFIXED), acl()) == [
        (0, ""),
        (42, "Invalid empty resource name"),
        (42, "The only valid name for the CLUSTER resource is kafka-cluster"),
        (0, ""),
        (0, ""),
    ]
    assert broker.controller.end_offset == 2
    assert broker.create(acl()) == [(0, "")]
    assert broker.controller.end_offset == 2


def test_numbers_without_a_name_are_refused_for_each_item() -> None:
    """A19."""
    broker = Broker()
    wrong = (acl(kind=99), acl(pattern=99), acl(operation=99), Creation(TOPIC, "o", LITERAL, "User:a", "*", READ, 99))
    no_colon = "(no colon is present separating the principal type from the principal name)"
    assert broker.create(*wrong, Creation(TOPIC, "o", LITERAL, "alice", "*", READ, ALLOW)) == [
        (42, "Invalid resourceType UNKNOWN"),
        (42, "Invalid patternType UNKNOWN"),
        (42, "Invalid operation UNKNOWN"),
        (42, "Invalid permissionType UNKNOWN"),
        (42, f"Could not parse principal from `alice` {no_colon}"),
    ]
    assert broker.delete(Filter(ANY, None, ANY, None, None, 99, ANY)) == [(42, "Unknown entryFilter.", 0)]


def test_any_or_match_in_one_acl_fails_the_whole_creation() -> None:
    """A19."""
    broker = Broker()
    for bad in (acl(kind=ANY), acl(pattern=MATCH), acl(operation=ANY)):
        assert broker.create(acl(), bad, acl("")) == [(-1, None)] * 3
    assert broker.controller.end_offset == 0


@pytest.mark.parametrize("principal", [ROOT, NOBODY])
@pytest.mark.parametrize("has_authorizer", [True, False])
@pytest.mark.parametrize(
    "request_", [CreateAclsRequest((acl(), acl(operation=0))), DeleteAclsRequest((EVERYTHING, Filter(0, None, ANY)))]
)
def test_the_number_0_for_unknown_refuses_the_request_of_any_user(
    request_: Message, has_authorizer: bool, principal: Principal
) -> None:
    """A13."""
    with pytest.raises(RefusedRequestError, match="UNKNOWN"):
        Broker(has_authorizer=has_authorizer).ask(request_, 3, principal)


def test_words_of_refusals_without_rights_are_plain_and_every_item_is_refused() -> None:
    """A17."""
    broker = Broker()
    created = broker.ask(CreateAclsRequest((acl(), acl(""), acl(operation=ANY))), 3, NOBODY)
    assert isinstance(created, CreateAclsResponse)
    assert [one.error_code for one in created.results] == [31, 31, 31]
    deleted = broker.ask(DeleteAclsRequest((EVERYTHING, EVERYTHING)), 3, NOBODY)
    assert isinstance(deleted, DeleteAclsResponse)
    assert [one.error_code for one in deleted.filter_results] == [31, 31]
    described = broker.ask(DescribeAclsRequest(ANY, None, ANY, None, None, ANY, ANY), 3, NOBODY)
    assert isinstance(described, DescribeAclsResponse)
    assert (described.error_code, described.error_message) == (31, "Cluster authorization failed.")


def test_each_filter_reports_the_acls_that_it_matched() -> None:
    """A20."""
    broker = Broker()
    broker.create(acl(), acl(operation=AclOperation.WRITE), acl("other"))
    by_name = Filter(ANY, "orders", ANY, None, None, ANY, ANY)
    assert broker.delete(by_name, Filter(99, None, ANY, None, None, ANY, ANY), by_name) == [
        (0, None, 2),
        (42, "Unknown patternFilter.", 0),
        (0, None, 2),
    ]
    assert len(broker.controller.image.acls.ids) == 1
    assert broker.delete(by_name) == [(0, None, 0)]


@pytest.mark.usefixtures("one_engine")
def test_more_than_10_000_acls_are_neither_created_nor_deleted_in_one_request() -> None:
    """A27."""
    broker = Broker()
    many = [acl(f"orders-{number}") for number in range(10_001)]
    too_many = (44, "Unable to perform excessively large batch operation.")
    assert broker.create(*many, acl(""), acl(operation=99))[-3:] == [
        too_many,
        (42, "Invalid empty resource name"),
        too_many,
    ]
    assert set(broker.create(*many[:-1])) == {(0, "")}
    assert broker.create(*many)[-1] == (0, "")
    reason = "Cannot remove more than 10000 acls in a single delete operation."
    small = Filter(ANY, "orders-7", ANY, None, None, ANY, ANY)
    assert broker.delete(small, EVERYTHING) == [(42, reason, 0)] * 2
    assert broker.delete(small) == [(0, None, 1)]
    assert broker.delete(EVERYTHING, Filter(ANY, "orders-8", ANY, None, None, ANY, ANY)) == [(42, reason, 0)] * 2
    assert broker.delete(EVERYTHING) == [(0, None, 10_000)]


class TestKip888:
    FILTERS = (
        Described(ANY, "orders", MATCH, None, None, ANY, ANY),
        Described(ANY, "nothing", ANY, None, None, ANY, ANY),
        Described(ANY, None, ANY, "User:alice", None, AclOperation.WRITE, ANY),
    )

    def test_each_filter_has_its_result(self) -> None:
        broker = Broker()
        broker.create(acl(), acl("o", pattern=PREFIXED), acl("other", AclOperation.WRITE))
        answer = broker.ask(DescribeAclsRequest(filters=self.FILTERS), 4)
        assert isinstance(answer, DescribeAclsResponse)
        assert [
            (one.error_code, one.error_message, sorted(resource.resource_name for resource in one.resources))
            for one in answer.filter_results
        ] == [(0, None, ["o", "orders"]), (0, None, []), (0, None, ["other"])]

    def test_errors_stand_with_each_filter(self) -> None:
        request = DescribeAclsRequest(filters=self.FILTERS)
        for broker, principal, code in ((Broker(), NOBODY, 31), (Broker(has_authorizer=False), ROOT, 54)):
            answer = broker.ask(request, 4, principal)
            assert isinstance(answer, DescribeAclsResponse)
            assert [one.error_code for one in answer.filter_results] == [code] * 3
            assert all(one.error_message for one in answer.filter_results)

    def test_unknown_closes_the_connection_as_in_older_versions(self) -> None:
        with pytest.raises(RefusedRequestError):
            Broker().ask(DescribeAclsRequest(filters=(*self.FILTERS, Described())), 4)


def test_too_many_described_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acls, "MAXIMUM_ENTRIES", 5)
    broker = Broker()
    broker.create(*(acl(f"orders-{number}") for number in range(3)))
    everything = Described(ANY, None, ANY, None, None, ANY, ANY)
    answer = broker.ask(DescribeAclsRequest(filters=(everything,) * 4), 4)
    assert isinstance(answer, DescribeAclsResponse)
    assert [(one.error_code, len(one.resources)) for one in answer.filter_results] == [(0, 3), (0, 3), (44, 0), (44, 0)]
    assert [code for code, _, _ in broker.delete(*(EVERYTHING,) * 2)] == [42, 42]
    assert len(broker.controller.image.acls.ids) == 3


@pytest.mark.extended
@pytest.mark.usefixtures("one_engine")
def test_a_decision_and_a_deletion_take_as_long_with_many_acls_as_with_few() -> None:
    """A look at each ACL would take twenty times as long with twenty times as many."""
    few, many = _seconds_with_acls(2_000), _seconds_with_acls(40_000)
    assert all(longer < 5 * shorter for shorter, longer in zip(few, many, strict=True)), (few, many)


def _seconds_with_acls(count: int) -> tuple[float, float]:
    """Seconds of the processor that decisions take, and deletions by name."""
    broker = Broker()
    for start in range(0, count, 2_000):
        broker.create(*(acl(f"team-{number % 997}.{number}") for number in range(start, start + 2_000)))
    session = Session(Principal("alice"), "127.0.0.1", "PLAINTEXT")
    authorizer = StandardAuthorizer(broker.controller.image.acls, (), allow_everyone_if_no_acl=False)
    began = time.process_time()
    decisions = [authorizer.authorize(session, READ, TOPIC, f"team-1.{number}") for number in range(2_000)]
    decided = time.process_time()
    assert sum(decisions) == 3  # 1, 998, 1995
    for number in range(500):
        assert broker.delete(Filter(ANY, f"team-{number}.{number}", MATCH, None, None, ANY, ANY)) == [(0, None, 1)]
    return decided - began, time.process_time() - decided


def test_versions_without_acls_of_users_take_them_all_the_same() -> None:
    """A15: 4.3.1 does not ask for version 3."""
    broker = Broker()
    answer = broker.ask(CreateAclsRequest((acl("User:bob", kind=ResourceType.USER),)), 1)
    assert isinstance(answer, CreateAclsResponse)
    assert answer.results[0].error_code == 0


async def test_the_admin_client_describes_by_many_filters_in_one_request() -> None:
    """KIP-888 from end to end, where both sides want proposals."""
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "unstable.api.versions.enable": "true",
    }
    created = [AclBinding(TOPIC, f"orders-{number}", "User:alice", READ) for number in range(20)]
    filters = [acl.to_filter() for acl in created]
    async with EmbeddedBroker(properties) as broker:
        only_the_last = broker.faults.refuse(DescribeAclsRequest, error=1, versions=range(4))
        async with AdminClient(broker.bootstrap_servers, settings=AdminSettings(proposals=True)) as admin:
            await admin.create_acls(created)
            described = await admin.describe_acls(filters)
        assert described.values() == {wanted: (acl,) for wanted, acl in zip(filters, created, strict=True)}
        assert only_the_last.hits == 0
