"""Client quotas: alter (admin-quotas, KIP-546)."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import TypeAlias

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, Request, failure
from kafkawire.admin.engine.wanted import Wanted
from kafkawire.admin.operations.quota_descriptions import QuotaDescriptionOperations
from kafkawire.admin.operations.quota_messages import alteration_entry, altered_entity
from kafkawire.admin.operations.topics import MAXIMUM_RECORDS
from kafkawire.admin.results import Results
from kafkawire.model.quotas.entities import ClientQuotaAlteration, ClientQuotaEntity
from kafkawire.model.quotas.validation import joined, refusal_of_alteration
from kafkawire.protocol.api_table import ApiKey
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

WantedQuotas: TypeAlias = Wanted[ClientQuotaEntity, ClientQuotaAlteration]


def wanted_quotas(alterations: Iterable[ClientQuotaAlteration]) -> WantedQuotas:
    """What is to change of each entity: several alterations of one are put together."""
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


class QuotaOperations(QuotaDescriptionOperations):
    """Client quotas."""

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
            alterations: what is to change. Several for one entity are made together; if two of them contradict each
                other, none of that entity is. Removing what is not set is a success.
            validate_only: change nothing, but have the broker check everything.
            timeout: seconds for the whole call; ``call_timeout`` of the settings by default.
            progress: told after each outcome how many of how many entities have one.

        Returns:
            Each entity to None, or to what went wrong: `InvalidRequestError`, `ClusterAuthorizationFailedError` ...
        """
        wanted = wanted_quotas(alterations)
        return await self._each(AlterClientQuotas(wanted, validate_only=validate_only), wanted.items, timeout, progress)
