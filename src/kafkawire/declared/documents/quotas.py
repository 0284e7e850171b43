"""``quotas``: the quotas of users, client ids and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType
from typing import Final

from kafkawire.declared.documents.fields import Reading
from kafkawire.declared.documents.nodes import Node, Scalar, Sequence, Table
from kafkawire.declared.documents.problems import Rule
from kafkawire.declared.planned import Kind
from kafkawire.declared.wording import item_in_words
from kafkawire.model.quotas.entities import (
    CLIENT_ID,
    CLIENT_KEYS,
    IP,
    IP_KEYS,
    USER,
    ClientQuotaAlteration,
    ClientQuotaEntity,
)
from kafkawire.model.quotas.validation import refusal_of_alteration

ENTITIES: Final[Mapping[str, str]] = MappingProxyType({"user": USER, "client_id": CLIENT_ID, "ip": IP})
"""The keys of whom a quota is for."""

QUOTAS: Final = (*CLIENT_KEYS, *IP_KEYS)
KEYS: Final = (*ENTITIES, *QUOTAS)
DEFAULT: Final = "default"

_MOST_ENTITIES: Final = 1_000_000


def read_quotas(node: Node, reading: Reading) -> None:
    """Read the entries of a document."""
    if isinstance(node, Scalar) and node.is_null:
        return
    if not isinstance(node, Sequence):
        reading.error(node, Rule.STRUCTURE, "quotas: expected a list of entries", "begin each entry with - user:")
        return
    for entry in node.items:
        _read_entry(entry, reading)


def _read_entry(node: Node, reading: Reading) -> None:
    before = reading.errors
    given = reading.known(node, "an entry of quotas", KEYS)
    if not isinstance(node, Table):
        return
    parts = {
        type_: [_part(each, key, reading) for each in reading.items(given[key])]
        for key, type_ in ENTITIES.items()
        if key in given
    }
    values: dict[str, float | None] = {}
    for key in QUOTAS:
        if key in given:
            value = given[key]
            is_unset = isinstance(value, Scalar) and value.is_null
            values[key] = None if is_unset else reading.number(value, key)
    if reading.errors > before:
        return
    if not parts:
        reading.error(node, Rule.STRUCTURE, "an entry of quotas is for none", f"write {', '.join(ENTITIES)}")
    elif not any(key in given for key in QUOTAS):
        reading.error(node, Rule.STRUCTURE, "an entry of quotas has no quota", f"write one of {', '.join(QUOTAS)}")
    if reading.errors > before:
        return
    if len(parts) == 1:
        (type_, names), *_ = parts.items()
        for name in names:
            add_quota(node, ClientQuotaEntity({type_: name}), values, reading)
        return
    for count, names_of_entity in enumerate(product(*parts.values())):
        if count == _MOST_ENTITIES:
            reading.error(node, Rule.VALUE, f"the entry is for more than {_MOST_ENTITIES} entities", "use defaults")
            return
        entity = ClientQuotaEntity(dict(zip(parts, names_of_entity, strict=True)))
        add_quota(node, entity, values, reading)


def _part(node: Node, key: str, reading: Reading) -> str | None:
    """A name; None for the default, or with a problem."""
    if not isinstance(node, Table):
        return reading.name(node, key)
    found = reading.only(node, key, (DEFAULT,))
    if found is not None and reading.boolean(found[1], DEFAULT) is False:
        reading.error(node, Rule.STRUCTURE, f"{key}: only default: true has a meaning", "write a name")
    return None


def add_quota(node: Node, entity: ClientQuotaEntity, values: Mapping[str, float | None], reading: Reading) -> None:
    """Add the quotas of an entity, if brokers accept them."""
    refusal = refusal_of_alteration(ClientQuotaAlteration(entity, values))
    if refusal is not None:
        message = str(refusal.message).rstrip(".")
        named = node.by_name.get(message.partition(" ")[0]) if isinstance(node, Table) else None
        reading.error(named or node, Rule.VALUE, message, "correct the entry")
    elif reading.is_new(Kind.QUOTAS, entity, node, f"the quota of {item_in_words(entity)}"):
        reading.quotas[entity] = dict(values)
