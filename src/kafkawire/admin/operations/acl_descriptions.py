"""ACLs: describe (admin-acls, KIP-140, KIP-888)."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import Any, TypeAlias, overload

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, Request, failure
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.filter_results import DescribedAcls
from kafkawire.admin.operations.acl_messages import (
    describe_acls_filter,
    describe_acls_request,
    described_acls,
    lowest_version,
)
from kafkawire.admin.operations.strategies import Strategy, Ways, warn_of_single_filter
from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter
from kafkawire.model.acls.matching import AclIndex
from kafkawire.model.acls.validation import refusal_of_filter
from kafkawire.protocol.api_table import ApiKey
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

Acls: TypeAlias = tuple[AclBinding, ...]
_Describing: TypeAlias = Operation[AclBindingFilter, Acls, "protocol.DescribeAclsResponse"]


class _DescribeAcls(Operation[AclBindingFilter, Acls, "protocol.DescribeAclsResponse"]):
    """What all ways to describe ACLs have in common."""

    name = "describe_acls"
    api = ApiKey.DESCRIBE_ACLS
    on_controllers = True

    def validate(self, item: AclBindingFilter) -> KafkaError | None:
        return refusal_of_filter(item)

    def lowest_version(self, item: AclBindingFilter) -> int:
        return lowest_version(item)


class DescribeAclsOfFilters(_DescribeAcls):
    """Many filters in one request (KIP-888)."""

    needs = ("filters",)

    def __init__(self, fallback: _Describing | None) -> None:
        self._fallback = fallback

    def build(self, request: Request[AclBindingFilter]) -> Message:
        return protocol.DescribeAclsRequest(filters=tuple(map(describe_acls_filter, request.items)))

    def read(
        self, request: Request[AclBindingFilter], response: protocol.DescribeAclsResponse
    ) -> Outcomes[AclBindingFilter, Acls]:
        # The answer is in the order of the request; filters that it leaves out are reported as such.
        return {
            wanted: failure(result.error_code, result.error_message) or tuple(described_acls(result.resources))
            for wanted, result in zip(request.items, response.filter_results, strict=False)
        }

    def fallback(self) -> _Describing | None:
        return self._fallback


class DescribeAclsOfFilter(_DescribeAcls):
    """One filter in each request."""

    lacks = "filters"
    batch = 1

    def build(self, request: Request[AclBindingFilter]) -> Message:
        return describe_acls_request(request.items[0], request.version)

    def read(
        self, request: Request[AclBindingFilter], response: protocol.DescribeAclsResponse
    ) -> Outcomes[AclBindingFilter, Acls]:
        return {request.items[0]: _acls_or_error(response)}


class ListAcls(_DescribeAcls):
    """All ACLs in one request; which of them each filter means is found out here (F9)."""

    lacks = "filters"

    def build(self, request: Request[AclBindingFilter]) -> Message:
        return describe_acls_request(AclBindingFilter(), request.version)

    def read(
        self, request: Request[AclBindingFilter], response: protocol.DescribeAclsResponse
    ) -> Outcomes[AclBindingFilter, Acls]:
        listed = _acls_or_error(response)
        if isinstance(listed, KafkaError):
            return dict.fromkeys(request.items, listed)
        index = AclIndex(listed)
        return {wanted: tuple(index.matching(wanted)) for wanted in request.items}


def _acls_or_error(response: protocol.DescribeAclsResponse) -> Acls | KafkaError:
    return tuple(described_acls(response.resources))


ALL_ACLS = (AclBindingFilter(),)
"""The filters of a call that names none."""

WAYS = Ways[AclBindingFilter, Acls](DescribeAclsOfFilters, DescribeAclsOfFilter, ListAcls)


class AclDescriptionOperations(OperationFamily):
    """What ACLs there are."""

    @overload
    def describe_acls(
        self,
        filters: Iterable[AclBindingFilter] = ALL_ACLS,
        *,
        strategy: Strategy = "automatic",
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Coroutine[Any, Any, DescribedAcls]: ...

    @overload
    def describe_acls(
        self,
        filters: AclBindingFilter,
        *,
        strategy: Strategy = "automatic",
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Coroutine[Any, Any, Acls]: ...

    def describe_acls(
        self,
        filters: Iterable[AclBindingFilter] | AclBindingFilter = ALL_ACLS,
        *,
        strategy: Strategy = "automatic",
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Coroutine[Any, Any, DescribedAcls] | Coroutine[Any, Any, Acls]:
        """The ACLs that filters mean (KIP-140, KIP-888).

        Args:
            filters: the filters; by default the one that means all ACLs, ``AclBindingFilter()``. A filter that is not
                in a collection is deprecated: its ACLs are given as they are, its error is raised.
            strategy: how the broker is asked, `Strategy`; all ways give the same results.
            timeout: seconds for the whole call; ``call_timeout`` of the settings by default.
            progress: told after each outcome how many of how many filters have one.

        Returns:
            Each filter to its ACLs, sorted, or to what went wrong: `SecurityDisabledError` if the cluster keeps no
            ACLs, `ClusterAuthorizationFailedError`, `InvalidRequestError` for a filter with ``UNKNOWN`` ...
        """
        if isinstance(filters, AclBindingFilter):
            warn_of_single_filter("describe_acls")
            operation = WAYS.chosen(strategy, (filters,), proposals=self._cluster.settings.proposals)
            return self._only(operation, filters, timeout)
        return self._describe_acls(tuple(filters), strategy, timeout, progress)

    async def _describe_acls(
        self,
        filters: tuple[AclBindingFilter, ...],
        strategy: Strategy,
        timeout: float | None,
        progress: Progress | None,
    ) -> DescribedAcls:
        operation = WAYS.chosen(strategy, filters, proposals=self._cluster.settings.proposals)
        results = await self._each(operation, filters, timeout, progress)
        return DescribedAcls(dict(results.items()), filters)
