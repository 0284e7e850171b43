"""ACLs: describe, create and delete (admin-acls, KIP-140, KIP-888)."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, overload

from kafkawire import protocol
from kafkawire.admin.acl_results import DeletedAcls, DescribedAcls
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, Request, failure
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.acl_listing import AclListing
from kafkawire.admin.operations.acl_messages import (
    acl_creation,
    delete_acls_filter,
    deleted_acl,
    describe_acls_filter,
    describe_acls_request,
    lowest_version,
)
from kafkawire.admin.operations.acl_portions import Portion, portions
from kafkawire.admin.operations.cluster import DescribeFeatures
from kafkawire.admin.operations.record_limit import MAXIMUM_RECORDS
from kafkawire.admin.operations.strategies import OperationByStrategy, Strategy, warn_of_single_filter
from kafkawire.admin.results import Results
from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter
from kafkawire.model.acls.hosts import RANGES_SINCE, is_range
from kafkawire.model.acls.matching import AclIndex
from kafkawire.model.acls.validation import reason_without_effect, refusal_of_binding, refusal_of_filter
from kafkawire.model.cluster import Features
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import InvalidRequestError, PolicyViolationError, UnsupportedVersionError
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

Acls: TypeAlias = tuple[AclBinding, ...]
_Describing: TypeAlias = Operation[AclBindingFilter, Acls, AclListing]


class _DescribeAcls(Operation[AclBindingFilter, Acls, AclListing]):
    """Base of the operations that describe ACLs."""

    name = "describe_acls"
    api = ApiKey.DESCRIBE_ACLS
    on_controllers = True

    def validate(self, item: AclBindingFilter) -> KafkaError | None:
        return refusal_of_filter(item)

    def lowest_version(self, item: AclBindingFilter) -> int:
        return lowest_version(item)

    def response_class(self) -> type[AclListing]:
        return AclListing


class DescribeAclsOfFilters(_DescribeAcls):
    """Many filters in one request (KIP-888)."""

    needs = ("filters",)

    def __init__(self, fallback: _Describing | None) -> None:
        self._fallback = fallback

    def build(self, request: Request[AclBindingFilter]) -> Message:
        return protocol.DescribeAclsRequest(filters=tuple(map(describe_acls_filter, request.items)))

    def read(self, request: Request[AclBindingFilter], response: AclListing) -> Outcomes[AclBindingFilter, Acls]:
        # The answer is in the order of the request. The engine reports filters that it leaves out.
        return {
            wanted: failure(result.error_code, result.error_message) or result.resources
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

    def read(self, request: Request[AclBindingFilter], response: AclListing) -> Outcomes[AclBindingFilter, Acls]:
        return {request.items[0]: response.resources}


class ListAcls(_DescribeAcls):
    """All ACLs in one request; the client applies the filters (F9)."""

    lacks = "filters"

    def build(self, request: Request[AclBindingFilter]) -> Message:
        return describe_acls_request(AclBindingFilter(), request.version)

    def read(self, request: Request[AclBindingFilter], response: AclListing) -> Outcomes[AclBindingFilter, Acls]:
        index = AclIndex(response.resources)
        return {wanted: tuple(index.matching(wanted)) for wanted in request.items}


ALL_ACLS = (AclBindingFilter(),)
"""The filters of a call without filters."""

DESCRIBING = OperationByStrategy[AclBindingFilter, Acls](DescribeAclsOfFilters, DescribeAclsOfFilter, ListAcls)


Deleted = Results[AclBinding, None]

# A controller does no other work meanwhile, and queued requests would time out. So these requests stay small.
_ACLS_OF_A_CREATION = 1_000
"""The time for a request grows with the square of this number."""

_FILTERS_OF_A_DELETION = 100
"""The controller compares each filter with all ACLs."""

_IN_FLIGHT = 2
"""The request that the controller processes, and the next one."""


def has_ranges(features: Features) -> bool:
    """Whether a cluster with these features lets ranges of addresses match clients (A23)."""
    level = features.finalized.get("metadata.version")
    return level is not None and level.highest >= RANGES_SINCE


class CreateAcls(Operation[AclBinding, None, "protocol.CreateAclsResponse"]):
    """KIP-140. Results are assigned by their position (A19).

    Args:
        allow_without_effect: whether ACLs may be created that brokers never apply.
        ranges: whether the cluster lets ranges of addresses match clients.
    """

    name = "create_acls"
    api = ApiKey.CREATE_ACLS
    mutates = True
    on_controllers = True
    batch = _ACLS_OF_A_CREATION
    in_flight = _IN_FLIGHT

    def __init__(self, *, allow_without_effect: bool, ranges: bool = True) -> None:
        self._allow_without_effect = allow_without_effect
        self._ranges = ranges

    def validate(self, item: AclBinding) -> KafkaError | None:
        refused = refusal_of_binding(item)
        if refused is not None or self._allow_without_effect:
            return refused
        if not self._ranges and is_range(item.host):
            reason = "matches no client of this cluster: that is new with metadata.version 4.4"
            return InvalidRequestError(f"The host {item.host!r} is a range of addresses, which {reason}.")
        return reason_without_effect(item)

    def lowest_version(self, item: AclBinding) -> int:
        return lowest_version(item)

    def build(self, request: Request[AclBinding]) -> Message:
        return protocol.CreateAclsRequest(creations=tuple(map(acl_creation, request.items)))

    def read(self, request: Request[AclBinding], response: protocol.CreateAclsResponse) -> Outcomes[AclBinding, None]:
        return {
            acl: failure(result.error_code, result.error_message)
            for acl, result in zip(request.items, response.results, strict=False)
        }


class DeleteAcls(Operation[AclBindingFilter, Deleted, "protocol.DeleteAclsResponse"]):
    """KIP-140. Results are assigned by their position (A20).

    Args:
        sizes: the number of ACLs of filters, where it is known.
    """

    name = "delete_acls"
    api = ApiKey.DELETE_ACLS
    mutates = True
    on_controllers = True
    batch = MAXIMUM_RECORDS
    in_flight = _IN_FLIGHT

    def __init__(self, sizes: Mapping[AclBindingFilter, int] | None = None) -> None:
        self._sizes = sizes or {}

    def validate(self, item: AclBindingFilter) -> KafkaError | None:
        return refusal_of_filter(item)

    def lowest_version(self, item: AclBindingFilter) -> int:
        return lowest_version(item)

    def weight(self, item: AclBindingFilter) -> int:
        return max(MAXIMUM_RECORDS // _FILTERS_OF_A_DELETION, self._sizes.get(item, 0))

    def build(self, request: Request[AclBindingFilter]) -> Message:
        return protocol.DeleteAclsRequest(
            filters=tuple(delete_acls_filter(wanted, request.version) for wanted in request.items)
        )

    def read(
        self, request: Request[AclBindingFilter], response: protocol.DeleteAclsResponse
    ) -> Outcomes[AclBindingFilter, Deleted]:
        return {
            wanted: failure(result.error_code, result.error_message) or _deleted(result)
            for wanted, result in zip(request.items, response.filter_results, strict=False)
        }


def _deleted(result: protocol.DeleteAclsResponse.DeleteAclsFilterResult) -> Deleted:
    return Results({deleted_acl(acl): failure(acl.error_code, acl.error_message) for acl in result.matching_acls})


class AclOperations(OperationFamily):
    """ACLs."""

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

    @needs(DescribeAclsOfFilters, DescribeAclsOfFilter, rights="DESCRIBE CLUSTER")
    def describe_acls(
        self,
        filters: Iterable[AclBindingFilter] | AclBindingFilter = ALL_ACLS,
        *,
        strategy: Strategy = "automatic",
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Coroutine[Any, Any, DescribedAcls] | Coroutine[Any, Any, Acls]:
        """Describe the ACLs that filters match (KIP-140, KIP-888).

        Args:
            filters: the filters; by default ``AclBindingFilter()``, which matches all ACLs. A filter that is not in a
                collection is deprecated: the method then returns its ACLs, or raises its error.
            strategy: how the broker is queried, `Strategy`; all strategies have the same results.
            timeout, progress: see `AdminClient`.

        Returns:
            Each filter to its ACLs, sorted, or to what went wrong: `SecurityDisabledError` if the cluster keeps no
            ACLs, `ClusterAuthorizationFailedError`, `InvalidRequestError` for a filter with ``UNKNOWN`` ...

        Example:
            ```python
            of_billing = AclBindingFilter(principal="User:billing")
            on_orders = AclBindingFilter(ResourceType.TOPIC, "orders", pattern_type=PatternType.MATCH)
            results = await admin.describe_acls([of_billing, on_orders])
            for acl in results[of_billing]:
                print(acl.permission_type, acl.operation, acl.resource_type, acl.resource_name)
            print(len(results.union()), "ACLs in all")
            ```
        """
        if isinstance(filters, AclBindingFilter):
            warn_of_single_filter("describe_acls")
            operation = DESCRIBING.chosen(strategy, (filters,), proposals=self._cluster.settings.proposals)
            return self._only(operation, filters, timeout)
        return self._describe_acls(tuple(filters), strategy, timeout, progress)

    async def _describe_acls(
        self,
        filters: tuple[AclBindingFilter, ...],
        strategy: Strategy,
        timeout: float | None,
        progress: Progress | None,
    ) -> DescribedAcls:
        operation = DESCRIBING.chosen(strategy, filters, proposals=self._cluster.settings.proposals)
        results = await self._each(operation, filters, timeout, progress)
        return DescribedAcls(dict(results.items()), filters)

    @needs(CreateAcls, rights="ALTER CLUSTER")
    async def create_acls(
        self,
        acls: Iterable[AclBinding],
        *,
        allow_without_effect: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[AclBinding, None]:
        """Create any number of ACLs. Creating one that exists is a success.

        Args:
            acls: what to create.
            allow_without_effect: also create ACLs that brokers store but never apply: an operation that the resource
                does not have, a host that is not an address, a range of addresses before ``metadata.version`` 4.4, a
                principal without a type.
            timeout, progress: see `AdminClient`.

        Returns:
            Each ACL to None, or to what went wrong: `InvalidRequestError`, `SecurityDisabledError` if the cluster
            keeps no ACLs, `ClusterAuthorizationFailedError` ...

        Example:
            ```python
            acls = [
                *AclBinding.consumer("User:reports", topics=["orders"], groups=["reports"]),
                *AclBinding.producer("User:reports", topics=["reports-"], pattern_type=PatternType.PREFIXED),
            ]
            results = await admin.create_acls(acls)
            for acl, error in results.errors().items():
                print(acl, error)
            ```
        """
        wanted = tuple(acls)
        deadline = self._deadline(timeout)
        matters = not allow_without_effect and any(is_range(acl.host) for acl in wanted)
        ranges = not matters or await self._has_ranges(deadline)
        creation = CreateAcls(allow_without_effect=allow_without_effect, ranges=ranges)
        return await self._until(deadline, creation, wanted, progress)

    async def _has_ranges(self, deadline: float) -> bool:
        """Whether the cluster lets ranges of addresses match clients; True also if it does not answer."""
        described = await self._until(deadline, DescribeFeatures(), (None,))
        if described.errors():
            return not isinstance(described.errors()[None], UnsupportedVersionError)
        return has_ranges(described[None])

    @needs(DeleteAcls, rights="ALTER CLUSTER")
    async def delete_acls(
        self, filters: Iterable[AclBindingFilter], *, timeout: float | None = None, progress: Progress | None = None
    ) -> DeletedAcls:
        """Delete the ACLs that filters match, any number of them.

        Brokers delete at most 10 000 ACLs in a request, all or none. If filters match more, their ACLs are described
        and deleted in portions; an ACL that is created meanwhile may stay.

        Args:
            filters: the filters; ``acl.to_filter()`` matches one ACL.
            timeout, progress: see `AdminClient`; portions count as further filters.

        Returns:
            Each filter to its ACLs, each of which was deleted or has its own error; or to what went wrong with the
            filter: `SecurityDisabledError`, `ClusterAuthorizationFailedError`, `InvalidRequestError` for one with
            ``UNKNOWN`` ... A filter without matches is a success.

        Example:
            ```python
            results = await admin.delete_acls([AclBindingFilter(principal="User:billing")])
            for acl in results.deleted():
                print("deleted:", acl)
            results.all()
            ```
        """
        wanted = tuple(filters)
        deadline = self._deadline(timeout)
        results = await self._until(deadline, DeleteAcls(), wanted, progress)
        outcomes = dict(results.items())
        too_many = [one for one, outcome in outcomes.items() if _is_too_much(one, outcome)]
        if too_many:
            outcomes.update(await self._delete_in_portions(too_many, deadline, len(outcomes), progress))
        return DeletedAcls(outcomes, wanted)

    async def _delete_in_portions(
        self, filters: Sequence[AclBindingFilter], deadline: float, settled: int, progress: Progress | None
    ) -> dict[AclBindingFilter, Deleted | KafkaError]:
        """The outcomes of filters that match too many ACLs for one request, alone or together."""
        way = DESCRIBING.chosen("automatic", filters, proposals=self._cluster.settings.proposals)
        described = await self._until(deadline, way, filters)
        parts = {wanted: tuple(portions(wanted, acls, MAXIMUM_RECORDS)) for wanted, acls in described.values().items()}
        sizes = {portion.wanted: len(portion.acls) for of_filter in parts.values() for portion in of_filter}
        onward = None if progress is None else _further(progress, settled)
        deleted = await self._until(deadline, DeleteAcls(sizes), sizes, onward)
        return {
            **described.errors(),
            **{wanted: _put_together(of_filter, dict(deleted.items())) for wanted, of_filter in parts.items()},
        }


def _is_too_much(wanted: AclBindingFilter, outcome: Deleted | KafkaError) -> bool:
    """Whether a broker refused a valid filter, which it does if it would delete too many ACLs (A27)."""
    return isinstance(outcome, (InvalidRequestError, PolicyViolationError)) and refusal_of_filter(wanted) is None


def _further(progress: Progress, settled: int) -> Progress:
    return lambda done, total: progress(settled + done, settled + total)


def _put_together(of_filter: Iterable[Portion], deleted: Mapping[AclBindingFilter, Deleted | KafkaError]) -> Deleted:
    """The outcome of each ACL of a filter.

    An ACL that its portion no longer matches is deleted: by the portion of another filter, by an attempt whose
    answer was lost, or by another client.
    """
    outcomes: dict[AclBinding, KafkaError | None] = {}
    for portion in of_filter:
        outcome = deleted[portion.wanted]
        if isinstance(outcome, KafkaError):
            outcomes.update(dict.fromkeys(portion.acls, outcome))
        else:
            outcomes.update({**dict.fromkeys(portion.acls), **dict(outcome.items())})
    return Results(outcomes)
