"""Names of a broker's configuration: synonyms, and names for one listener or one mechanism (KIP-226)."""

from __future__ import annotations

import re
from typing import Final

from kafkawire.model.configs.definitions import ConfigDefinition, definitions

_OF_LISTENER: Final = re.compile(r"listener\.name\.[^.]*\.(.*)")
_OF_MECHANISM: Final = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
"""Names that can be set for one mechanism of a listener: ``listener.name.<listener>.<mechanism>.<name>``."""


def broker_synonyms(name: str) -> tuple[str, ...]:
    """All synonyms of a name of a broker's configuration, in the order in which they apply."""
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
    """The definition of a name of a broker's configuration, that of a listener as well; None for unknown names."""
    known = definitions()
    for synonym in (name, *broker_synonyms(name)):
        found = known.broker.get(synonym) or known.broker_dynamic_only.get(synonym)
        if found is not None:
            return found
    return None
