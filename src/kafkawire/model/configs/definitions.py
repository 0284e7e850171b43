"""The configurations of Apache Kafka 4.3.1, for brokers, topics, groups and client metrics.

``definitions.json`` has their names, types, defaults and checks. A test compares it with Kafka's own classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from kafkawire.model.configs.checks import Check, Entries, Value
from kafkawire.model.configs.values import ValueType, parse, written

UpdateMode = Literal["per-broker", "cluster-wide", "read-only"]


class ConfigDefinition(msgspec.Struct, frozen=True, omit_defaults=True, rename={"kind": "type"}):
    """The definition of a configuration.

    Attributes:
        kind: the type of values.
        importance: ``high``, ``medium`` or ``low``.
        default: the text of the value if none is set; None for none.
        is_required: whether there is no default: a value must be set.
        is_internal: whether Kafka does not document it.
        check: the check of values beyond their type.
    """

    kind: ValueType
    importance: Literal["high", "medium", "low"] = "medium"
    default: str | None = None
    is_required: bool = False
    is_internal: bool = False
    check: Check | None = None

    @property
    def is_sensitive(self) -> bool:
        """Whether brokers never return values."""
        return self.kind == "password"

    def value(self, name: str, text: str | None) -> Value:
        """The value of a text, checked.

        Raises:
            InvalidValueError: it is not a valid value.
        """
        value = self._parsed(name, text)
        if self.check is not None:
            self.check.verify(name, value)
        return value

    def normalised(self, text: str) -> str:
        """A valid text as Kafka shows it: without blanks around, numbers in their usual form."""
        return written(self._parsed("", text)) or ""

    def _parsed(self, name: str, text: str | None) -> Value:
        """The value of a text; most lists have each entry once."""
        value = parse(name, self.kind, text)
        return tuple(dict.fromkeys(value)) if isinstance(value, tuple) and isinstance(self.check, Entries) else value


class Definitions(msgspec.Struct, frozen=True):
    """All definitions.

    Attributes:
        broker, topic, group, client_metrics: name to definition.
        broker_dynamic_only: those for brokers that only exist while they run.
        update_modes: how the values of brokers can be changed while they run; names that are not here cannot.
        of_listeners_only: names that can be changed for one listener, but not for all.
        topic_synonyms: name for topics to the names for brokers, each with the milliseconds of its unit (1 for those
            without a unit). The first with a value holds.
        group_synonyms: name for groups to the name for brokers; None if there is none.
        broker_synonyms: name for brokers to all its synonyms, in the order in which they apply; only names with
            synonyms.
    """

    broker: Mapping[str, ConfigDefinition]
    broker_dynamic_only: Mapping[str, ConfigDefinition]
    topic: Mapping[str, ConfigDefinition]
    group: Mapping[str, ConfigDefinition]
    client_metrics: Mapping[str, ConfigDefinition]
    update_modes: Mapping[str, UpdateMode]
    of_listeners_only: frozenset[str]
    topic_synonyms: Mapping[str, Mapping[str, int]]
    group_synonyms: Mapping[str, str | None]
    broker_synonyms: Mapping[str, tuple[str, ...]]


@cache
def definitions() -> Definitions:
    """The definitions; read at the first call."""
    return msgspec.json.decode((files(__package__) / "definitions.json").read_bytes(), type=Definitions)
