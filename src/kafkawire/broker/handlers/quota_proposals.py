"""ListQuotas, DescribeQuotas and AlterQuotas of KIP-248."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Final, TypeAlias

from kafkawire.broker.controller import MAXIMUM_RECORDS
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.handlers.quota_alterations import Alteration, QuotaAlterations
from kafkawire.broker.handlers.quotas import TOO_MANY_RECORDS, UNAUTHORIZED
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.quotas.configs import DEFAULT_NAME, UNLIMITED, QuotaResourceType, number_in_words
from kafkawire.model.quotas.entities import CLIENT_ID, USER, ClientQuotaEntity
from kafkawire.protocol import (
    AlterQuotasRequest,
    AlterQuotasResponse,
    DescribeQuotasRequest,
    DescribeQuotasResponse,
    ListQuotasRequest,
    ListQuotasResponse,
)
from kafkawire.protocol.errors import ClusterAuthorizationFailedError, InvalidRequestError, PolicyViolationError
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ApiError

_ENTITY_TYPES: Final[dict[int, str]] = {QuotaResourceType.USER: USER, QuotaResourceType.CLIENT: CLIENT_ID}
_OTHER_TYPE: Final = {USER: CLIENT_ID, CLIENT_ID: USER}

_Resource: TypeAlias = DescribeQuotasRequest.QuotaConfigResource | AlterQuotasRequest.QuotaConfigResource


class QuotaProposalHandlers:
    """Answer the requests of KIP-248 (C2 to C5), which no release of Kafka has; offered as unstable APIs only."""

    def __init__(self, context: HandlerContext) -> None:
        self._controller = context.controller
        self._access = context.access
        self.apis = (
            ServedApi(ListQuotasRequest, self._list, 1, -1, highest_unstable=1),
            ServedApi(DescribeQuotasRequest, self._describe, 1, -1, highest_unstable=1),
            ServedApi(AlterQuotasRequest, self._alter, 0, -1, highest_unstable=0),
        )

    def _list(self, request: ListQuotasRequest, call: Call) -> Message:
        if not self._access.allows_on_cluster(call.session, AclOperation.DESCRIBE):
            return ListQuotasResponse(error_code=ClusterAuthorizationFailedError.code, error_message=UNAUTHORIZED)
        resource = request.quota_config_resource
        own = _ENTITY_TYPES.get(resource.type)
        if own is None:
            reason = "Quotas are of users (type 5) and clients (type 6)."
            return ListQuotasResponse(error_code=InvalidRequestError.code, error_message=reason)
        names = self._names(own) if resource.name is None else self._children(own, resource.name)
        return ListQuotasResponse(quota_config_entity_names=tuple(sorted(set(map(_word, names)))))

    def _names(self, entity_type: str) -> Iterable[str | None]:
        entities = self._controller.image.client_quotas.by_entity
        return (entity[entity_type] for entity in entities if entity_type in entity)

    def _children(self, entity_type: str, word: str) -> Iterable[str | None]:
        """The other part of each entity that has this one."""
        entities = self._controller.image.client_quotas.by_entity
        other = _OTHER_TYPE[entity_type]
        pairs = (entity for entity in entities if entity_type in entity and other in entity)
        return (entity[other] for entity in pairs if entity[entity_type] == _name(word))

    def _describe(self, request: DescribeQuotasRequest, call: Call) -> Message:
        refused: ApiError | None = None
        if not self._access.allows_on_cluster(call.session, AclOperation.DESCRIBE_CONFIGS):
            refused = ClusterAuthorizationFailedError(UNAUTHORIZED)
        return DescribeQuotasResponse(resources=tuple(self._described(one, refused) for one in request.resources))

    def _described(
        self, asked: DescribeQuotasRequest.DescribeQuotasResource, refused: ApiError | None
    ) -> DescribeQuotasResponse.DescribeQuotasResource:
        response = DescribeQuotasResponse
        parent, child = asked.quota_config_resource, asked.child_quota_config_resource
        try:
            if refused is not None:
                raise refused
            entity = _entity(parent, child)
            entries = tuple(
                entry for entry in self._entries(entity) if _is_wanted(entry.config_name, asked.config_names)
            )
            config = response.DescribeQuotasConfig(0, None, entries)
        except ApiError as error:
            config = response.DescribeQuotasConfig(error.code, error.message, ())
        return response.DescribeQuotasResource(
            response.QuotaConfigResource(asked.quota_config_resource.type, asked.quota_config_resource.name),
            response.QuotaConfigResource(
                asked.child_quota_config_resource.type, asked.child_quota_config_resource.name
            ),
            (config,),
        )

    def _entries(self, entity: ClientQuotaEntity) -> Iterable[DescribeQuotasResponse.DescribeQuotasConfigEntry]:
        """The values that are set, and Kafka's defaults for the others."""
        entry = DescribeQuotasResponse.DescribeQuotasConfigEntry
        values = self._controller.image.client_quotas.by_entity.get(entity, {})
        for name in sorted({*UNLIMITED, *values}):
            text = number_in_words(values[name]) if name in values else UNLIMITED[name]
            yield entry(name, text, read_only=False, is_default=name not in values, is_sensitive=False)

    async def _alter(self, request: AlterQuotasRequest, call: Call) -> Message:
        if not self._access.allows_on_cluster(call.session, AclOperation.ALTER_CONFIGS):
            return _altered_all(request, ClusterAuthorizationFailedError(UNAUTHORIZED))
        async with self._controller.turn:
            alterations = QuotaAlterations(self._controller.image.client_quotas, ())
            asked = in_slices(request.resources)
            resources = [_altered(resource, _refusal(resource, alterations)) async for resource in asked]
            if len(alterations.records) > MAXIMUM_RECORDS:
                return _altered_all(request, PolicyViolationError(TOO_MANY_RECORDS))
            if not request.validate_only:
                self._controller.commit(alterations.records)
        return AlterQuotasResponse(resources=tuple(resources))


