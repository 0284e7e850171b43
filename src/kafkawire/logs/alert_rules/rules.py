"""The rules: each has an id, a title, a severity, what to do, and how it finds problems.

Most are conditions, which are data; a function is for what conditions cannot say, because it depends on more than the
change. The command, the table, Spark and the page have a new rule then. Users have theirs in files, see `files`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from kafkawire.logs.alert_rules.changes import ConfigChange, KnownState, TopicChange
from kafkawire.logs.alert_rules.conditions import conditions
from kafkawire.logs.alert_rules.problems import Problem, problem_of
from kafkawire.logs.alert_rules.retention import RETENTIONS, shortening_in_words
from kafkawire.model.acls.bindings import WILDCARD
from kafkawire.model.acls.effect_sentences import acl_in_words
from kafkawire.model.acls.evaluation import EVERYBODY


class AlertSeverity(StrEnum):
    """How bad a change may be."""

    HIGH = "high"
    """It opens something, or records may be lost."""

    MEDIUM = "medium"
    """Look at it soon."""

    LOW = "low"
    """It may be meant."""


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
    find: Callable[[Any, KnownState], Iterable[Problem]]


def _acls_of_deleted_topic(change: TopicChange, state: KnownState) -> Iterator[Problem]:
    if change.is_deletion and not state.has_other_topic(change):
        for acl in sorted(state.acls_of_topic(change.name).values()):
            message = f"topic {change.name} was deleted, and this is left: {acl_in_words(acl)}"
            yield Problem(message, "TOPIC", change.name, acl.principal)


def _inherited_acls(change: TopicChange, state: KnownState) -> Iterator[Problem]:
    if not change.is_deletion:
        for acl in sorted(state.acls_of_deleted(change.name).values()):
            message = f"topic {change.name} was created again, and inherits this: {acl_in_words(acl)}"
            yield Problem(message, "TOPIC", change.name, acl.principal)


def _shortened_retention(change: ConfigChange, state: KnownState) -> Iterator[Problem]:
    words = shortening_in_words(change, state)
    if words is not None:
        yield problem_of(change, words)


_RULES: Final = (
    AlertRule(
        "deny-removed",
        "An ACL that denies was removed.",
        AlertSeverity.HIGH,
        "acl_history",
        "look with acls who-could who gained what, and create it again if it is still needed",
        conditions("acl_history", change="removed", permission="DENY"),
    ),
    AlertRule(
        "everyone-granted",
        "User:* was allowed something: every user that can connect may do it.",
        AlertSeverity.HIGH,
        "acl_history",
        "allow it to the principals that need it, and delete this ACL",
        conditions("acl_history", change="added", principal=EVERYBODY, permission="ALLOW"),
    ),
    AlertRule(
        "every-resource-granted",
        "A principal was allowed something on every resource of a type, also on those that do not exist yet.",
        AlertSeverity.MEDIUM,
        "acl_history",
        "allow it on names or prefixes, and delete this ACL",
        conditions("acl_history", change="added", resource_name=WILDCARD, pattern_type="LITERAL", permission="ALLOW"),
    ),
    AlertRule(
        "cluster-control-granted",
        "A principal was allowed ALL or ALTER on the cluster from any host, and so to give itself every right.",
        AlertSeverity.HIGH,
        "acl_history",
        "allow it from the hosts of administrators only, or make the principal a super user of the brokers",
        conditions(
            "acl_history",
            change="added",
            resource_type="CLUSTER",
            operation=("ALL", "ALTER"),
            host=WILDCARD,
            permission="ALLOW",
        ),
    ),
    AlertRule(
        "acl-of-deleted-topic",
        "A topic was deleted, and an ACL with its name is still there: a later topic of the name inherits it.",
        AlertSeverity.MEDIUM,
        "topic_history",
        "delete the ACL",
        _acls_of_deleted_topic,
    ),
    AlertRule(
        "acl-inherited",
        "A topic was created, and an ACL of a deleted topic of the name holds for it.",
        AlertSeverity.HIGH,
        "topic_history",
        "delete the ACL if the principal is not meant to have the new topic",
        _inherited_acls,
    ),
    AlertRule(
        "retention-shortened",
        "The retention of a topic or broker was shortened: older records are deleted, for good.",
        AlertSeverity.HIGH,
        "config_history",
        "set the former value again at once if it is not meant; what was deleted is gone",
        _shortened_retention,
    ),
    AlertRule(
        "retention-unset",
        "The retention of a topic or broker was unset, so that a default counts, which may be shorter.",
        AlertSeverity.LOW,
        "config_history",
        "look at the value that counts now with configs describe",
        conditions("config_history", change="unset", resource_type=("TOPIC", "BROKER"), name=RETENTIONS),
    ),
    AlertRule(
        "scram-iterations-lowered",
        "A SCRAM credential was set with fewer iterations: its password is easier to guess from a stolen credential.",
        AlertSeverity.MEDIUM,
        "scram_history",
        "set the password again with more iterations",
        conditions("scram_history", change="lowered"),
    ),
)

ALERT_RULES: Final[Mapping[str, AlertRule]] = {rule.id: rule for rule in _RULES}
"""The rules by id."""
