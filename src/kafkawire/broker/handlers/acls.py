"""DescribeAcls, CreateAcls and DeleteAcls, with the batches of KIP-888."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Final, TypeAlias

from kafkawire.broker.controller import MAXIMUM_RECORDS, TOO_LARGE_BATCH, TooManyRecordsError
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.image.acls import Pattern, acl_record
from kafkawire.broker.requests import Call, Refused, RefusedRequestError
from kafkawire.broker.served_apis import ServedApi
from kafkawire.layout.uuid import Uuid
from kafkawire.model.acls.bindings import (
    CLUSTER_NAME,
    OPERATION_OF,
    PATTERN_TYPE_OF,
    PERMISSION_TYPE_OF,
    RESOURCE_TYPE_OF,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    PatternType,
    ResourceType,
)
from kafkawire.protocol import (
    AccessControlEntryRecord,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
    RemoveAccessControlEntryRecord,
)
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    InvalidRequestError,
    PolicyViolationError,
    SecurityDisabledError,
    UnknownServerError,
)
from kafkawire.wire import Message

MAXIMUM_ENTRIES: Final = 1_000_000
"""About the most ACLs in one response: many filters that match many ACLs each would fill any memory."""

_UNKNOWN: Final = 0
_ANY: Final = 1
_BATCHED: Final = 4
"""The version of DescribeAcls that has several filters (KIP-888)."""


_Creation: TypeAlias = CreateAclsRequest.AclCreation
_Filter: TypeAlias = DescribeAclsRequest | DescribeAclsRequest.DescribeAclsFilter | DeleteAclsRequest.DeleteAclsFilter
_Created: TypeAlias = CreateAclsResponse.AclCreationResult
_Deleted: TypeAlias = DeleteAclsResponse.DeleteAclsFilterResult

_DONE: Final = CreateAclsResponse.AclCreationResult()
_TOO_MANY: Final = CreateAclsResponse.AclCreationResult(PolicyViolationError.code, TOO_LARGE_BATCH)


class AclHandlers:
    """Describe, create and delete ACLs (A16 to A22, A27)."""

    def __init__(self, context: HandlerContext) -> None:
        self._controller = context.controller
        self._acls = context.controller.image.acls
        self._access = context.access
        self.apis = (
            ServedApi(DescribeAclsRequest, self._describe, 1, 3, highest_unstable=4),
            ServedApi(CreateAclsRequest, self._create, 1, 3),
            ServedApi(DeleteAclsRequest, self._delete, 1, 3),
        )

    async def _describe(self, request: DescribeAclsRequest, call: Call) -> Message | Refused:
        is_batch = call.version >= _BATCHED
        for wanted in request.filters if is_batch else (request,):
            _refuse_unknown(wanted)
        disabled = "No Authorizer is configured on the broker"
        refused = self._refusal(request, call, AclOperation.DESCRIBE, disabled)
        if refused is not None:
            return refused
        if not is_batch:
            return DescribeAclsResponse(resources=self._described(request))
        results = [result async for result in self._described_by_each(request.filters)]
        return DescribeAclsResponse(filter_results=tuple(results))

    async def _create(self, request: CreateAclsRequest, call: Call) -> Message | Refused:
        codes = {code for creation in request.creations for code in _codes(creation)}
        if _UNKNOWN in codes:
            raise RefusedRequestError("an ACL to create has an UNKNOWN part")
        refused = self._refusal(request, call, AclOperation.ALTER, "No Authorizer is configured.")
        if refused is not None:
            return refused
        if _ANY in codes or any(item.resource_pattern_type == PatternType.MATCH for item in request.creations):
            return Refused(UnknownServerError.code)
        reasons = [_wrong_name(creation) or _wrong_part(creation) async for creation in in_slices(request.creations)]
        good = [creation for creation, reason in zip(request.creations, reasons, strict=True) if reason is None]
        try:
            async with self._controller.turn:
                self._controller.commit(await self._additions(good))
        except TooManyRecordsError:
            # The broker checks names first; then the controller refuses all others.
            names = map(_wrong_name, request.creations)
            return CreateAclsResponse(results=tuple(_TOO_MANY if name is None else _invalid(name) for name in names))
        return CreateAclsResponse(results=tuple(_DONE if reason is None else _invalid(reason) for reason in reasons))

    async def _delete(self, request: DeleteAclsRequest, call: Call) -> Message | Refused:
        for asked in request.filters:
            _refuse_unknown(asked)
        refused = self._refusal(request, call, AclOperation.ALTER, "No Authorizer is configured.")
        if refused is not None:
            return refused
        found: dict[AclBinding, None] = {}
        count = 0
        results = []
        async with self._controller.turn:
            async for asked in in_slices(request.filters):
                wanted = _filter(asked)
                matching = self._acls.matching(wanted)
                is_full = len(found) >= MAXIMUM_RECORDS
                found.update(dict.fromkeys(matching))
                count += len(matching)
                if len(found) > MAXIMUM_RECORDS or (is_full and matching) or count > MAXIMUM_ENTRIES:
                    reason = f"Cannot remove more than {MAXIMUM_RECORDS} acls in a single delete operation."
                    return Refused(InvalidRequestError.code, reason)
                results.append(_unknown_part(wanted) or _Deleted(error_message=None, matching_acls=_deleted(matching)))
            self._controller.commit([RemoveAccessControlEntryRecord(self._acls.ids[acl]) for acl in found])
        return DeleteAclsResponse(filter_results=tuple(results))

    def _refusal(self, request: Message, call: Call, operation: AclOperation, disabled: str) -> Refused | None:
        """The answer to a session without the right, or of a broker without an authorizer (A16, A17)."""
        if not self._access.is_restricted:
            return Refused(SecurityDisabledError.code, disabled)
        if not self._access.allows_on_cluster(call.session, operation):
            reason = "Cluster authorization failed."
            return Refused(ClusterAuthorizationFailedError.code, reason)
        return None

    async def _additions(self, creations: Iterable[_Creation]) -> list[AccessControlEntryRecord]:
        """Records for the ACLs that do not exist yet, each once (A19).

        Raises:
            TooManyRecordsError: more than one request may commit.
        """
        acls = (_acl(creation) for creation in creations)
        new = {acl: None async for acl in in_slices(acls) if acl not in self._acls.ids}
        if len(new) > MAXIMUM_RECORDS:
            raise TooManyRecordsError(f"{len(new)} ACLs in one request, {MAXIMUM_RECORDS} are allowed")
        return [acl_record(acl, Uuid.random()) async for acl in in_slices(new)]

    async def _described_by_each(
        self, filters: Iterable[_Filter]
    ) -> AsyncIterator[DescribeAclsResponse.DescribeAclsFilterResult]:
        """The ACLs that match each filter; after too many ACLs, the result of the other filters is an error."""
        result = DescribeAclsResponse.DescribeAclsFilterResult
        count = 0
        async for wanted in in_slices(filters):
            if count >= MAXIMUM_ENTRIES:
                yield result(PolicyViolationError.code, f"Other filters mean {MAXIMUM_ENTRIES} ACLs and more already.")
                continue
            resources = self._described(wanted)
            count += sum(len(resource.acls) for resource in resources)
            yield result(error_message=None, resources=resources)

    def _described(self, wanted: _Filter) -> Sequence[DescribeAclsResponse.DescribeAclsResource]:
        """The ACLs that match a filter, by resource (A21)."""
        description = DescribeAclsResponse.AclDescription
        by_pattern: dict[Pattern, list[DescribeAclsResponse.AclDescription]] = {}
        for acl in self._acls.matching(_filter(wanted)):
            entry = description(acl.principal, acl.host, acl.operation, acl.permission_type)
            pattern = acl.resource_type, acl.pattern_type, acl.resource_name
            by_pattern.setdefault(pattern, []).append(entry)
        resource = DescribeAclsResponse.DescribeAclsResource
        return [resource(kind, name, pattern, acls) for (kind, pattern, name), acls in by_pattern.items()]


def _codes(creation: _Creation) -> tuple[int, int, int, int]:
    return creation.resource_type, creation.resource_pattern_type, creation.operation, creation.permission_type


def _refuse_unknown(wanted: _Filter) -> None:
    """Close the connection if a filter has an ``UNKNOWN`` part (A11, A13)."""
    parts = wanted.resource_type_filter, wanted.pattern_type_filter, wanted.operation, wanted.permission_type
    if _UNKNOWN in parts:
        raise RefusedRequestError("a filter of ACLs has an UNKNOWN part")


def _wrong_name(creation: _Creation) -> str | None:
    """The error of a resource name (A18)."""
    if creation.resource_type == ResourceType.CLUSTER and creation.resource_name != CLUSTER_NAME:
        return f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
    return None if creation.resource_name else "Invalid empty resource name"


def _wrong_part(creation: _Creation) -> str | None:
    """The error of the other parts (A22)."""
    acl = _acl(creation)
    parts = {
        "resourceType": acl.resource_type,
        "patternType": acl.pattern_type,
        "operation": acl.operation,
        "permissionType": acl.permission_type,
    }
    for name, part in parts.items():
        if part.is_unknown:
            return f"Invalid {name} UNKNOWN"
    if ":" not in creation.principal:
        return (
            f"Could not parse principal from `{creation.principal}` "
            "(no colon is present separating the principal type from the principal name)"
        )
    return None


def _invalid(reason: str) -> _Created:
    return _Created(InvalidRequestError.code, reason)


def _unknown_part(wanted: AclBindingFilter) -> _Deleted | None:
    """The result of a filter with an unknown number."""
    if wanted.resource_type.is_unknown or wanted.pattern_type.is_unknown:
        return _Deleted(InvalidRequestError.code, "Unknown patternFilter.")
    if wanted.operation.is_unknown or wanted.permission_type.is_unknown:
        return _Deleted(InvalidRequestError.code, "Unknown entryFilter.")
    return None


def _acl(creation: _Creation) -> AclBinding:
    return AclBinding(
        RESOURCE_TYPE_OF[creation.resource_type],
        creation.resource_name,
        creation.principal,
        OPERATION_OF[creation.operation],
        PERMISSION_TYPE_OF[creation.permission_type],
        creation.host,
        PATTERN_TYPE_OF[creation.resource_pattern_type],
    )


def _filter(wanted: _Filter) -> AclBindingFilter:
    return AclBindingFilter(
        RESOURCE_TYPE_OF[wanted.resource_type_filter],
        wanted.resource_name_filter,
        wanted.principal_filter,
        OPERATION_OF[wanted.operation],
        PERMISSION_TYPE_OF[wanted.permission_type],
        wanted.host_filter,
        PATTERN_TYPE_OF[wanted.pattern_type_filter],
    )


def _deleted(acls: Iterable[AclBinding]) -> tuple[DeleteAclsResponse.DeleteAclsMatchingAcl, ...]:
    return tuple(
        DeleteAclsResponse.DeleteAclsMatchingAcl(
            error_message=None,
            resource_type=acl.resource_type,
            resource_name=acl.resource_name,
            pattern_type=acl.pattern_type,
            principal=acl.principal,
            host=acl.host,
            operation=acl.operation,
            permission_type=acl.permission_type,
        )
        for acl in acls
    )
