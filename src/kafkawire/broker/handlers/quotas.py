"""DescribeClientQuotas and AlterClientQuotas (KIP-546, KIP-612, and KIP-888 for many filters at once)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Sequence
from typing import Final

from kafkawire.broker.controller import MAXIMUM_RECORDS
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.handlers.quota_alterations import Alteration, QuotaAlterations, host_names
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.java_order import hash_order
from kafkawire.model.quotas.entities import (
    IP,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
    QuotaMatch,
)
from kafkawire.model.quotas.map_order import described_in_order, entity_hash, keys_in_order
from kafkawire.model.quotas.matching import QuotaIndex
from kafkawire.model.quotas.validation import ENTITY_TYPES
from kafkawire.protocol import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    ClientQuotaRecord,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    InvalidRequestError,
    PolicyViolationError,
    UnsupportedVersionError,
)
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ApiError

UNAUTHORIZED: Final = "Cluster authorization failed."
TOO_MANY_RECORDS: Final = "Request parameters do not satisfy the configured policy."
_MANY_FILTERS: Final = 2
_SECONDS_TO_LOOK_UP: Final = 10.0

_Component = DescribeClientQuotasRequest.ComponentData
_Response = DescribeClientQuotasResponse


class QuotaHandlers:
    """Describe and alter client quotas."""

    def __init__(self, context: HandlerContext) -> None:
        self._controller = context.controller
        self._access = context.access
        self._index: QuotaIndex | None = None
        context.controller.subscribe(self._changed)
        self.apis = (
            ServedApi(DescribeClientQuotasRequest, self._describe, 0, 1, highest_unstable=2),
            ServedApi(AlterClientQuotasRequest, self._alter, 0, 1),
        )

    def _changed(self, record: Message) -> None:
        if isinstance(record, ClientQuotaRecord):
            self._index = None

    async def _describe(self, request: DescribeClientQuotasRequest, call: Call) -> Message | Refused:
        many = call.version >= _MANY_FILTERS
        if not self._access.allows_on_cluster(call.session, AclOperation.DESCRIBE_CONFIGS):
            if not many:
                return _Response(error_code=ClusterAuthorizationFailedError.code, error_message=None, entries=None)
            refused = _result(ClusterAuthorizationFailedError(UNAUTHORIZED))
            return _Response(filter_results=(refused,) * len(request.filters))
        if many:
            wanted = in_slices(request.filters)
            results = [self._result(one.components, request.strict) async for one in wanted]
            return _Response(filter_results=tuple(results))
        only = self._result(request.components, request.strict)
        return _Response(error_code=only.error_code, error_message=only.error_message, entries=only.entries)

    def _result(
        self, components: Sequence[_Component], strict: bool
    ) -> DescribeClientQuotasResponse.DescribeClientQuotasFilterResult:
        try:
            wanted = _filter(components, strict=strict)
        except ApiError as refused:
            return _result(refused)
        quotas = self._controller.image.client_quotas.by_entity
        if self._index is None:
            self._index = QuotaIndex(quotas)
        found = described_in_order(self._index.matching(wanted), len(quotas))
        entries = tuple(_entry(entity, quotas[entity]) for entity in found)
        return _Response.DescribeClientQuotasFilterResult(0, "", entries)

    async def _alter(self, request: AlterClientQuotasRequest, call: Call) -> Message | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.ALTER_CONFIGS):
            return Refused(ClusterAuthorizationFailedError.code, UNAUTHORIZED)
        alterations = [_alteration(entry) async for entry in in_slices(request.entries)]
        names = host_names(alterations)
        without_address = await unknown_hosts(names) if names else ()
        checked = QuotaAlterations(self._controller.image.client_quotas, without_address)
        async with self._controller.turn:
            async for alteration in in_slices(alterations):
                checked.add(alteration)
            if len(checked.records) > MAXIMUM_RECORDS:
                return Refused(PolicyViolationError.code, TOO_MANY_RECORDS)
            if not request.validate_only:
                self._controller.commit(checked.records)
        hashes = {each: entity_hash(each) async for each in in_slices(checked.refusals)}
        altered = in_slices(hash_order(hashes, hashes.__getitem__))
        return AlterClientQuotasResponse(
            entries=tuple([_altered(each, checked.refusals[each]) async for each in altered])
        )


async def unknown_hosts(names: Iterable[str]) -> set[str]:
    """Host names that do not resolve, or not before the timeout."""
    lookups = {asyncio.create_task(_is_host(name)): name for name in names}
    done, late = await asyncio.wait(lookups, timeout=_SECONDS_TO_LOOK_UP)
    for lookup in late:
        lookup.cancel()
    return {name for lookup, name in lookups.items() if lookup not in done or not lookup.result()}


async def _is_host(name: str) -> bool:
    try:
        await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, ValueError):
        return False
    return True


def _filter(components: Sequence[_Component], *, strict: bool) -> ClientQuotaFilter:
    """The filter of a request.

    Raises:
        ApiError: it is invalid (E6); with Kafka's message.
    """
    seen: dict[str, ClientQuotaFilterComponent] = {}
    for component in components:
        entity_type = component.entity_type
        if not entity_type:
            raise InvalidRequestError("Invalid empty entity type.")
        if entity_type in seen:
            raise InvalidRequestError(f"Entity type {entity_type} cannot appear more than once in the filter.")
        if entity_type not in ENTITY_TYPES:
            raise UnsupportedVersionError(f"Unsupported entity type {entity_type}")
        seen[entity_type] = _filter_component(component)
    if IP in seen and len(seen) > 1:
        raise InvalidRequestError(
            "Invalid entity filter component combination. "
            "IP filter component should not be used with user or clientId filter component."
        )
    return ClientQuotaFilter(tuple(seen.values()), strict)


def _filter_component(component: _Component) -> ClientQuotaFilterComponent:
    match component.match_type:
        case QuotaMatch.EXACT:
            if component.match is None:
                raise InvalidRequestError("Request specified MATCH_TYPE_EXACT, but set match string to null.")
            return ClientQuotaFilterComponent.exact(component.entity_type, component.match)
        case QuotaMatch.DEFAULT | QuotaMatch.ANY as code:
            if component.match is not None:
                kind = "DEFAULT" if code == QuotaMatch.DEFAULT else "SPECIFIED"
                raise InvalidRequestError(f"Request specified MATCH_TYPE_{kind}, but also specified a match string.")
            return ClientQuotaFilterComponent(component.entity_type, QuotaMatch(code))
    raise InvalidRequestError(f"Unknown match type {component.match_type}")


def _result(refused: ApiError) -> DescribeClientQuotasResponse.DescribeClientQuotasFilterResult:
    return _Response.DescribeClientQuotasFilterResult(refused.code, refused.message, None)


def _entry(entity: ClientQuotaEntity, values: dict[str, float]) -> DescribeClientQuotasResponse.EntryData:
    return _Response.EntryData(
        tuple(_Response.EntityData(kind, name) for kind, name in entity.items()),
        tuple(_Response.ValueData(key, values[key]) for key in keys_in_order(tuple(values))),
    )


def _alteration(entry: AlterClientQuotasRequest.EntryData) -> Alteration:
    """An alteration; of a type that is there twice, the last name counts (E9)."""
    return Alteration(
        ClientQuotaEntity({part.entity_type: part.entity_name for part in entry.entity}),
        tuple((op.key, None if op.remove else op.value) for op in entry.ops),
    )


def _altered(entity: ClientQuotaEntity, refused: str | None) -> AlterClientQuotasResponse.EntryData:
    parts = tuple(AlterClientQuotasResponse.EntityData(kind, name) for kind, name in entity.items())
    code = 0 if refused is None else InvalidRequestError.code
    return AlterClientQuotasResponse.EntryData(code, refused, parts)
