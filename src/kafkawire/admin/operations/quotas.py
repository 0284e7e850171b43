"""Client quotas: describe and alter (admin-quotas, KIP-546, KIP-888)."""

from __future__ import annotations

from collections.abc import Coroutine, Hashable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeAlias, overload

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, Request, failure
from kafkawire.admin.engine.wanted import Wanted
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.record_limit import MAXIMUM_RECORDS
from kafkawire.admin.operations.strategies import OperationByStrategy, Strategy, warn_of_single_filter
from kafkawire.admin.quota_results import DescribedQuotas, QuotaValues
from kafkawire.admin.results import Results
from kafkawire.model.quotas.entities import ClientQuotaAlteration, ClientQuotaEntity, ClientQuotaFilter
from kafkawire.model.quotas.matching import QuotaIndex
from kafkawire.model.quotas.validation import joined, refusal_of_alteration, refusal_of_filter
from kafkawire.protocol.api_table import ApiKey
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError


def described_quotas(
    entries: Iterable[protocol.DescribeClientQuotasResponse.EntryData],
) -> dict[ClientQuotaEntity, Mapping[str, float]]:
    """The entities of an answer and the values that are set for them (E7)."""
    return {
        ClientQuotaEntity({part.entity_type: part.entity_name for part in entry.entity}): {
            value.key: value.value for value in entry.values
        }
        for entry in entries
    }


def altered_entity(entry: protocol.AlterClientQuotasResponse.EntryData) -> ClientQuotaEntity:
    """The entity that a result is about; results come in no useful order (E9)."""
    return ClientQuotaEntity({part.entity_type: part.entity_name for part in entry.entity})


def filter_components(wanted: ClientQuotaFilter) -> tuple[protocol.DescribeClientQuotasRequest.ComponentData, ...]:
    """The components of a protocol.DescribeClientQuotasRequest, or of one of its filters in version 2 (KIP-888)."""
    return tuple(
        protocol.DescribeClientQuotasRequest.ComponentData(component.entity_type, component.match_type, component.name)
        for component in wanted.components
    )


def alteration_entry(alteration: ClientQuotaAlteration) -> protocol.AlterClientQuotasRequest.EntryData:
    """An alteration as an item of an protocol.AlterClientQuotasRequest."""
    return protocol.AlterClientQuotasRequest.EntryData(
        tuple(protocol.AlterClientQuotasRequest.EntityData(type_, name) for type_, name in alteration.entity.items()),
        tuple(
            protocol.AlterClientQuotasRequest.OpData(key, 0.0, remove=True)
            if value is None
            else protocol.AlterClientQuotasRequest.OpData(key, value)
            for key, value in alteration.values.items()
        ),
    )


Quotas: TypeAlias = Mapping[ClientQuotaEntity, QuotaValues]
_Describing: TypeAlias = Operation[ClientQuotaFilter, Quotas, "protocol.DescribeClientQuotasResponse"]


class _DescribeClientQuotas(Operation[ClientQuotaFilter, Quotas, "protocol.DescribeClientQuotasResponse"]):
    """Base of the operations that describe quotas."""

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
        # The answer is in the order of the request. The engine reports filters that it leaves out.
        return {
            wanted: _quotas_or_error(result)
            for wanted, result in zip(request.items, response.filter_results, strict=False)
        }

    def fallback(self) -> _Describing | None:
        return self._fallback


class DescribeClientQuotasOfFilter(_DescribeClientQuotas):
    """One filter in each request, since an error is that of the whole request."""

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
    """All quotas in one request; the client applies the filters (F9)."""

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
"""The filters of a call without filters."""

DESCRIBING = OperationByStrategy[ClientQuotaFilter, Quotas](
    DescribeClientQuotasOfFilters, DescribeClientQuotasOfFilter, ListClientQuotas
)


WantedQuotas: TypeAlias = Wanted[ClientQuotaEntity, ClientQuotaAlteration]


def wanted_quotas(alterations: Iterable[ClientQuotaAlteration]) -> WantedQuotas:
    """The change of each entity: several alterations of one are joined."""
    return Wanted(alterations, attrgetter("entity"), joined)


