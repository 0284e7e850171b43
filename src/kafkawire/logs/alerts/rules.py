"""The rules: each is one function with an id, a title, a severity, and what to do.

A new rule is one function here; the command, the table, Spark and the page have it then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeVar

from kafkawire.logs.alerts.changes import AclChange, AnyChange, ConfigChange, CredentialChange, KnownState, TopicChange
from kafkawire.logs.alerts.retention import is_retention, shortening_in_words
from kafkawire.model.acls.bindings import (
    WILDCARD,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.effect_sentences import acl_in_words
from kafkawire.model.acls.evaluation import EVERYBODY
from kafkawire.model.configs.resources import ConfigResource


class AlertSeverity(StrEnum):
    """How bad a change may be."""

    HIGH = "high"
    """It opens something, or records may be lost."""

    MEDIUM = "medium"
    """Look at it soon."""

    LOW = "low"
    """It may be meant."""


class Problem(NamedTuple):
    """What a rule found.

    Attributes:
        message: what happened, in a sentence.
        resource_type, resource_name: what it happened to.
        principal: who it is about; None for none.
    """

    message: str
    resource_type: str
    resource_name: str
    principal: str | None = None


@dataclass(frozen=True)
class AlertRule:
    """A rule.

    Attributes:
        id: its id.
        title: what it finds, in a sentence.
        severity: how bad it may be.
        looks_at: the history whose changes it looks at.
        remedy: what to do.
        find: finds problems in a change of this history, given the state before it.
    """

    id: str
    title: str
    severity: AlertSeverity
    looks_at: str
    remedy: str
    find: Callable[[Any, KnownState], Iterator[Problem]]


_HISTORIES: Final[Mapping[type[AnyChange], str]] = {
    AclChange: "acl_history",
    ConfigChange: "config_history",
    TopicChange: "topic_history",
    CredentialChange: "scram_history",
}

C = TypeVar("C", AclChange, ConfigChange, TopicChange, CredentialChange)
_RULES: dict[str, AlertRule] = {}
_CONTROLLING: Final = (AclOperation.ALL, AclOperation.ALTER)


def _rule(
    rule_id: str, change: type[C], severity: AlertSeverity, title: str, remedy: str
) -> Callable[[Callable[[C, KnownState], Iterator[Problem]]], Callable[[C, KnownState], Iterator[Problem]]]:
    """Declare a rule about a kind of change."""

    def declare(find: Callable[[C, KnownState], Iterator[Problem]]) -> Callable[[C, KnownState], Iterator[Problem]]:
        _RULES[rule_id] = AlertRule(rule_id, title, severity, _HISTORIES[change], remedy, find)
        return find

    return declare


@_rule(
    "deny-removed",
    AclChange,
    AlertSeverity.HIGH,
    "An ACL that denies was removed.",
    "look with acls who-could who gained what, and create it again if it is still needed",
)
def _deny_removed(change: AclChange, _: KnownState) -> Iterator[Problem]:
    if change.is_removal and change.acl.permission_type == AclPermissionType.DENY:
        yield _of_acl("removed", change.acl)


@_rule(
    "everyone-granted",
    AclChange,
    AlertSeverity.HIGH,
    "User:* was allowed something: every user that can connect may do it.",
    "allow it to the principals that need it, and delete this ACL",
)
def _everyone_granted(change: AclChange, _: KnownState) -> Iterator[Problem]:
    if _is_grant(change) and change.acl.principal == EVERYBODY:
        yield _of_acl("added", change.acl)


@_rule(
    "every-resource-granted",
    AclChange,
    AlertSeverity.MEDIUM,
    "A principal was allowed something on every resource of a type, also on those that do not exist yet.",
    "allow it on names or prefixes, and delete this ACL",
)
def _every_resource_granted(change: AclChange, _: KnownState) -> Iterator[Problem]:
    acl = change.acl
    if _is_grant(change) and acl.pattern_type == PatternType.LITERAL and acl.resource_name == WILDCARD:
        yield _of_acl("added", acl)


@_rule(
    "cluster-control-granted",
    AclChange,
    AlertSeverity.HIGH,
    "A principal was allowed ALL or ALTER on the cluster from any host, and so to give itself every right.",
    "allow it from the hosts of administrators only, or make the principal a super user of the brokers",
)
def _cluster_control_granted(change: AclChange, _: KnownState) -> Iterator[Problem]:
    acl = change.acl
    is_control = acl.resource_type == ResourceType.CLUSTER and acl.operation in _CONTROLLING
    if _is_grant(change) and is_control and acl.host == WILDCARD:
        yield _of_acl("added", acl)


@_rule(
    "acl-of-deleted-topic",
    TopicChange,
    AlertSeverity.MEDIUM,
    "A topic was deleted, and an ACL with its name is still there: a later topic of the name inherits it.",
    "delete the ACL",
)
def _acl_of_deleted_topic(change: TopicChange, state: KnownState) -> Iterator[Problem]:
    if change.is_deletion and not state.has_other_topic(change):
        for acl in sorted(state.acls_of_topic(change.name).values()):
            message = f"topic {change.name} was deleted, and this is left: {acl_in_words(acl)}"
            yield Problem(message, "TOPIC", change.name, acl.principal)


@_rule(
    "acl-inherited",
    TopicChange,
    AlertSeverity.HIGH,
    "A topic was created, and an ACL of a deleted topic of the name holds for it.",
    "delete the ACL if the principal is not meant to have the new topic",
)
def _acl_inherited(change: TopicChange, state: KnownState) -> Iterator[Problem]:
    if not change.is_deletion:
        for acl in sorted(state.acls_of_deleted(change.name).values()):
            message = f"topic {change.name} was created again, and inherits this: {acl_in_words(acl)}"
            yield Problem(message, "TOPIC", change.name, acl.principal)


@_rule(
    "retention-shortened",
    ConfigChange,
    AlertSeverity.HIGH,
    "The retention of a topic or broker was shortened: older records are deleted, for good.",
    "set the former value again at once if it is not meant; what was deleted is gone",
)
def _retention_shortened(change: ConfigChange, state: KnownState) -> Iterator[Problem]:
    words = shortening_in_words(change, state)
    if words is not None:
        yield _of_config(change, words)


@_rule(
    "retention-unset",
    ConfigChange,
    AlertSeverity.LOW,
    "The retention of a topic or broker was unset, so that a default counts, which may be shorter.",
    "look at the value that counts now with configs describe",
)
def _retention_unset(change: ConfigChange, _: KnownState) -> Iterator[Problem]:
    if is_retention(change) and change.before is not None and change.after is None:
        yield _of_config(change, f"{change.before} → not set")


@_rule(
    "scram-iterations-lowered",
    CredentialChange,
    AlertSeverity.MEDIUM,
    "A SCRAM credential was set with fewer iterations: its password is easier to guess from a stolen credential.",
    "set the password again with more iterations",
)
def _scram_iterations_lowered(change: CredentialChange, _: KnownState) -> Iterator[Problem]:
    if change.after < change.before:
        credential = f"{change.mechanism.replace('_', '-')} of user {change.user}"
        message = f"{credential}: {change.before} → {change.after} iterations"
        yield Problem(message, "USER", change.user, f"User:{change.user}")


ALERT_RULES: Final[Mapping[str, AlertRule]] = _RULES
"""The rules by id."""


def _is_grant(change: AclChange) -> bool:
    return not change.is_removal and change.acl.permission_type == AclPermissionType.ALLOW


def _of_acl(verb: str, acl: AclBinding) -> Problem:
    return Problem(f"{verb}: {acl_in_words(acl)}", acl.resource_type.name, acl.resource_name, acl.principal)


def _of_config(change: ConfigChange, words: str) -> Problem:
    resource = change.resource
    kind = resource.resource_type.name
    whose = "all brokers" if resource == ConfigResource.broker_default() else f"{kind.lower()} {resource.name}"
    return Problem(f"{change.name} of {whose}: {words}", kind, resource.name)
