"""Waiting until client quotas hold everywhere: brokers learn of changes one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Request
from kafkawire.admin.engine.route import OnNode, Route
from kafkawire.admin.operations.every_node import EveryNodeFamily, ItemOnNode
from kafkawire.admin.operations.quota_messages import described_quotas, filter_components
from kafkawire.admin.operations.quotas import WantedQuotas, wanted_quotas
from kafkawire.admin.results import Results
from kafkawire.model.quotas.entities import ClientQuotaAlteration, ClientQuotaEntity, ClientQuotaFilter
from kafkawire.model.quotas.validation import refusal_of_alteration
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import ResourceNotFoundError, error_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError


class SeeClientQuotas(Operation[ItemOnNode[ClientQuotaEntity], None, "protocol.DescribeClientQuotasResponse"]):
    """Fails, and so is tried again, while a node does not know of an alteration.

    Args:
        wanted: what they are to know of each entity.
    """

    name = "wait_for_client_quotas"
    api = ApiKey.DESCRIBE_CLIENT_QUOTAS
    lacks = "filters"
    retried_codes = frozenset({ErrorCode.RESOURCE_NOT_FOUND})

    def __init__(self, wanted: WantedQuotas) -> None:
        self._wanted = wanted

    def validate(self, item: ItemOnNode[ClientQuotaEntity]) -> KafkaError | None:
        return self._wanted.refused.get(item.item) or refusal_of_alteration(self._wanted.values[item.item])

    def route_of(self, item: ItemOnNode[ClientQuotaEntity]) -> Route:
        return OnNode(item.node)

    def build(self, request: Request[ItemOnNode[ClientQuotaEntity]]) -> Message:
        first, *others = request.items
        wanted = ClientQuotaFilter() if others else ClientQuotaFilter.of_entity(first.item)
        return protocol.DescribeClientQuotasRequest(filter_components(wanted), wanted.strict)

    def read(
        self, request: Request[ItemOnNode[ClientQuotaEntity]], response: protocol.DescribeClientQuotasResponse
    ) -> Outcomes[ItemOnNode[ClientQuotaEntity], None]:
        if response.error_code:
            return dict.fromkeys(request.items, error_of(response.error_code, response.error_message))
        there = described_quotas(response.entries or ())
        return {item: self._not_yet(item.item, there.get(item.item, {})) for item in request.items}

    def _not_yet(self, entity: ClientQuotaEntity, there: Mapping[str, float]) -> KafkaError | None:
        others = sorted(key for key, value in self._wanted.values[entity].values.items() if there.get(key) != value)
        return ResourceNotFoundError(f"another value, or none, of {', '.join(others)}") if others else None


class QuotaVisibilityOperations(EveryNodeFamily):
    """Whether client quotas hold everywhere."""

    async def wait_for_client_quotas(
        self, alterations: Iterable[ClientQuotaAlteration], *, timeout: float | None = None
    ) -> Results[ClientQuotaEntity, None]:
        """Wait until all live brokers know of alterations: have the values, and have no more what was removed.

        Quotas that were just altered are not known to every broker at once.

        Args:
            alterations: what `alter_client_quotas` was given.
            timeout: seconds to wait at most; ``call_timeout`` of the settings by default.

        Returns:
            Each entity to None, or to what one of the brokers still said at the end: `OperationTimeoutError`, caused
            by `ResourceNotFoundError`; `ClusterAuthorizationFailedError` at once ...

        Raises:
            KafkaError: if no broker tells which there are.
        """
        wanted = wanted_quotas(alterations)
        return await self._wait_on_every_node(SeeClientQuotas(wanted), wanted.items, timeout)