class AlterClientQuotas(Operation[ClientQuotaEntity, None, "protocol.AlterClientQuotasResponse"]):
    """KIP-546. No entity is twice in a request: the first alteration would be made and an error answered (E9).

    Args:
        wanted: what is to change of each entity.
        validate_only: whether nothing changes and everything is checked.
    """

    name = "alter_client_quotas"
    api = ApiKey.ALTER_CLIENT_QUOTAS
    mutates = True
    on_controllers = True
    batch = MAXIMUM_RECORDS

    def __init__(self, wanted: WantedQuotas, *, validate_only: bool) -> None:
        self._wanted = wanted
        self._validate_only = validate_only

    def validate(self, item: ClientQuotaEntity) -> KafkaError | None:
        return self._wanted.refused.get(item) or refusal_of_alteration(self._wanted.values[item])

    def weight(self, item: ClientQuotaEntity) -> int:
        return max(1, len(self._wanted.values[item].values))

    def build(self, request: Request[ClientQuotaEntity]) -> Message:
        return protocol.AlterClientQuotasRequest(
            entries=tuple(alteration_entry(self._wanted.values[entity]) for entity in request.items),
            validate_only=self._validate_only,
        )

    def read(
        self, request: Request[ClientQuotaEntity], response: protocol.AlterClientQuotasResponse
    ) -> Outcomes[ClientQuotaEntity, None]:
        return {altered_entity(entry): failure(entry.error_code, entry.error_message) for entry in response.entries}


class QuotaOperations(OperationFamily):
    """Client quotas."""

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

    @needs(DescribeClientQuotasOfFilters, DescribeClientQuotasOfFilter, rights="DESCRIBE_CONFIGS CLUSTER")
    def describe_client_quotas(
        self,
        filters: Iterable[ClientQuotaFilter] | ClientQuotaFilter = ALL_QUOTAS,
        *,
        strategy: Strategy = "automatic",
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Coroutine[Any, Any, DescribedQuotas] | Coroutine[Any, Any, Quotas]:
        """Describe the quotas of the entities that filters match (KIP-546, KIP-888).

        A new alteration is not visible on every broker at once; see `wait_for_client_quotas`.

        Args:
            filters: the filters; by default ``ClientQuotaFilter()``, which matches all entities. A filter that is not
                in a collection is deprecated: the method then returns its entities, or raises its error.
            strategy: how the broker is queried, `Strategy`; all strategies have the same results.
            timeout, progress: see `AdminClient`.

        Returns:
            Each filter to its entities and what is set for them, key to value; or to what went wrong:
            `ClusterAuthorizationFailedError`, `InvalidRequestError`, `UnsupportedVersionError` for a type of entity
            that does not exist ...

        Example:
            ```python
            users = ClientQuotaFilter((ClientQuotaFilterComponent.any("user"),))
            results = await admin.describe_client_quotas([users])
            for entity, quotas in results[users].items():
                print(dict(entity), dict(quotas))
            ```
        """
        if isinstance(filters, ClientQuotaFilter):
            warn_of_single_filter("describe_client_quotas")
            operation = DESCRIBING.chosen(strategy, (filters,), proposals=self._cluster.settings.proposals)
            return self._only(operation, filters, timeout)
        return self._describe_client_quotas(tuple(filters), strategy, timeout, progress)

    async def _describe_client_quotas(
        self, filters: Sequence[ClientQuotaFilter], strategy: Strategy, timeout: float | None, progress: Progress | None
    ) -> DescribedQuotas:
        operation = DESCRIBING.chosen(strategy, filters, proposals=self._cluster.settings.proposals)
        results = await self._each(operation, filters, timeout, progress)
        return DescribedQuotas(dict(results.items()), filters)

    @needs(AlterClientQuotas, rights="ALTER_CONFIGS CLUSTER")
    async def alter_client_quotas(
        self,
        alterations: Iterable[ClientQuotaAlteration],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[ClientQuotaEntity, None]:
        """Set and remove quotas, of any number of entities.

        Args:
            alterations: the changes. Several for one entity are joined; if two of them contradict each other, none
                of that entity is made. Removing what is not set is a success.
            validate_only: change nothing, but have the broker check everything.
            timeout, progress: see `AdminClient`.

        Returns:
            Each entity to None, or to what went wrong: `InvalidRequestError`, `ClusterAuthorizationFailedError` ...

        Example:
            ```python
            rates = {PRODUCER_BYTE_RATE: 5_000_000, CONSUMER_BYTE_RATE: None}  # None removes a quota
            billing = ClientQuotaAlteration(ClientQuotaEntity(user="billing"), rates)
            others = ClientQuotaAlteration(ClientQuotaEntity(user=None), {PRODUCER_BYTE_RATE: 1_000_000})
            results = await admin.alter_client_quotas([billing, others])
            for entity, error in results.errors().items():
                print(entity, error)
            ```
        """
        wanted = wanted_quotas(alterations)
        return await self._each(AlterClientQuotas(wanted, validate_only=validate_only), wanted.items, timeout, progress)
