"""The authorizer in the properties."""

from __future__ import annotations

from typing import Final

from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration, ConfigurationError
from kafkawire.broker.controller import Controller
from kafkawire.broker.plugins.authorizer import Authorizer
from kafkawire.broker.plugins.loading import load
from kafkawire.broker.plugins.standard_authorizer import StandardAuthorizer
from kafkawire.protocol import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from kafkawire.wire import Message

_CLASS_NAME: Final = "authorizer.class.name"
_STANDARD: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_SUPER_USERS: Final = "super.users"
_ALLOW_EVERYONE: Final = "allow.everyone.if.no.acl.found"


def configured_authorizer(
    configuration: BrokerConfiguration, controller: Controller, *, ranges: bool = False
) -> Authorizer | None:
    """The configured authorizer, with all ACLs; None if none is configured (A16).

    Args:
        configuration: ``authorizer.class.name``: empty for none, the name of Kafka's own for the built-in one, or
            ``module:Class``; for the built-in one also ``super.users`` and ``allow.everyone.if.no.acl.found``.
        controller: has the ACLs.
        ranges: whether ACLs of a range of addresses have clients, for the built-in one.

    Raises:
        ConfigurationError: the class cannot be loaded, or a property is invalid.
    """
    name = configuration.text(_CLASS_NAME)
    if not name:
        return None
    if name == _STANDARD:
        properties = configuration.properties
        super_users = _super_users(properties.get(_SUPER_USERS, ""))
        allow_everyone = properties.get(_ALLOW_EVERYONE, "false").strip().lower() == "true"
        return StandardAuthorizer(
            controller.image.acls, super_users, allow_everyone_if_no_acl=allow_everyone, ranges=ranges
        )
    if ":" not in name:
        raise ConfigurationError(f"{_CLASS_NAME}={name}: write {_STANDARD}, or module:Class for one of your own")
    authorizer = load(name, Authorizer, _CLASS_NAME)
    authorizer.configure(configuration.properties)
    _pass_acls(authorizer, controller)
    return authorizer


def _pass_acls(authorizer: Authorizer, controller: Controller) -> None:
    """Pass all ACLs to an authorizer: those that exist now, and all changes."""
    known = dict(controller.image.acls.by_id)
    for acl in known.values():
        authorizer.add_acl(acl)

    def committed(record: Message) -> None:
        match record:
            case AccessControlEntryRecord():
                acl = known[record.id] = controller.image.acls.by_id[record.id]
                authorizer.add_acl(acl)
            case RemoveAccessControlEntryRecord():
                authorizer.remove_acl(known.pop(record.id))

    controller.subscribe(committed)


def _super_users(text: str) -> list[str]:
    """``User:a;User:b``: names may have commas, as those of certificates do."""
    users = [user.strip() for user in text.split(";") if user.strip()]
    for user in users:
        if ":" not in user:
            raise ConfigurationError(f"{_SUPER_USERS} has {user!r}, which has no type: write User:{user}")
    return users
