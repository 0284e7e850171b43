"""What is wrong with a filter or an alteration of quotas, said before anything is sent and with the broker's code."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from kafkawire.model.quotas.entities import (
    CLIENT_ID,
    CLIENT_KEYS,
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
    IP,
    IP_KEYS,
    PRODUCER_BYTE_RATE,
    USER,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    QuotaMatch,
)
from kafkawire.protocol.errors import InvalidRequestError, UnsupportedVersionError
from kafkawire.wire.kafka_errors import ApiError

ENTITY_TYPES = (USER, CLIENT_ID, IP)
"""Whom quotas are for."""

HIGHEST_WHOLE: Mapping[str, float] = {
    PRODUCER_BYTE_RATE: 2.0**63,  # as brokers compare: 2**63 - 1 is no float64
    CONSUMER_BYTE_RATE: 2.0**63,
    CONNECTION_CREATION_RATE: 2.0**31 - 1,
}
"""The keys whose values are whole numbers, and the highest value of each (E13)."""

_TOLERANCE = 1e-6
"""How far above a whole number brokers accept a value for one."""

_HOST_NAME = r"(?!-)[A-Za-z0-9_-]{1,63}(?:\.(?!-)[A-Za-z0-9_-]{1,63})*\.?"


def refusal_of_filter(wanted: ClientQuotaFilter) -> ApiError | None:
    """Why a broker refuses to describe what a filter means, or None if it does not (E6)."""
    seen: set[str] = set()
    for component in wanted.components:
        if not component.entity_type:
            return InvalidRequestError("An entity type is empty.")
        if component.entity_type not in ENTITY_TYPES:
            return UnsupportedVersionError(f"{component.entity_type!r} is no entity type; {_TYPES_SAID} are.")
        if component.entity_type in seen:
            return InvalidRequestError(f"The entity type {component.entity_type} is given more than once.")
        if component.match_type.name not in QuotaMatch.__members__:
            return InvalidRequestError(f"{component.match_type.value} is no type of match.")
        if (component.name is not None) != (component.match_type is QuotaMatch.EXACT):
            return InvalidRequestError(
                f"A match of type {component.match_type} {'needs a' if component.name is None else 'has no'} name."
            )
        seen.add(component.entity_type)
    return _refusal_of_combination(seen)


def refusal_of_alteration(alteration: ClientQuotaAlteration) -> ApiError | None:
    """Why a broker refuses an alteration, or None if it does not (E11)."""
    refused = _refusal_of_entity(alteration.entity)
    if refused is not None:
        return refused
    possible = IP_KEYS if IP in alteration.entity else CLIENT_KEYS
    for key, value in alteration.values.items():
        if value is None:
            continue  # whatever is not there can be removed
        if key not in possible:
            verb = "are" if len(possible) > 1 else "is"
            return InvalidRequestError(
                f"{key!r} is no quota of {_said(alteration.entity)}; {', '.join(possible)} {verb}."
            )
        reason = _reason_against(key, value)
        if reason is not None:
            return InvalidRequestError(f"{key} cannot be {value!r}: {reason}.")
    return None


def joined(one: ClientQuotaAlteration, other: ClientQuotaAlteration) -> ClientQuotaAlteration | ApiError:
    """One alteration out of two for an entity, or an error if they contradict each other.

    A broker that gets an entity twice applies the first alteration and answers an error (E9), so it must not.
    """
    twice = [key for key, value in other.values.items() if one.values.get(key, value) != value]
    if twice:
        return InvalidRequestError(f"{_said(one.entity)} gets two values for {', '.join(sorted(twice))}.")
    return ClientQuotaAlteration(one.entity, {**one.values, **other.values})


def _refusal_of_entity(entity: ClientQuotaEntity) -> ApiError | None:
    if not entity:
        return InvalidRequestError("An entity has no parts.")
    for entity_type, name in entity.items():
        if entity_type not in ENTITY_TYPES:
            return InvalidRequestError(f"{entity_type!r} is no entity type; {_TYPES_SAID} are.")
        if name is not None and not name:
            return InvalidRequestError(f"The name of a {entity_type} is empty; None is the default.")
    address = entity.get(IP)
    if address is not None and not _may_be_address(address):
        return InvalidRequestError(f"{address!r} is no address.")
    return _refusal_of_combination(entity)


def _refusal_of_combination(entity_types: Iterable[str]) -> ApiError | None:
    given = set(entity_types)
    if IP in given and len(given) > 1:
        return InvalidRequestError("An ip cannot be combined with a user or a client-id.")
    return None


def _reason_against(key: str, value: float) -> str | None:
    if not math.isfinite(value):
        return "it is not finite"
    if value <= 0:
        return "it must be positive"
    highest = HIGHEST_WHOLE.get(key)
    if highest is None:
        return None
    if value > highest:
        return f"{highest:.0f} is the highest value"
    return None if is_whole(value) else "it must be a whole number"


def is_whole(value: float) -> bool:
    """Whether brokers take a value for a whole number."""
    return not math.fmod(value, 1) > _TOLERANCE


def _may_be_address(text: str) -> bool:
    """Whether it is an address or could be a host name, which the broker looks up."""
    from ipaddress import ip_address  # noqa: PLC0415 slow to import, and few need it

    try:
        ip_address(text)
    except ValueError:
        return re.fullmatch(_HOST_NAME, text) is not None
    return True


def _said(entity: ClientQuotaEntity) -> str:
    return ", ".join(f"the default {type_}" if name is None else f"{type_} {name!r}" for type_, name in entity.items())


_TYPES_SAID = ", ".join(ENTITY_TYPES)
