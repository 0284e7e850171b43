"""The rules of the definition language: one function each, or one record for rules about text.

A new rule is one function in the module of its family, with examples in ``tests/golden/rules``.
"""

from __future__ import annotations

from kafkawire.codegen.check.catalogue import RULES
from kafkawire.codegen.check.rule import Rule
from kafkawire.codegen.check.walk import check_message, check_set, in_order

__all__ = ["RULES", "Rule", "check_message", "check_set", "in_order"]
