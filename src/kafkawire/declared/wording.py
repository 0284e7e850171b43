"""Items and their values in words, as plans and comparisons print them."""

from __future__ import annotations

from kafkawire.declared.planned import Item
from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.acls.effect_sentences import acl_in_words
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
            return acl_in_words(item)
        case ClientQuotaEntity():
            kinds = sorted(item, reverse=True)  # the user first, as Kafka's tools have it
            return ", ".join(f"default {kind}" if item[kind] is None else f"{kind} {item[kind]}" for kind in kinds)
        case (user, mechanism):
            return f"{user} {str(mechanism).replace('_', '-')}"


def _resource_in_words(resource: ConfigResource) -> str:
    if resource == ConfigResource.broker_default():
        return "all brokers"
    return f"{_type_in_words(resource.resource_type.name)} {resource.name}"


def _type_in_words(name: str) -> str:
    return name.lower().replace("_", " ")
