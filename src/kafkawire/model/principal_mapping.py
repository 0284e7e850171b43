"""The names of principals that brokers make of certificates: ``ssl.principal.mapping.rules`` (KIP-371)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Final, NamedTuple

_RULE: Final = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_SPLITTER: Final = re.compile(rf"\s*({_RULE})\s*(?:,\s*|$)")
_PARSER: Final = re.compile(_RULE)
_REFERENCE: Final = re.compile(r"\\(.)|\$(\{|\d+)|\$", re.DOTALL)


class UnsupportedRuleError(ValueError):
    """A rule is malformed, or uses what Java's patterns have and Python's do not; the message names it."""


class _Rule(NamedTuple):
    """A rule; it is DEFAULT without a pattern."""

    pattern: re.Pattern[str] | None = None
    replacement: str = ""
    case: str = ""

    def name(self, subject: str) -> str | None:
        """The name, or None if the rule is not about the subject."""
        if self.pattern is None:
            return subject
        if self.pattern.fullmatch(subject) is None:
            return None
        name = self.pattern.sub(self._replaced, subject)
        return name.lower() if self.case == "L" else name.upper() if self.case == "U" else name

    def _replaced(self, match: re.Match[str]) -> str:
        groups = match.re.groups

        def text(reference: re.Match[str]) -> str:
            escaped, digits = reference.groups()
            if escaped is not None:
                return str(escaped)
            if digits is None or digits == "{":
                raise UnsupportedRuleError(f"the replacement {self.replacement}")
            # As in Java the number is as long as there is such a group; Kafka takes references to none as they are.
            length = next((end for end in range(len(digits), 0, -1) if int(digits[:end]) <= groups), 0)
            return (match[int(digits[:length])] or "") + digits[length:] if length else reference[0]

        return _REFERENCE.sub(text, self.replacement)


def principal_name_of(subject: str, rules: str) -> str | None:
    """The name of the principal that a broker makes of a certificate; None if no rule is about it.

    Args:
        subject: of the certificate, as `subject_of` returns it.
        rules: the broker's ``ssl.principal.mapping.rules``.

    Raises:
        UnsupportedRuleError: a rule cannot be followed here.
    """
    for rule in _rules(rules):
        name = rule.name(subject)
        if name is not None:
            return name
    return None


def _rules(text: str) -> Iterator[_Rule]:
    for found in _SPLITTER.finditer(text.strip()):
        if found[1]:
            yield _rule(found[1])


def _rule(text: str) -> _Rule:
    parsed = _PARSER.fullmatch(text)
    if parsed is not None and parsed[1] is not None:
        return _Rule()
    if parsed is None or parsed[2] is None:
        raise UnsupportedRuleError(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # such as for the sets of characters that Java has
            return _Rule(re.compile(parsed[2]), parsed[3], parsed[4])
    except (re.error, FutureWarning, OverflowError, RecursionError):
        raise UnsupportedRuleError(text) from None