def _refusal(asked: AlterQuotasRequest.AlterQuotasResource, alterations: QuotaAlterations) -> ApiError | None:
    """Why the alteration of an entity is refused, or None if it is not."""
    try:
        entity = _entity(asked.quota_config_resource, asked.child_quota_config_resource)
        values = tuple((config.config_name, _value(config)) for config in asked.configs)
    except ApiError as error:
        return error
    alterations.add(Alteration(entity, values))
    reason = alterations.refusals[entity]
    return None if reason is None else InvalidRequestError(reason)


def _value(config: AlterQuotasRequest.AlterQuotasConfig) -> float | None:
    """The number, or None to remove the value."""
    if not config.config_value:
        return None
    try:
        value = float(config.config_value)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise InvalidRequestError(f"{config.config_name} must be a number, not {config.config_value!r}.")
    return value


def _altered_all(request: AlterQuotasRequest, error: ApiError) -> Message:
    return AlterQuotasResponse(resources=tuple(_altered(asked, error) for asked in request.resources))


def _altered(
    asked: AlterQuotasRequest.AlterQuotasResource, refused: ApiError | None
) -> AlterQuotasResponse.AlterQuotasResource:
    """The outcome of an entity, repeated for each of its configs; a refusal without configs has one without a name."""
    response = AlterQuotasResponse
    parent, child = asked.quota_config_resource, asked.child_quota_config_resource
    names = [config.config_name for config in asked.configs] or ([] if refused is None else [""])
    code, message = (0, None) if refused is None else (refused.code, refused.message)
    return response.AlterQuotasResource(
        response.QuotaConfigResource(parent.type, parent.name),
        response.QuotaConfigResource(child.type, child.name),
        tuple(response.AlterQuotasConfig(code, message, name) for name in names),
    )


def _entity(parent: _Resource, child: _Resource) -> ClientQuotaEntity:
    """A user, a client, or both in either order.

    Raises:
        InvalidRequestError: the resources are something else.
    """
    parts: dict[str, str | None] = {}
    for resource in (parent, child):
        if resource is child and resource.type == QuotaResourceType.UNKNOWN and resource.name is None:
            continue
        entity_type = _ENTITY_TYPES.get(resource.type)
        if entity_type is None or entity_type in parts or not resource.name:
            raise InvalidRequestError("Quota configs are of a user, of a client, or of one of each, by their names.")
        parts[entity_type] = _name(resource.name)
    return ClientQuotaEntity(parts)


def _is_wanted(name: str, names: Iterable[str] | None) -> bool:
    return names is None or name in names


def _word(name: str | None) -> str:
    return DEFAULT_NAME if name is None else name


def _name(word: str) -> str | None:
    return None if word == DEFAULT_NAME else word
