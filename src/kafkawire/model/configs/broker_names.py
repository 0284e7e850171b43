"""Names of a broker's configuration: synonyms, and names for one listener or one mechanism (KIP-226)."""

from __future__ import annotations

import re
from typing import Final

from kafkawire.model.configs.definitions import ConfigDefinition, definitions

__all__ = ["broker_definition", "broker_synonyms"]

_OF_LISTENER: Final = re.compile(r"listener\.name\.[^.]*\.(.*)")
_OF_MECHANISM: Final = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
"""What can be given for one mechanism of a listener: ``listener.name.<listener>.<mechanism>.<name>``."""


def broker_synonyms(name: str) -> tuple[str, ...]:
    """All names that stand for the same as a name of a broker's configuration, the one that holds first."""
    found = definitions().broker_synonyms.get(name)
    if found is not None:
        return found
    of_listener = _OF_LISTENER.fullmatch(name)
    if of_listener is None:
        return (name,)
    base = of_listener[1]
    of_mechanism = next((one for one in _OF_MECHANISM if base.endswith(one)), base)
    return (name, of_mechanism)


def broker_definition(name: str) -> ConfigDefinition | None:
    """What a name of a broker's configuration is, that of a listener as well; None for names that Kafka lacks."""
    known = definitions()
    for synonym in (name, *broker_synonyms(name)):
        found = known.broker.get(synonym) or known.broker_dynamic_only.get(synonym)
        if found is not None:
            return found
    return None
