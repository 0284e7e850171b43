"""The ACLs of a stand-in broker: answers as a broker with an authorizer gives them, batches of KIP-888 included."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from tests.stand_ins.broker import Answer
from tests.stand_ins.cluster import NodeHandler

from kafkawire.model.acls.bindings import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.matching import matches
from kafkawire.protocol import (
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.rpc import Request
from kafkawire.wire import Message

_Wanted = DescribeAclsRequest | DescribeAclsRequest.DescribeAclsFilter | DeleteAclsRequest.DeleteAclsFilter


class StandInAcls:
    """What ACLs there are; handlers for any number of nodes.

    Args:
        acls: those that are there from the beginning.
        limit: how many metadata records one request may make.

    Attributes:
        acls: tests may look at them and change them.
        refusal: what every request is answered instead, such as SECURITY_DISABLED.
        stubborn: ACLs that cannot be deleted.
        code_of_excess: what is answered when there is too much to delete.
    """

    def __init__(self, acls: Iterable[AclBinding] = (), *, limit: int = 10_000) -> None:
        self.acls = dict.fromkeys(acls)
        self.limit = limit
        self.refusal: tuple[ErrorCode, str] | None = None
        self.stubborn: set[AclBinding] = set()
        self.code_of_excess = ErrorCode.INVALID_REQUEST

    @property
    def handlers(self) -> dict[type[Message], NodeHandler]:
        """For a `StandInCluster`."""
        return {
            DescribeAclsRequest: self._describe,
            CreateAclsRequest: self._create,
            DeleteAclsRequest: self._delete,
        }

    def _describe(self, _: int, request: Request) -> Message | Answer:
        body = request.body
        assert isinstance(body, DescribeAclsRequest)
        wanted: Sequence[_Wanted] = body.filters if request.header.request_api_version >= 4 else (body,)
        if any(_has_unknown(one) for one in wanted):
            return Answer(close=True)
        response = DescribeAclsResponse
        code, text = self.refusal or (ErrorCode.NONE, None)
        found = [() if self.refusal else self._resources(_filter(one)) for one in wanted]
        if request.header.request_api_version >= 4:
            return response(filter_results=[response.DescribeAclsFilterResult(code, text, one) for one in found])
        return response(error_code=code, error_message=text, resources=found[0])

    def _resources(self, wanted: AclBindingFilter) -> tuple[DescribeAclsResponse.DescribeAclsResource, ...]:
        grouped: defaultdict[tuple[int, str, int], list[AclBinding]] = defaultdict(list)
        # Brokers promise no order, so it is a different one for each filter here.
        found = sorted((acl for acl in self.acls if matches(wanted, acl)), key=lambda acl: hash((wanted, acl)))
        for acl in found:
            grouped[acl.resource_type, acl.resource_name, acl.pattern_type].append(acl)
        described = DescribeAclsResponse.AclDescription
        return tuple(
            DescribeAclsResponse.DescribeAclsResource(
                *resource, tuple(described(a.principal, a.host, a.operation, a.permission_type) for a in acls)
            )
            for resource, acls in grouped.items()
        )

    def _create(self, _: int, request: Request) -> Message | Answer:
        assert isinstance(request.body, CreateAclsRequest)
        result = CreateAclsResponse.AclCreationResult
        acls = [_created(one) for one in request.body.creations]
        if self.refusal is not None:
            return CreateAclsResponse(results=[result(*self.refusal) for _ in acls])
        if any(acl.is_unknown for acl in acls):
            return Answer(close=True)
        if len(set(acls) - self.acls.keys()) > self.limit:
            return CreateAclsResponse(results=[result(ErrorCode.POLICY_VIOLATION, "excessively large") for _ in acls])
        results = []
        for acl in acls:
            if acl.resource_type is ResourceType.CLUSTER and acl.resource_name != "kafka-cluster":
                results.append(result(ErrorCode.INVALID_REQUEST, "the only name"))
            else:
                self.acls[acl] = None
                results.append(result(0, ""))
        return CreateAclsResponse(results=results)

    def _delete(self, _: int, request: Request) -> Message | Answer:
        assert isinstance(request.body, DeleteAclsRequest)
        if any(_has_unknown(one) for one in request.body.filters):
            return Answer(close=True)
        wanted = [_filter(one) for one in request.body.filters]
        result = DeleteAclsResponse.DeleteAclsFilterResult
        if self.refusal is not None:
            return DeleteAclsResponse(filter_results=[result(*self.refusal) for _ in wanted])
        found = [[acl for acl in self.acls if matches(one, acl)] for one in wanted]
        if len({acl for acls in found for acl in acls}) > self.limit:
            text = f"Cannot remove more than {self.limit} acls in a single delete operation."
            return DeleteAclsResponse(filter_results=[result(self.code_of_excess, text) for _ in wanted])
        for acls in found:
            for acl in acls:
                if acl not in self.stubborn:
                    self.acls.pop(acl, None)
        return DeleteAclsResponse(filter_results=[result(0, None, [self._deleted(a) for a in acls]) for acls in found])

    def _deleted(self, acl: AclBinding) -> DeleteAclsResponse.DeleteAclsMatchingAcl:
        return DeleteAclsResponse.DeleteAclsMatchingAcl(
            error_code=ErrorCode.UNKNOWN_SERVER_ERROR if acl in self.stubborn else 0,
            resource_type=acl.resource_type, resource_name=acl.resource_name, pattern_type=acl.pattern_type,
            principal=acl.principal, host=acl.host, operation=acl.operation, permission_type=acl.permission_type,
        )  # fmt: skip


def _filter(wanted: _Wanted) -> AclBindingFilter:
    return AclBindingFilter(
        ResourceType(wanted.resource_type_filter),
        wanted.resource_name_filter,
        wanted.principal_filter,
        AclOperation(wanted.operation),
        AclPermissionType(wanted.permission_type),
        wanted.host_filter,
        PatternType(wanted.pattern_type_filter),
    )


def _has_unknown(wanted: _Wanted) -> bool:
    return 0 in (wanted.resource_type_filter, wanted.pattern_type_filter, wanted.operation, wanted.permission_type)


def _created(creation: CreateAclsRequest.AclCreation) -> AclBinding:
    return AclBinding(
        ResourceType(creation.resource_type),
        creation.resource_name,
        creation.principal,
        AclOperation(creation.operation),
        AclPermissionType(creation.permission_type),
        creation.host,
        PatternType(creation.resource_pattern_type),
    )
