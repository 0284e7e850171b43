"""The version of a request to a broker (admin-versions), and the other fields of its answer to ApiVersions."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import msgspec
import pytest
from tests.stand_ins.scripted_peer import ready

from kafkawire.admin import operations
from kafkawire.admin.connection.events import Answered
from kafkawire.admin.connection.spoken_versions import spoken_versions
from kafkawire.admin.connection.versions import BrokerVersions
from kafkawire.admin.engine.operation import Operation
from kafkawire.admin.requirements import REQUIREMENTS
from kafkawire.protocol import (
    ApiVersionsResponse,
    CreateTopicsRequest,
    DescribeAclsRequest,
    FetchRequest,
    ListQuotasRequest,
    MetadataRequest,
    MetadataResponse,
    RequestHeader,
)
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.protocol.errors import UnsupportedVersionError
from kafkawire.wire import EncodeError

METADATA = APIS[ApiKey.METADATA].versions


def offering(**apis: range) -> BrokerVersions:
    return BrokerVersions({ApiKey[name].value: versions for name, versions in apis.items()})


@pytest.mark.parametrize(
    ("offered", "minimum", "chosen"),
    [
        (METADATA, None, METADATA[-1]),
        (range(4, 9), None, 8),
        (range(4, 9), 8, 8),
        (range(1), None, 0),
        (range(5, 1000), None, METADATA[-1]),
    ],
)
def test_the_highest_common_version_is_chosen(offered: range, minimum: int | None, chosen: int) -> None:
    assert offering(METADATA=offered).choose(MetadataRequest, minimum=minimum) == chosen
    assert offering(METADATA=offered).choose(MetadataRequest(), minimum=minimum) == chosen


def test_no_common_version_names_the_api_and_both_sides() -> None:
    with pytest.raises(UnsupportedVersionError, match=r"Metadata: the broker offers versions 900 to 901, this client"):
        offering(METADATA=range(900, 902)).choose(MetadataRequest)


def test_an_api_that_is_not_listed_is_no_version() -> None:
    with pytest.raises(UnsupportedVersionError, match=r"Metadata: the broker offers no version, this .* 0 to \d+$"):
        offering().choose(MetadataRequest)


def test_a_minimum_above_the_offered_versions_is_named() -> None:
    with pytest.raises(UnsupportedVersionError, match=r"offers version 3, .* at least 7 is needed"):
        offering(METADATA=range(3, 4)).choose(MetadataRequest, minimum=7)


def test_a_version_that_is_not_final_needs_the_switch_and_the_offer() -> None:
    api = APIS[ApiKey.DESCRIBE_ACLS]
    final, proposed = api.stable_versions[-1], api.versions[-1]
    assert proposed > final
    assert offering(DESCRIBE_ACLS=api.versions).choose(DescribeAclsRequest) == final
    assert offering(DESCRIBE_ACLS=api.versions).choose(DescribeAclsRequest, unstable=True) == proposed
    assert offering(DESCRIBE_ACLS=api.stable_versions).choose(DescribeAclsRequest, unstable=True) == final


def test_an_api_of_a_proposal_needs_the_switch() -> None:
    offered = BrokerVersions({ListQuotasRequest.API_KEY or 0: ListQuotasRequest.VERSIONS})
    assert offered.choose(ListQuotasRequest, unstable=True) == 1
    with pytest.raises(UnsupportedVersionError, match="this client supports no version"):
        offered.choose(ListQuotasRequest)


def test_messages_other_than_requests_are_refused() -> None:
    with pytest.raises(ValueError, match="neither"):
        offering().choose(RequestHeader)


def test_features_and_unknown_fields_are_kept() -> None:
    answer = ApiVersionsResponse(
        api_keys=(ApiVersionsResponse.ApiVersion(3, 0, 12), ApiVersionsResponse.ApiVersion(999, 1, 2)),
        supported_features=(ApiVersionsResponse.SupportedFeatureKey("kraft.version", 0, 1),),
        finalized_features_epoch=42,
        finalized_features=(ApiVersionsResponse.FinalizedFeatureKey("metadata.version", 27, 27),),
        zk_migration_ready=True,
        unknown_tagged_fields=((77, b"new"),),
    )
    assert BrokerVersions.of(ApiVersionsResponse.decode(answer.encode(4), 4)) == BrokerVersions(
        ranges={3: range(13), 999: range(1, 3)},
        supported_features={"kraft.version": range(2)},
        finalized_features={"metadata.version": range(27, 28)},
        finalized_features_epoch=42,
        zk_migration_ready=True,
        unknown_tagged_fields=((77, b"new"),),
    )


def test_a_field_that_the_version_lacks_is_named_before_anything_is_sent() -> None:
    peer = ready(versions={ApiKey.API_VERSIONS: range(5), ApiKey.CREATE_TOPICS: range(1)})
    with pytest.raises(
        UnsupportedVersionError, match=r"CreateTopics v0: validate_only: .*; the broker offers version 0"
    ):
        peer.connection.send(CreateTopicsRequest(validate_only=True), 0, 1.0)
    assert peer.sent() == []
    assert peer.connection.in_flight == 0


def test_any_other_value_that_cannot_be_sent_is_the_codecs_error() -> None:
    peer = ready()
    with pytest.raises(EncodeError, match="timeout_ms"):
        peer.connection.send(CreateTopicsRequest(timeout_ms=1 << 40), 5, 1.0)


def test_the_next_request_is_not_disturbed_by_one_that_could_not_be_sent() -> None:
    peer = ready()
    with pytest.raises(EncodeError):
        peer.connection.send(CreateTopicsRequest(timeout_ms=1 << 40), 5, 1.0)
    peer.connection.send(MetadataRequest(), 12, 1.0)
    request, answer = peer.only_request(), MetadataResponse(cluster_id="c")
    assert peer.answer(request, answer) == [Answered(request.header.correlation_id, answer, 12)]


def test_a_version_that_a_newer_import_adds_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    newer = msgspec.structs.replace(APIS[ApiKey.METADATA], versions=range(900))
    monkeypatch.setitem(APIS, ApiKey.METADATA, newer)
    assert offering(METADATA=range(900)).choose(MetadataRequest) == 13
    assert offering(METADATA=range(900)).choose(MetadataRequest, unstable=True) == 13


def test_every_api_of_every_method_has_a_version_that_is_sent() -> None:
    ways = [way for needed in REQUIREMENTS.values() for step in (needed.ways, *needed.further) for way in step]
    for way in ways:
        spoken = spoken_versions(APIS[way.api], unstable=True)
        assert set(spoken) <= set(APIS[way.api].versions), way
        assert (way.minimum_version or 0) <= spoken[-1], way


def test_every_operation_has_a_version_that_is_sent() -> None:
    for module in iter_modules(operations.__path__):
        import_module(f"{operations.__name__}.{module.name}")
    apis = {cls.__dict__["api"] for cls in _all_subclasses(Operation) if isinstance(cls.__dict__.get("api"), int)}
    assert len(apis) > 40
    for key in apis:
        assert spoken_versions(APIS[key], unstable=True), APIS[key].name


def _all_subclasses(cls: type) -> set[type]:
    return {cls}.union(*map(_all_subclasses, cls.__subclasses__()))


def test_an_api_that_the_client_does_not_send_is_an_error_that_names_it() -> None:
    with pytest.raises(LookupError, match=r"the admin client sends no FetchRequest: .*spoken_versions has no version"):
        offering().choose(FetchRequest)
