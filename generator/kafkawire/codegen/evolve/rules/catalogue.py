"""All rules about changes, collected from the modules of this package."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import TypeVar

from kafkawire.codegen.evolve.rules import (
    attributes,
    flexibility,
    identity,
    message_set,
    presence,
    types,
    validity,
    versions,
)
from kafkawire.codegen.evolve.rules.rule import Check, EvolutionRule, FieldCheck, MessageCheck, SetCheck, StructCheck

FAMILIES: tuple[ModuleType, ...] = (
    identity, versions, message_set, flexibility, presence, types, attributes, validity,
)  # fmt: skip

_Kind = TypeVar("_Kind")


def _members(kind: type[_Kind]) -> tuple[_Kind, ...]:
    return tuple(value for module in FAMILIES for value in vars(module).values() if isinstance(value, kind))


SET_CHECKS = _members(SetCheck)
MESSAGE_CHECKS = _members(MessageCheck)
STRUCT_CHECKS = _members(StructCheck)
FIELD_CHECKS = _members(FieldCheck)

EVOLUTION_RULES: Mapping[str, EvolutionRule] = MappingProxyType(
    {rule.id: rule for rule in (*(check.rule for check in _members(Check)), *_members(EvolutionRule))}
)
"""The rules by id."""
