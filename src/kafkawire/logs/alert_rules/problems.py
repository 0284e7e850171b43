"""What rules find: problems, and the sentences about the changes that they are in."""

from __future__ import annotations

from typing import NamedTuple

from kafkawire.logs.alert_rules.changes import AclChange, AnyChange, ConfigChange, CredentialChange, TopicChange
from kafkawire.model.acls.effect_sentences import acl_in_words
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.configs.sensitive import HIDDEN, is_sensitive


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


def problem_of(change: AnyChange, words: str | None = None) -> Problem:
    """The problem that a change is.

    Args:
        change: what happened.
        words: what is said of a config in place of its values.
    """
    match change:
        case AclChange(_, acl, is_removal):
            message = f"{'removed' if is_removal else 'added'}: {acl_in_words(acl)}"
            return Problem(message, acl.resource_type.name, acl.resource_name, acl.principal)
        case TopicChange():
            message = f"topic {change.name} was {'deleted' if change.is_deletion else 'created'}"
            return Problem(message, "TOPIC", change.name)
        case CredentialChange():
            credential = f"{change.mechanism.replace('_', '-')} of user {change.user}"
            message = f"{credential}: {change.before} → {change.after} iterations"
            return Problem(message, "USER", change.user, f"User:{change.user}")
        case ConfigChange(resource, name):
            kind = resource.resource_type.name
            is_default = resource == ConfigResource.broker_default()
            whose = "all brokers" if is_default else f"{kind.lower()} {resource.name}"
            if words is None:
                before, after = ("not set" if value is None else value for value in shown_values(change))
                words = f"{before} → {after}"
            return Problem(f"{name} of {whose}: {words}", kind, resource.name)


def shown_values(change: ConfigChange) -> tuple[str | None, str | None]:
    """The values of a config before and after a change; those of sensitive configs are hidden."""
    hides = is_sensitive(change.resource.resource_type.value, change.name)
    before, after = (HIDDEN if hides and value is not None else value for value in (change.before, change.after))
    return before, after
