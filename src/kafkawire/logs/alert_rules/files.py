"""Rules of a user, from a file in TOML: conditions on the changes of a history."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from kafkawire.logs.alert_rules.conditions import FACTS, Condition, Conditions
from kafkawire.logs.alert_rules.rules import ALERT_RULES, AlertRule, AlertSeverity
from kafkawire.logs.option_records import OptionError
from kafkawire.near_names import did_you_mean

_OPTION: Final = "alert_rules"
_ID: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class _WrongRuleError(ValueError):
    """Something in a file that is no rule; the message is a sentence without the file."""


class _FileRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule, as a file has it."""

    id: str
    title: str
    severity: AlertSeverity
    history: str
    remedy: str
    when: Mapping[str, str | tuple[str, ...] | Condition]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rules: tuple[_FileRule, ...]


def read_alert_rules(path: str | Path) -> tuple[AlertRule, ...]:
    """The rules in a file.

    Args:
        path: a file in TOML, with a table ``[[rules]]`` for each rule.

    Raises:
        OptionError: the file cannot be read, or what it has is no rule; it says which.

    Example:
        ```python
        from kafkawire.logs import ALERT_RULES, read_alert_rules, read_alerts

        rules = [*ALERT_RULES.values(), *read_alert_rules("rules.toml")]
        for alert in read_alerts("/var/lib/kafka/data/__cluster_metadata-0", rules=rules):
            print(alert.time, alert.rule, alert.message)
        ```
    """
    try:
        content = tomllib.loads(Path(path).read_text("utf-8"))
        rules = [_rule_of(each) for each in msgspec.convert(content, _File).rules]
        _refuse_repeated(rules)
    except OSError as error:
        raise OptionError(f"{path}: {error.strerror}", _OPTION) from None
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise OptionError(f"{path}: {error}", _OPTION) from None
    return tuple(rules)


def _rule_of(rule: _FileRule) -> AlertRule:
    if _ID.fullmatch(rule.id) is None:
        raise _WrongRuleError(f"id {rule.id!r}: give small letters, digits and hyphens between them")
    _refuse_unknown(rule.id, "history", rule.history, FACTS)
    if not rule.when:
        raise _WrongRuleError(f"rule {rule.id}: give a condition in when")
    when = tuple((name, _condition(rule, name, wanted)) for name, wanted in rule.when.items())
    return AlertRule(rule.id, rule.title, rule.severity, rule.history, rule.remedy, Conditions(rule.history, when))


def _condition(rule: _FileRule, name: str, wanted: str | tuple[str, ...] | Condition) -> Condition:
    """The condition on a fact.

    Raises:
        _WrongRuleError: there is no such fact, or it can never be fulfilled.
    """
    facts = FACTS[rule.history]
    _refuse_unknown(rule.id, "fact", name, facts)
    if not isinstance(wanted, Condition):
        wanted = Condition((wanted,) if isinstance(wanted, str) else wanted)
    if wanted == Condition():
        raise _WrongRuleError(f"rule {rule.id}, {name}: give one_of, none_of, matches, below or above")
    known = facts[name].known
    for text in (*(wanted.one_of or ()), *wanted.none_of):
        if known is not None:
            _refuse_unknown(rule.id, name, text, known)
    if wanted.matches is not None:
        try:
            re.compile(wanted.matches)
        except re.error as error:
            raise _WrongRuleError(f"rule {rule.id}, {name}: {wanted.matches!r} is no expression: {error}") from None
    return wanted


def _refuse_unknown(rule: str, kind: str, name: str, known: Iterable[str]) -> None:
    names = tuple(known)
    if name not in names:
        meant = did_you_mean(name, names) or f"there are {', '.join(names)}"
        raise _WrongRuleError(f"rule {rule}: there is no {kind} {name!r}; {meant}")


def _refuse_repeated(rules: Iterable[AlertRule]) -> None:
    """An id is that of one rule, also of those that are always there."""
    for rule, times in Counter([*ALERT_RULES, *(rule.id for rule in rules)]).items():
        if times > 1:
            raise _WrongRuleError(f"id {rule!r} is that of another rule")
