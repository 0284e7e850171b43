"""All rules, collected from the modules of this package; a new rule needs no entry here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import TypeVar

from kafkawire.codegen.check import (
    default,
    field,
    gap,
    header_versions,
    json_level,
    meanings,
    message,
    message_set,
    required,
    struct,
)
from kafkawire.codegen.check.rule import FieldCheck, MessageCheck, Rule, SetCheck, StructCheck

FAMILIES: tuple[ModuleType, ...] = (
    json_level, required, message, header_versions, field, default, struct, message_set, gap, meanings,
)  # fmt: skip

_Kind = TypeVar("_Kind")


def _members(kind: type[_Kind]) -> tuple[_Kind, ...]:
    return tuple(value for module in FAMILIES for value in vars(module).values() if isinstance(value, kind))


FIELD_CHECKS = _members(FieldCheck)
STRUCT_CHECKS = _members(StructCheck)
MESSAGE_CHECKS = _members(MessageCheck)
SET_CHECKS = _members(SetCheck)

_CHECKS: tuple[FieldCheck | StructCheck | MessageCheck | SetCheck, ...] = (
    *FIELD_CHECKS, *STRUCT_CHECKS, *MESSAGE_CHECKS, *SET_CHECKS,
)  # fmt: skip

RULES: Mapping[str, Rule] = MappingProxyType(
    {rule.id: rule for rule in (*_members(Rule), *(check.rule for check in _CHECKS))}
)
"""The rules by id."""
