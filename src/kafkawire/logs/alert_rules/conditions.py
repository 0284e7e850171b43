"""Conditions of rules as data: facts of a change by their names, and what they have to be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from kafkawire.logs.alert_rules.changes import (
    AclChange,
    AnyChange,
    ConfigChange,
    CredentialChange,
    KnownState,
    TopicChange,
)
from kafkawire.logs.alert_rules.problems import Problem, problem_of, shown_values
from kafkawire.model.acls.bindings import AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.configs.resources import ConfigResourceType
from kafkawire.model.scram import ScramMechanism

_Values: TypeAlias = Callable[[Any], Iterable[str]]


class Fact(NamedTuple):
    """A fact of a change.

    Attributes:
        of: its values in a change; most facts have one or none.
        known: all values that there are; None for any text.
    """

    of: _Values
    known: tuple[str, ...] | None = None


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a fact has to be; one that a change does not have fulfils no condition.

    Attributes:
        one_of: it is one of these texts.
        none_of: it is none of these.
        matches: a regular expression of Python that it matches as a whole.
        below, above: it is a number below or above.
    """

    one_of: tuple[str, ...] | None = None
    none_of: tuple[str, ...] = ()
    matches: str | None = None
    below: float | None = None
    above: float | None = None

    @property
    def texts(self) -> frozenset[str] | None:
        """The texts, if it is that the fact is one of them and nothing else; None if there is more to it."""
        return frozenset(self.one_of) if self.one_of and self == Condition(self.one_of) else None

    def holds(self, values: Iterable[str]) -> bool:
        """Whether it is fulfilled by one of the values of a fact."""
        return any(map(self._holds, values))

    def _holds(self, value: str) -> bool:
        number = None if self.below is None and self.above is None else _number(value)
        return (
            (self.one_of is None or value in self.one_of)
            and value not in self.none_of
            and (self.matches is None or re.fullmatch(self.matches, value) is not None)
            and (self.below is None or (number is not None and number < self.below))
            and (self.above is None or (number is not None and number > self.above))
        )


@dataclass(frozen=True)
class Conditions:
    """Finds the changes of a history that fulfil all conditions. It can be pickled, so that Spark's workers have it.

    Attributes:
        history: name of the history.
        when: conditions, each with the name of its fact. They are tried in this order.
    """

    history: str
    when: tuple[tuple[str, Condition], ...]
    _texts: tuple[tuple[_Values, frozenset[str]], ...] = field(init=False, repr=False, compare=False)
    _others: tuple[tuple[_Values, Condition], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prepare what each change is tried with: most conditions are that a fact is one of some texts."""
        facts = FACTS[self.history]
        given = [(facts[name].of, condition) for name, condition in self.when]
        texts = tuple((of, wanted) for of, each in given if (wanted := each.texts) is not None)
        object.__setattr__(self, "_texts", texts)
        object.__setattr__(self, "_others", tuple((of, each) for of, each in given if each.texts is None))

    def __call__(self, change: AnyChange, _: KnownState) -> Iterable[Problem]:
        """The problem that the change is, if it fulfils the conditions."""
        for of, texts in self._texts:
            if texts.isdisjoint(of(change)):
                return ()
        for of, condition in self._others:
            if not condition.holds(of(change)):
                return ()
        return (problem_of(change),)

    def __reduce__(self) -> tuple[type[Conditions], tuple[str, tuple[tuple[str, Condition], ...]]]:
        return type(self), (self.history, self.when)


def conditions(history: str, **facts: str | tuple[str, ...]) -> Conditions:
    """The conditions that facts are these texts, or one of several.

    Args:
        history: name of the history.
        facts: the texts by the names of the facts.
    """
    texts = {name: (text,) if isinstance(text, str) else text for name, text in facts.items()}
    return Conditions(history, tuple((name, Condition(one_of)) for name, one_of in texts.items()))


def _names(enumeration: type[IntEnum]) -> tuple[str, ...]:
    return tuple(enumeration.__members__)


def _acl(read: Callable[[AclChange], str], known: tuple[str, ...] | None = None) -> Fact:
    return Fact(lambda change: (read(change),), known)


def _direction(before: str | None, after: str | None) -> Iterator[str]:
    """``raised`` or ``lowered`` where both values are numbers."""
    first, second = _number(before), _number(after)
    if first is not None and second is not None and first != second:
        yield "raised" if second > first else "lowered"


def _config_changes(change: ConfigChange) -> Iterator[str]:
    yield "unset" if change.after is None else "set"
    yield from _direction(change.before, change.after)


def _value(value: str | None) -> tuple[str, ...]:
    return () if value is None else (value,)


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


_Facts: TypeAlias = Mapping[str, Fact]
_ACL: Final[_Facts] = {
    "change": _acl(lambda change: "removed" if change.is_removal else "added", ("added", "removed")),
    "principal": _acl(lambda change: change.acl.principal),
    "host": _acl(lambda change: change.acl.host),
    "resource_type": _acl(lambda change: change.acl.resource_type.name, _names(ResourceType)),
    "resource_name": _acl(lambda change: change.acl.resource_name),
    "pattern_type": _acl(lambda change: change.acl.pattern_type.name, _names(PatternType)),
    "operation": _acl(lambda change: change.acl.operation.name, _names(AclOperation)),
    "permission": _acl(lambda change: change.acl.permission_type.name, _names(AclPermissionType)),
}


def _resource_type(change: ConfigChange) -> tuple[str, ...]:
    return (change.resource.resource_type.name,)


def _resource_name(change: ConfigChange) -> tuple[str, ...]:
    return (change.resource.name,)


def _name(change: ConfigChange | TopicChange) -> tuple[str, ...]:
    return (change.name,)


def _before(change: ConfigChange) -> tuple[str, ...]:
    return _value(shown_values(change)[0])


def _after(change: ConfigChange) -> tuple[str, ...]:
    return _value(shown_values(change)[1])


def _topic_changes(change: TopicChange) -> tuple[str, ...]:
    return ("deleted" if change.is_deletion else "created",)


def _credential_changes(change: CredentialChange) -> Iterator[str]:
    yield "set"
    yield from _direction(str(change.before), str(change.after))


FACTS: Final[Mapping[str, _Facts]] = {
    "acl_history": _ACL,
    "config_history": {
        "change": Fact(_config_changes, ("set", "unset", "raised", "lowered")),
        "resource_type": Fact(_resource_type, _names(ConfigResourceType)),
        "resource_name": Fact(_resource_name),
        "name": Fact(_name),
        "before": Fact(_before),
        "after": Fact(_after),
    },
    "scram_history": {
        "change": Fact(_credential_changes, ("set", "raised", "lowered")),
        "user": Fact(lambda change: (change.user,)),
        "mechanism": Fact(lambda change: (change.mechanism,), _names(ScramMechanism)),
        "before": Fact(lambda change: (str(change.before),)),
        "after": Fact(lambda change: (str(change.after),)),
    },
    "topic_history": {
        "change": Fact(_topic_changes, ("created", "deleted")),
        "name": Fact(_name),
    },
}
"""The facts of the changes of each history, by their names; those of columns have the names of these."""
