"""What decides beside ACLs: super users, and whether resources without ACLs are open to everyone."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated, Final, NamedTuple

import typer

from kafkawire.admin import AclBinding, AclEffects, AclEvaluator, BlockingAdminClient, acl_effects
from kafkawire.admin.operations.acls import has_ranges
from kafkawire.cli.access.broker_configs import configs_of_a_broker
from kafkawire.cli.acls.selecting import PANEL
from kafkawire.cli.visible import visible_lines
from kafkawire.model.acls.authority import Authority
from kafkawire.model.acls.hosts import is_range
from kafkawire.protocol.errors import UnsupportedVersionError

SuperUsersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--super-user",
        metavar="TYPE:NAME",
        help="A principal of the brokers' super.users, which needs no ACLs; repeatable.",
        show_default="as the brokers say, where they do",
        rich_help_panel=PANEL,
    ),
]
OpenOption = Annotated[
    bool | None,
    typer.Option(
        "--allow-everyone-if-no-acl/--deny-everyone-if-no-acl",
        help="The brokers' allow.everyone.if.no.acl.found. By default as the brokers say, where they do.",
        rich_help_panel=PANEL,
    ),
]

_SUPER_USERS: Final = "super.users"
_OPEN: Final = "allow.everyone.if.no.acl.found"
_SHOWN_SENTENCES: Final = 20


class AuthorityOptions(NamedTuple):
    """The options of what decides beside ACLs.

    Attributes:
        super_user: principals that may do everything; None for what the brokers say.
        everyone: whether resources without ACLs are open to everyone; likewise.
    """

    super_user: SuperUsersOption = None
    everyone: OpenOption = None


def authority(
    client: BlockingAdminClient, given: AuthorityOptions, acls: Iterable[AclBinding], timeout: float
) -> Authority:
    """What options say, otherwise what a broker says; a warning where neither does.

    Args:
        client: of the cluster.
        given: the options.
        acls: those that it decides beside, if it matters whether ranges of addresses match clients.
        timeout: in seconds.
    """
    ranges = _decides_by_ranges(client, acls, timeout)
    super_users, is_open = given
    if super_users is not None and is_open is not None:
        return Authority(tuple(super_users), is_open, ranges)
    values = _of_a_broker(client, timeout)
    hidden = [key for key, value in values.items() if value is None]
    if super_users is None and _SUPER_USERS in hidden:
        _warn("the brokers do not show super.users; give --super-user, or decisions leave them out")
    if is_open is None and _OPEN in hidden:
        _warn(f"the brokers do not show {_OPEN}; it is taken as false, see --allow-everyone-if-no-acl")
    if super_users is None:
        super_users = [each.strip() for each in (values.get(_SUPER_USERS) or "").split(";") if each.strip()]
    if is_open is None:
        is_open = (values.get(_OPEN) or "").lower() == "true"
    return Authority(tuple(super_users), is_open, ranges)


def effects_on(acls: Iterable[AclBinding], after: Iterable[AclBinding], deciding: Authority) -> AclEffects:
    """What a change means."""
    return acl_effects(
        acls,
        after,
        super_users=deciding.super_users,
        allow_everyone_if_no_acl=deciding.allow_everyone_if_no_acl,
        ranges=deciding.ranges,
    )


def _decides_by_ranges(client: BlockingAdminClient, acls: Iterable[AclBinding], timeout: float) -> bool:
    """Whether ranges of addresses match clients of a cluster (A23); a request says so, only if an ACL has a range."""
    if not any(is_range(acl.host) for acl in acls):
        return True
    try:
        return has_ranges(client.describe_features(timeout=timeout))
    except UnsupportedVersionError:
        return False


def evaluator_of(acls: Iterable[AclBinding], deciding: Authority) -> AclEvaluator:
    """The authorizer of a cluster."""
    return AclEvaluator(
        acls,
        super_users=deciding.super_users,
        allow_everyone_if_no_acl=deciding.allow_everyone_if_no_acl,
        ranges=deciding.ranges,
    )


def _of_a_broker(client: BlockingAdminClient, timeout: float) -> dict[str, str | None]:
    """The two configs of a broker that are set; None for a value that it does not show."""
    _, configs = configs_of_a_broker(client, timeout)
    if configs is None:
        return {_SUPER_USERS: None, _OPEN: None}
    return {key: configs[key].value for key in (_SUPER_USERS, _OPEN) if key in configs}


def print_effects(effects: AclEffects) -> None:
    """Print on standard error what a change means."""
    sentences = effects.sentences()
    for sentence in sentences[:_SHOWN_SENTENCES]:
        print(visible_lines(sentence), file=sys.stderr)
    if len(sentences) > _SHOWN_SENTENCES:
        print(f"and {len(sentences) - _SHOWN_SENTENCES} more effects", file=sys.stderr)
    if not sentences:
        print("no decision changes", file=sys.stderr)


def _warn(text: str) -> None:
    print(f"kafkawire: {text}", file=sys.stderr)
