"""Items and their values in words, as plans and comparisons print them."""

from __future__ import annotations

from kafkawire.declared.planned import Item
from kafkawire.model.acls.bindings import WILDCARD, AclBinding, AclPermissionType, PatternType, ResourceType
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaEntity

HIDDEN = "(hidden)"
"""Takes the place of a secret."""


def item_in_words(item: Item) -> str:
    """An item: ``orders``, ``broker 1``, ``User:etl may READ topic orders``, ``user etl``, ``etl SCRAM-SHA-512``."""
    match item:
        case str():
            return item
        case ConfigResource():
            return _resource_in_words(item)
        case AclBinding():
            return _acl_in_words(item)
        case ClientQuotaEntity():
            kinds = sorted(item, reverse=True)  # the user first, as Kafka's tools have it
            return ", ".join(f"default {kind}" if item[kind] is None else f"{kind} {item[kind]}" for kind in kinds)
        case (user, mechanism):
            return f"{user} {str(mechanism).replace('_', '-')}"


def number_in_words(number: float) -> str:
    """A quota without the point of a whole number."""
    return str(int(number)) if number.is_integer() else str(number)


def _resource_in_words(resource: ConfigResource) -> str:
    if resource == ConfigResource.broker_default():
        return "all brokers"
    return f"{_type_in_words(resource.resource_type.name)} {resource.name}"


def _acl_in_words(acl: AclBinding) -> str:
    may = "may not" if acl.permission_type is AclPermissionType.DENY else "may"
    host = "" if acl.host == WILDCARD else f" from {acl.host}"
    return f"{acl.principal} {may} {acl.operation.name} {_resources_in_words(acl)}{host}"


def _resources_in_words(acl: AclBinding) -> str:
    kind = _type_in_words(acl.resource_type.name)
    if acl.pattern_type is PatternType.PREFIXED:
        return f"{kind}s with prefix {acl.resource_name}"
    if acl.resource_type is ResourceType.CLUSTER:
        return "the cluster"
    return f"all {kind}s" if acl.resource_name == WILDCARD else f"{kind} {acl.resource_name}"


def _type_in_words(name: str) -> str:
    return name.lower().replace("_", " ")
