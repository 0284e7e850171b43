"""Client quotas: describe (admin-quotas, KIP-546, KIP-888)."""

from __future__ import annotations

from collections.abc import Coroutine, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, overload

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, Request, failure
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.filter_results import DescribedQuotas, QuotaValues
from kafkawire.admin.operations.quota_messages import described_quotas, filter_components
from kafkawire.admin.operations.strategies import Strategy, Ways, warn_of_single_filter
from kafkawire.model.quotas.entities import ClientQuotaEntity, ClientQuotaFilter
from kafkawire.model.quotas.matching import QuotaIndex
from kafkawire.model.quotas.validation import refusal_of_filter
from kafkawire.protocol.api_table import ApiKey
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

Quotas: TypeAlias = Mapping[ClientQuotaEntity, QuotaValues]
_Describing: TypeAlias = Operation[ClientQuotaFilter, Quotas, "protocol.DescribeClientQuotasResponse"]


class _DescribeClientQuotas(Operation[ClientQuotaFilter, Quotas, "protocol.DescribeClientQuotasResponse"]):
    """What all ways to describe quotas have in common."""

    name = "describe_client_quotas"
    api = ApiKey.DESCRIBE_CLIENT_QUOTAS

    def validate(self, item: ClientQuotaFilter) -> KafkaError | None:
        return refusal_of_filter(item)


class DescribeClientQuotasOfFilters(_DescribeClientQuotas):
    """Many filters in one request (KIP-888)."""

    needs = ("filters",)

    def __init__(self, fallback: _Describing | None) -> None:
        self._fallback = fallback

    def group_key(self, item: ClientQuotaFilter) -> Hashable:
        return item.strict  # F3: the request says it once for all of its filters

    def build(self, request: Request[ClientQuotaFilter]) -> Message:
        message = protocol.DescribeClientQuotasRequest
        return message(
            strict=request.items[0].strict,
            filters=tuple(message.DescribeClientQuotasFilter(filter_components(wanted)) for wanted in request.items),
        )

    def read(
        self, request: Request[ClientQuotaFilter], response: protocol.DescribeClientQuotasResponse
    ) -> Outcomes[ClientQuotaFilter, Quotas]:
        # The answer is in the order of the request; filters that it leaves out are reported as such.
        return {
            wanted: _quotas_or_error(result)
            for wanted, result in zip(request.items, response.filter_results, strict=False)
        }

    def fallback(self) -> _Describing | None:
        return self._fallback


class DescribeClientQuotasOfFilter(_DescribeClientQuotas):
    """One filter in each request: an error would be that of all."""

    lacks = "filters"
    batch = 1

    def build(self, request: Request[ClientQuotaFilter]) -> Message:
        (wanted,) = request.items
        return protocol.DescribeClientQuotasRequest(filter_components(wanted), wanted.strict)

    def read(
        self, request: Request[ClientQuotaFilter], response: protocol.DescribeClientQuotasResponse
    ) -> Outcomes[ClientQuotaFilter, Quotas]:
        return {request.items[0]: _quotas_or_error(response)}


class ListClientQuotas(_DescribeClientQuotas):
    """All quotas in one request; which of them each filter means is found out here (F9)."""

    lacks = "filters"

    def build(self, request: Request[ClientQuotaFilter]) -> Message:
        return protocol.DescribeClientQuotasRequest()

    def read(
        self, request: Request[ClientQuotaFilter], response: protocol.DescribeClientQuotasResponse
    ) -> Outcomes[ClientQuotaFilter, Quotas]:
        listed = _quotas_or_error(response)
        if isinstance(listed, KafkaError):
            return dict.fromkeys(request.items, listed)
        index = QuotaIndex(listed)
        return {wanted: {entity: listed[entity] for entity in index.matching(wanted)} for wanted in request.items}


def _quotas_or_error(
    result: protocol.DescribeClientQuotasResponse
    | protocol.DescribeClientQuotasResponse.DescribeClientQuotasFilterResult,
) -> Quotas | KafkaError:
    return failure(result.error_code, result.error_message) or described_quotas(result.entries or ())


ALL_QUOTAS = (ClientQuotaFilter(),)
"""The filters of a call that names none."""

WAYS = Ways[ClientQuotaFilter, Quotas](DescribeClientQuotasOfFilters, DescribeClientQuotasOfFilter, ListClientQuotas)


class QuotaDescriptionOperations(OperationFamily):
    """What client quotas there are."""

    @overload
    def describe_client_quotas(
        self,
        filters: Iterable[ClientQuotaFilter] = ALL_QUOTAS,
        *,
        strategy: Strategy = "automatic",
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Coroutine[Any, Any, DescribedQuotas]: ...

    @overload
    def describe_client_quotas(
        self,
        filters: ClientQuotaFilter,
        *,
        strategy: Strategy = "automatic",
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Coroutine[Any, Any, Quotas]: ...

    def describe_client_quotas(
        self,
        filters: Iterable[ClientQuotaFilter] | ClientQuotaFilter = ALL_QUOTAS,
        *,
        strategy: Strategy = "automatic",
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Coroutine[Any, Any, DescribedQuotas] | Coroutine[Any, Any, Quotas]:
        """The quotas of the entities that filters mean (KIP-546, KIP-888).

        Another broker than the one that took an alteration may not know of it for a moment.

        Args:
            filters: the filters; by default the one that means all entities, ``ClientQuotaFilter()``. A filter that is
                not in a collection is deprecated: its entities are given as they are, its error is raised.
            strategy: how the broker is asked, `Strategy`; all ways give the same results.
            timeout: seconds for the whole call; ``call_timeout`` of the settings by default.
            progress: told after each outcome how many of how many filters have one.

        Returns:
            Each filter to its entities and what is set for them, key to value; or to what went wrong:
            `ClusterAuthorizationFailedError`, `InvalidRequestError`, `UnsupportedVersionError` for a type of entity
            that does not exist ...
        """
        if isinstance(filters, ClientQuotaFilter):
            warn_of_single_filter("describe_client_quotas")
            operation = WAYS.chosen(strategy, (filters,), proposals=self._cluster.settings.proposals)
            return self._only(operation, filters, timeout)
        return self._describe_client_quotas(tuple(filters), strategy, timeout, progress)

    async def _describe_client_quotas(
        self, filters: Sequence[ClientQuotaFilter], strategy: Strategy, timeout: float | None, progress: Progress | None
    ) -> DescribedQuotas:
        operation = WAYS.chosen(strategy, filters, proposals=self._cluster.settings.proposals)
        results = await self._each(operation, filters, timeout, progress)
        return DescribedQuotas(dict(results.items()), filters)
