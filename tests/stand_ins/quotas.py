"""The client quotas of a stand-in broker: by KIP-546, with the batches of KIP-888, and by KIP-248."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.stand_ins.cluster import NodeHandler

from kafkawire.model.quotas.entities import (
    CLIENT_ID,
    USER,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
    QuotaMatch,
)
from kafkawire.model.quotas.matching import matches
from kafkawire.protocol import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    AlterQuotasRequest,
    AlterQuotasResponse,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    DescribeQuotasRequest,
    DescribeQuotasResponse,
    ListQuotasRequest,
    ListQuotasResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.rpc import Request
from kafkawire.wire import Message

_TYPES = {5: USER, 6: CLIENT_ID}
_DEFAULT = "<default>"
_NO_LIMIT = {
    "producer_byte_rate": "9223372036854775807",
    "consumer_byte_rate": "9223372036854775807",
    "request_percentage": "2147483647.0",
    "controller_mutation_rate": "2147483647.0",
}

Components = Sequence[DescribeClientQuotasRequest.ComponentData]


class StandInQuotas:
    """What quotas there are; handlers for any number of nodes.

    Args:
        quotas: those that are there from the beginning.
        limit: how many metadata records one request may make.

    Attributes:
        quotas: tests may look at them and change them.
        refusal: what every request is answered instead, such as CLUSTER_AUTHORIZATION_FAILED.
    """

    def __init__(
        self, quotas: Mapping[ClientQuotaEntity, Mapping[str, float]] | None = None, *, limit: int = 10_000
    ) -> None:
        self.quotas = {entity: dict(values) for entity, values in (quotas or {}).items()}
        self.limit = limit
        self.refusal: tuple[ErrorCode, str] | None = None

    @property
    def handlers(self) -> dict[type[Message], NodeHandler]:
        """Of KIP-546, for a `StandInCluster`."""
        return {DescribeClientQuotasRequest: self._describe, AlterClientQuotasRequest: self._alter}

    @property
    def kip_248_handlers(self) -> dict[type[Message], NodeHandler]:
        """Of KIP-248."""
        return {
            ListQuotasRequest: self._list_names,
            DescribeQuotasRequest: self._describe_configs,
            AlterQuotasRequest: self._alter_configs,
        }

    def _describe(self, _: int, request: Request) -> Message:
        body = request.body
        assert isinstance(body, DescribeClientQuotasRequest)
        response = DescribeClientQuotasResponse
        if request.header.request_api_version < 2:
            return response(0, *self._entries(body.components, strict=body.strict))
        results = [self._entries(one.components, strict=body.strict) for one in body.filters]
        return response(filter_results=[response.DescribeClientQuotasFilterResult(*result) for result in results])

    def _entries(
        self, components: Components, *, strict: bool
    ) -> tuple[int, str | None, list[DescribeClientQuotasResponse.EntryData] | None]:
        if self.refusal is not None:
            return *self.refusal, None
        types = [component.entity_type for component in components]
        if len(set(types)) < len(types) or any(c.match_type not in (0, 1, 2) for c in components):
            return ErrorCode.INVALID_REQUEST, "no such filter", None
        if not set(types) <= {USER, CLIENT_ID, "ip"}:
            return ErrorCode.UNSUPPORTED_VERSION, "no such type", None
        wanted = ClientQuotaFilter(
            tuple(ClientQuotaFilterComponent(c.entity_type, QuotaMatch(c.match_type), c.match) for c in components),
            strict,
        )
        response = DescribeClientQuotasResponse
        found = [
            response.EntryData(
                [response.EntityData(*part) for part in entity.items()],
                [response.ValueData(*value) for value in values.items()],
            )
            for entity, values in self.quotas.items()
            if values and matches(wanted, entity)
        ]
        return 0, "", found

    def _alter(self, _: int, request: Request) -> Message:
        body = request.body
        assert isinstance(body, AlterClientQuotasRequest)
        results: dict[ClientQuotaEntity, tuple[int, str | None]] = {}
        excessive = sum(len(entry.ops) for entry in body.entries) > self.limit
        for entry in body.entries:
            entity = ClientQuotaEntity({part.entity_type: part.entity_name for part in entry.entity})
            if self.refusal is not None:
                results[entity] = self.refusal
            elif excessive:
                results[entity] = ErrorCode.POLICY_VIOLATION, "Request parameters do not satisfy the configured policy."
            elif entity in results:
                results[entity] = ErrorCode.INVALID_REQUEST, "Ignoring duplicate entity"
            else:
                changes = {op.key: None if op.remove else op.value for op in entry.ops}
                results[entity] = self._change(entity, changes, validate_only=body.validate_only)
        response = AlterClientQuotasResponse
        return response(
            entries=[
                response.EntryData(*result, [response.EntityData(*part) for part in entity.items()])
                for entity, result in reversed(results.items())  # the order is not that of the request
            ]
        )

    def _change(
        self, entity: ClientQuotaEntity, changes: Mapping[str, float | None], *, validate_only: bool
    ) -> tuple[int, str | None]:
        if any(value is not None and value <= 0 for value in changes.values()):
            return ErrorCode.INVALID_REQUEST, "must be positive"
        if not validate_only:
            values = self.quotas.setdefault(entity, {})
            for key, value in changes.items():
                if value is None:
                    values.pop(key, None)
                else:
                    values[key] = value
        return 0, None

    # KIP-248.

    def _list_names(self, _: int, request: Request) -> Message:
        assert isinstance(request.body, ListQuotasRequest)
        resource = request.body.quota_config_resource
        own = _TYPES[resource.type]
        listed = own if resource.name is None else next(type_ for type_ in _TYPES.values() if type_ != own)
        if self.refusal is not None:
            return ListQuotasResponse(0, *self.refusal)
        names = [
            _DEFAULT if (name := entity[listed]) is None else name
            for entity, values in self.quotas.items()
            if values and listed in entity and (resource.name is None or _named(entity, own) == resource.name)
        ]
        return ListQuotasResponse(quota_config_entity_names=names)

    def _describe_configs(self, _: int, request: Request) -> Message:
        assert isinstance(request.body, DescribeQuotasRequest)
        response = DescribeQuotasResponse
        resources = []
        for one in request.body.resources:
            entity = _entity(one.quota_config_resource, one.child_quota_config_resource)
            configs = {name: (value, True) for name, value in _NO_LIMIT.items()}
            configs.update({name: (str(value), False) for name, value in self.quotas.get(entity, {}).items()})
            entries = [
                response.DescribeQuotasConfigEntry(name, value, is_default=is_default)
                for name, (value, is_default) in configs.items()
                if one.config_names is None or name in one.config_names
            ]
            refused = [response.DescribeQuotasConfig(*self.refusal)] if self.refusal else None
            parent, child = (
                response.QuotaConfigResource(resource.type, resource.name)
                for resource in (one.quota_config_resource, one.child_quota_config_resource)
            )
            described = refused or [response.DescribeQuotasConfig(0, None, entries)]
            resources.append(response.DescribeQuotasResource(parent, child, described))
        return response(resources=resources)

    def _alter_configs(self, _: int, request: Request) -> Message:
        assert isinstance(request.body, AlterQuotasRequest)
        response = AlterQuotasResponse
        resources = []
        for one in request.body.resources:
            entity = _entity(one.quota_config_resource, one.child_quota_config_resource)
            changes = {c.config_name: float(c.config_value) if c.config_value else None for c in one.configs}
            result = self.refusal or self._change(entity, changes, validate_only=request.body.validate_only)
            parent, child = (
                response.QuotaConfigResource(resource.type, resource.name)
                for resource in (one.quota_config_resource, one.child_quota_config_resource)
            )
            altered = [response.AlterQuotasConfig(*result, name) for name in changes]
            resources.append(response.AlterQuotasResource(parent, child, altered))
        return response(resources=resources)


def _named(entity: ClientQuotaEntity, entity_type: str) -> str | None:
    if entity_type not in entity:
        return None
    name = entity[entity_type]
    return _DEFAULT if name is None else name


def _entity(
    *resources: DescribeQuotasRequest.QuotaConfigResource | AlterQuotasRequest.QuotaConfigResource,
) -> ClientQuotaEntity:
    return ClientQuotaEntity(
        {_TYPES[one.type]: None if one.name == _DEFAULT else one.name for one in resources if one.type}
    )
