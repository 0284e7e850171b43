"""The calls of KIP-248: quotas as configs of users and clients, listed, described and altered.

Where a broker has the KIP's own requests and the settings allow ``proposals``, these are sent; elsewhere the same
answers come from the requests of KIP-546.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, Request
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.quotas import AlterClientQuotas, described_quotas, filter_components, wanted_quotas
from kafkawire.admin.operations.record_limit import MAXIMUM_RECORDS
from kafkawire.admin.results import Results
from kafkawire.model.quotas.configs import (
    DEFAULT_NAME,
    UNLIMITED,
    QuotaConfig,
    QuotaResource,
    QuotaResourceType,
    number_in_words,
    quota_entity,
    refusal_of_entity,
)
from kafkawire.model.quotas.entities import (
    CLIENT_ID,
    USER,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
)
from kafkawire.model.quotas.validation import refusal_of_alteration
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import InvalidRequestError, error_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

Configs: TypeAlias = Mapping[str, QuotaConfig]
NewConfigs: TypeAlias = Mapping[str, str | float | None]

_TYPES = {USER: QuotaResourceType.USER, CLIENT_ID: QuotaResourceType.CLIENT}
_ENTITY_TYPES: dict[int, str] = {code: entity_type for entity_type, code in _TYPES.items()}
_OTHER_TYPE = {USER: CLIENT_ID, CLIENT_ID: USER}


class ListQuotas(Operation[QuotaResource, tuple[str, ...], "protocol.ListQuotasResponse"]):
    """The names of users or clients that have quotas, or of those of one of them."""

    name = "list_quotas"
    api = ApiKey.LIST_QUOTAS

    def validate(self, item: QuotaResource) -> KafkaError | None:
        return _refusal_of_resource(item)

    def build(self, request: Request[QuotaResource]) -> Message:
        (resource,) = request.items
        message = protocol.ListQuotasRequest
        return message(message.QuotaConfigResource(resource.resource_type, resource.name))

    def read(
        self, request: Request[QuotaResource], response: protocol.ListQuotasResponse
    ) -> Outcomes[QuotaResource, tuple[str, ...]]:
        return {request.items[0]: tuple(sorted(set(response.quota_config_entity_names)))}

    def fallback(self) -> Operation[QuotaResource, tuple[str, ...], protocol.DescribeClientQuotasResponse]:
        return ListQuotasInClientQuotas()


class ListQuotasInClientQuotas(Operation[QuotaResource, tuple[str, ...], "protocol.DescribeClientQuotasResponse"]):
    """The same by KIP-546."""

    name = "list_quotas"
    api = ApiKey.DESCRIBE_CLIENT_QUOTAS
    lacks = "filters"

    def build(self, request: Request[QuotaResource]) -> Message:
        (resource,) = request.items
        entity_type = _ENTITY_TYPES[resource.resource_type]
        component = ClientQuotaFilterComponent
        components = [component.any(entity_type)]
        if resource.name is not None:
            is_default = resource.name == DEFAULT_NAME
            own = component.default(entity_type) if is_default else component.exact(entity_type, resource.name)
            components = [own, component.any(_OTHER_TYPE[entity_type])]
        return protocol.DescribeClientQuotasRequest(filter_components(ClientQuotaFilter(tuple(components))))

    def read(
        self, request: Request[QuotaResource], response: protocol.DescribeClientQuotasResponse
    ) -> Outcomes[QuotaResource, tuple[str, ...]]:
        (resource,) = request.items
        own = _ENTITY_TYPES[resource.resource_type]
        listed = own if resource.name is None else _OTHER_TYPE[own]
        names = {
            DEFAULT_NAME if (name := e[listed]) is None else name for e in described_quotas(response.entries or ())
        }
        return {resource: tuple(sorted(names))}


class DescribeQuotas(Operation[ClientQuotaEntity, Configs, "protocol.DescribeQuotasResponse"]):
    """The configs of entities.

    Args:
        names: which configs; None for all.
    """

    name = "describe_quotas"
    api = ApiKey.DESCRIBE_QUOTAS

    def __init__(self, names: Collection[str] | None) -> None:
        self._names = names

    def validate(self, item: ClientQuotaEntity) -> KafkaError | None:
        return refusal_of_entity(item)

    def build(self, request: Request[ClientQuotaEntity]) -> Message:
        names = None if self._names is None else tuple(self._names)
        return protocol.DescribeQuotasRequest(tuple(_described(entity, names) for entity in request.items))

    def read(
        self, request: Request[ClientQuotaEntity], response: protocol.DescribeQuotasResponse
    ) -> Outcomes[ClientQuotaEntity, Configs]:
        return {
            _entity(resource.quota_config_resource, resource.child_quota_config_resource): _configs(resource)
            for resource in response.resources
        }

    def fallback(self) -> Operation[ClientQuotaEntity, Configs, protocol.DescribeClientQuotasResponse]:
        return DescribeQuotasInClientQuotas(self._names)


def _described(
    entity: ClientQuotaEntity, names: Sequence[str] | None
) -> protocol.DescribeQuotasRequest.DescribeQuotasResource:
    message = protocol.DescribeQuotasRequest
    parent, child = _parent_and_child(entity)
    return message.DescribeQuotasResource(
        message.QuotaConfigResource(*parent), message.QuotaConfigResource(*child), names
    )


def _configs(resource: protocol.DescribeQuotasResponse.DescribeQuotasResource) -> Configs | KafkaError:
    for config in resource.configs:
        if config.error_code:
            return error_of(config.error_code, config.error_message)
    entries = sorted(
        (entry for config in resource.configs for entry in config.config_entries), key=lambda entry: entry.config_name
    )
    return {
        entry.config_name: QuotaConfig(
            entry.config_name,
            number_in_words(entry.config_value),
            entry.read_only,
            entry.is_default,
            entry.is_sensitive,
        )
        for entry in entries
    }


class DescribeQuotasInClientQuotas(Operation[ClientQuotaEntity, Configs, "protocol.DescribeClientQuotasResponse"]):
    """The same by KIP-546, whose answers leave out what is not set."""

    name = "describe_quotas"
    api = ApiKey.DESCRIBE_CLIENT_QUOTAS
    lacks = "filters"
    batch = 1

    def __init__(self, names: Collection[str] | None) -> None:
        self._names = names

    def build(self, request: Request[ClientQuotaEntity]) -> Message:
        wanted = ClientQuotaFilter.of_entity(request.items[0])
        return protocol.DescribeClientQuotasRequest(filter_components(wanted), wanted.strict)

    def read(
        self, request: Request[ClientQuotaEntity], response: protocol.DescribeClientQuotasResponse
    ) -> Outcomes[ClientQuotaEntity, Configs]:
        (entity,) = request.items
        values = described_quotas(response.entries or ()).get(entity, {})
        configs = {name: QuotaConfig(name, value, is_default=True) for name, value in UNLIMITED.items()}
        configs.update({name: QuotaConfig(name, number_in_words(value)) for name, value in values.items()})
        return {entity: {name: configs[name] for name in sorted(configs) if self._names is None or name in self._names}}


class AlterQuotas(Operation[ClientQuotaEntity, None, "protocol.AlterQuotasResponse"]):
    """Set and remove configs of entities. An empty value removes a config: the KIP has no other form for it."""

    name = "alter_quotas"
    api = ApiKey.ALTER_QUOTAS
    mutates = True
    batch = MAXIMUM_RECORDS

    def __init__(self, configs: Mapping[ClientQuotaEntity, NewConfigs], *, validate_only: bool) -> None:
        self._configs = configs
        self._validate_only = validate_only

    def validate(self, item: ClientQuotaEntity) -> KafkaError | None:
        refused = refusal_of_entity(item)
        if refused is not None:
            return refused
        try:
            return refusal_of_alteration(self._alteration(item))
        except ValueError as error:
            return InvalidRequestError(f"A quota must be a number: {error}.")

    def weight(self, item: ClientQuotaEntity) -> int:
        return max(1, len(self._configs[item]))

    def build(self, request: Request[ClientQuotaEntity]) -> Message:
        return protocol.AlterQuotasRequest(
            self._validate_only, tuple(_altered(entity, self._configs[entity]) for entity in request.items)
        )

    def read(
        self, request: Request[ClientQuotaEntity], response: protocol.AlterQuotasResponse
    ) -> Outcomes[ClientQuotaEntity, None]:
        return {
            _entity(resource.quota_config_resource, resource.child_quota_config_resource): _first_error(resource)
            for resource in response.resources
        }

    def fallback(self) -> Operation[ClientQuotaEntity, None, protocol.AlterClientQuotasResponse]:
        sound = (self._alteration(entity) for entity in self._configs if self.validate(entity) is None)
        return AlterClientQuotas(wanted_quotas(sound), validate_only=self._validate_only)

    def _alteration(self, entity: ClientQuotaEntity) -> ClientQuotaAlteration:
        configs = self._configs[entity]
        return ClientQuotaAlteration(
            entity, {name: None if value is None else float(value) for name, value in configs.items()}
        )


def _altered(entity: ClientQuotaEntity, configs: NewConfigs) -> protocol.AlterQuotasRequest.AlterQuotasResource:
    message = protocol.AlterQuotasRequest
    parent, child = _parent_and_child(entity)
    return message.AlterQuotasResource(
        message.QuotaConfigResource(*parent),
        message.QuotaConfigResource(*child),
        tuple(
            message.AlterQuotasConfig(name, "" if value is None else number_in_words(value))
            for name, value in configs.items()
        ),
    )


def _first_error(resource: protocol.AlterQuotasResponse.AlterQuotasResource) -> KafkaError | None:
    for config in resource.configs:
        if config.error_code:
            return error_of(config.error_code, config.error_message or config.config_name)
    return None


def _refusal_of_resource(resource: QuotaResource) -> KafkaError | None:
    if resource.resource_type not in _ENTITY_TYPES:
        return InvalidRequestError(f"Quotas are of a USER or a CLIENT, not of a {resource.resource_type}.")
    return None


def _parent_and_child(entity: ClientQuotaEntity) -> tuple[tuple[int, str | None], tuple[int, str | None]]:
    """Types and names; a client of a user is the child, and no child has type 0."""
    given: list[tuple[int, str | None]] = [
        (int(code), DEFAULT_NAME if entity[entity_type] is None else entity[entity_type])
        for entity_type, code in _TYPES.items()
        if entity_type in entity
    ]
    return given[0], given[1] if len(given) > 1 else (int(QuotaResourceType.UNKNOWN), None)


def _entity(
    *resources: protocol.DescribeQuotasResponse.QuotaConfigResource | protocol.AlterQuotasResponse.QuotaConfigResource,
) -> ClientQuotaEntity:
    return ClientQuotaEntity(
        {
            _ENTITY_TYPES[resource.type]: None if resource.name == DEFAULT_NAME else resource.name
            for resource in resources
            if resource.type in _ENTITY_TYPES
        }
    )


class QuotaConfigOperations(OperationFamily):
    """Quotas with the names of KIP-248."""

    @needs(ListQuotas, ListQuotasInClientQuotas, rights="DESCRIBE_CONFIGS CLUSTER")
    async def list_quotas(
        self, resource_type: QuotaResourceType, name: str | None = None, *, timeout: float | None = None
    ) -> tuple[str, ...]:
        """The names of the users or the clients that have quotas, sorted; ``<default>`` is the default.

        Args:
            resource_type: ``USER`` or ``CLIENT``.
            name: of a user, to list the clients that have quotas together with it, or the other way round. None for
                all users or clients that have quotas, alone or together.
            timeout: see `AdminClient`.

        Raises:
            KafkaError: if no broker answers.

        Example:
            ```python
            for user in await admin.list_quotas(QuotaResourceType.USER):
                clients = await admin.list_quotas(QuotaResourceType.CLIENT, user)
                print(user, "has quotas, and with it the clients", ", ".join(clients))
            ```
        """
        return await self._only(ListQuotas(), QuotaResource(resource_type, name), timeout)

    @needs(DescribeQuotas, DescribeQuotasInClientQuotas, rights="DESCRIBE_CONFIGS CLUSTER")
    async def describe_quotas(
        self,
        user: str | None = None,
        client_id: str | None = None,
        configs: Iterable[str] | None = None,
        *,
        timeout: float | None = None,
    ) -> Results[ClientQuotaEntity, Configs]:
        """The quotas of a user, of a client, or of a client of a user.

        Args:
            user: name of the user, ``<default>`` for the default user, None for any.
            client_id: the client, likewise; one of the two is needed.
            configs: names of the quotas; None for all.
            timeout: see `AdminClient`.

        Returns:
            The one entity to its configs by name, those included that are not set, or to what went wrong.

        Raises:
            ValueError: if neither user nor client is given.

        Example:
            ```python
            results = await admin.describe_quotas(user="billing")
            for entity, quotas in results.all().items():
                for quota in quotas.values():
                    print(dict(entity), quota.name, quota.value, "by default" if quota.is_default else "")
            ```
        """
        names = None if configs is None else frozenset(configs)
        return await self._each(DescribeQuotas(names), (quota_entity(user, client_id),), timeout)

    @needs(AlterQuotas, AlterClientQuotas, rights="ALTER_CONFIGS CLUSTER")
    async def alter_quotas(
        self,
        configs: Mapping[ClientQuotaEntity, NewConfigs],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[ClientQuotaEntity, None]:
        """Set and remove quotas of users and clients.

        Args:
            configs: entity to the quotas to change, name to value; None removes one, and those that are not named stay.
            validate_only: change nothing, but have the broker check everything.
            timeout, progress: see `AdminClient`.

        Returns:
            Each entity to None, or to what went wrong: `InvalidRequestError`, `ClusterAuthorizationFailedError` ...

        Example:
            ```python
            billing = ClientQuotaEntity(user="billing")
            (await admin.alter_quotas({billing: {"producer_byte_rate": 5_000_000, "consumer_byte_rate": None}})).all()
            ```
        """
        return await self._each(AlterQuotas(configs, validate_only=validate_only), configs, timeout, progress)
