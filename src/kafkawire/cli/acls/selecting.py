"""The options that name ACLs: their resources, principals, hosts, operations and permission."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import product
from typing import Annotated, Final, NamedTuple

import typer

from kafkawire.admin import AclBinding, AclBindingFilter, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.cli.acls.acl_row import parsed
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.principals import check_principals
from kafkawire.model.acls.bindings import CLUSTER_NAME, OPERATIONS_OF_RESOURCES, WILDCARD

PANEL: Final = "ACLs"


def _resources(option: str, noun: str) -> typer.models.OptionInfo:
    option_info: typer.models.OptionInfo = typer.Option(
        option, metavar="NAME", help=f"{noun}; * for all; repeatable.", rich_help_panel=PANEL
    )
    return option_info


TopicsOption = Annotated[list[str] | None, _resources("--topic", "A topic")]
GroupsOption = Annotated[list[str] | None, _resources("--group", "A group")]
TransactionalIdsOption = Annotated[list[str] | None, _resources("--transactional-id", "A transactional id")]
TokensOption = Annotated[list[str] | None, _resources("--delegation-token", "A delegation token")]
UsersOption = Annotated[list[str] | None, _resources("--user-principal", "A user as a resource, for tokens")]
ClusterOption = Annotated[bool, typer.Option("--cluster", help="The cluster itself.", rich_help_panel=PANEL)]
PrincipalsOption = Annotated[
    list[str] | None,
    typer.Option("--principal", metavar="TYPE:NAME", help="Such as User:alice; repeatable.", rich_help_panel=PANEL),
]
HostsOption = Annotated[
    list[str] | None,
    typer.Option("--host", metavar="ADDRESS", help="Address of clients; repeatable.", rich_help_panel=PANEL),
]
OperationsOption = Annotated[
    list[str] | None,
    typer.Option("--operation", metavar="NAME", help="Such as READ or all; repeatable.", rich_help_panel=PANEL),
]


class Permission(StrEnum):
    """Whether an ACL allows or denies."""

    ALLOW = "allow"
    DENY = "deny"


class PatternChoice(StrEnum):
    """Which ACLs a name of a filter finds."""

    ANY = "any"
    LITERAL = "literal"
    PREFIXED = "prefixed"
    MATCH = "match"


PermissionOption = Annotated[
    Permission | None,
    typer.Option(
        "--permission",
        help="Whether the ACLs allow or deny: create makes ACLs that allow by default, others find both.",
        rich_help_panel=PANEL,
    ),
]
PatternOption = Annotated[
    PatternChoice,
    typer.Option(
        "--pattern",
        help="ACLs whose name is the given one: literal, prefixed or any; or match, ACLs that concern the resource.",
        rich_help_panel=PANEL,
    ),
]
PrefixOption = Annotated[bool, typer.Option("--prefix", help="The names are prefixes of names.", rich_help_panel=PANEL)]


class AclResourceOptions(NamedTuple):
    """The options that name resources.

    Attributes:
        topic, group, transactional_id, delegation_token, user_principal: names of each type.
        of_cluster: whether the cluster is one.
    """

    topic: TopicsOption = None
    group: GroupsOption = None
    transactional_id: TransactionalIdsOption = None
    delegation_token: TokensOption = None
    user_principal: UsersOption = None
    of_cluster: ClusterOption = False

    def named(self) -> list[tuple[ResourceType, str]]:
        """The types and names."""
        names = {
            ResourceType.TOPIC: self.topic,
            ResourceType.GROUP: self.group,
            ResourceType.TRANSACTIONAL_ID: self.transactional_id,
            ResourceType.DELEGATION_TOKEN: self.delegation_token,
            ResourceType.USER: self.user_principal,
            ResourceType.CLUSTER: [CLUSTER_NAME] if self.of_cluster else None,
        }
        return [(resource_type, name) for resource_type, of_type in names.items() for name in of_type or ()]


class RightsOptions(NamedTuple):
    """The options that name who may do what, from where.

    Attributes:
        principal, host, operation: names.
        permission: whether it is allowed or denied.
    """

    principal: PrincipalsOption = None
    host: HostsOption = None
    operation: OperationsOption = None
    permission: PermissionOption = None


def filters(resources: AclResourceOptions, rights: RightsOptions, pattern: PatternChoice) -> list[AclBindingFilter]:
    """A filter for each combination; one that matches all ACLs if nothing is given.

    Raises:
        CommandError: a principal has no type, or there is no such operation.
    """
    check_principals("--principal", rights.principal)
    allowed = AclPermissionType.ANY if rights.permission is None else AclPermissionType.parse(rights.permission)
    codes = [parsed("--operation", AclOperation, each) for each in rights.operation or ["ANY"]]
    pattern_type = PatternType.parse(pattern)
    named: Sequence[tuple[ResourceType, str | None]] = [*resources.named()] or [(ResourceType.ANY, None)]
    any_principal: Sequence[str | None] = rights.principal or [None]
    any_host: Sequence[str | None] = rights.host or [None]
    combined = product(named, any_principal, codes, any_host)
    return [
        AclBindingFilter(resource_type, name, principal, operation, allowed, host, pattern_type)
        for (resource_type, name), principal, operation, host in combined
    ]


def bindings(resources: AclResourceOptions, rights: RightsOptions, *, prefix: bool) -> list[AclBinding]:
    """An ACL for each combination.

    Raises:
        CommandError: something is missing, or the resource does not have the operation.
    """
    named = resources.named()
    lacking = {
        "a resource, such as --topic NAME": named,
        "--principal": rights.principal,
        "--operation": rights.operation,
    }
    for what, given in lacking.items():
        if not given:
            raise CommandError(f"an ACL is not complete; give {what}", ExitCode.USAGE)
    pattern_type = PatternType.PREFIXED if prefix else PatternType.LITERAL
    allowed = AclPermissionType.parse(rights.permission or Permission.ALLOW)
    codes = [parsed("--operation", AclOperation, each) for each in rights.operation or ()]
    for (resource_type, _), operation in product(named, codes):
        possible = OPERATIONS_OF_RESOURCES[resource_type]
        if operation not in possible:
            words = ", ".join(each.name for each in sorted(possible))
            raise CommandError(f"--operation: a {resource_type} has no {operation}; give {words}", ExitCode.USAGE)
    return [
        AclBinding(
            resource_type,
            name,
            principal,
            operation,
            allowed,
            host,
            PatternType.LITERAL if resource_type is ResourceType.CLUSTER or name == WILDCARD else pattern_type,
        )
        for (resource_type, name), principal, operation, host in product(
            named, rights.principal or (), codes, rights.host or [WILDCARD]
        )
    ]


def resource_named(text: str) -> tuple[ResourceType, str]:
    """The resource of an argument such as ``topic:orders`` or ``cluster``.

    Raises:
        CommandError: it names none.
    """
    kind, colon, name = text.partition(":")
    if not colon and kind.lower() != "cluster":
        message = f"RESOURCE: {text!r} has no type; write topic:{text}, group:{text} or cluster"
        raise CommandError(message, ExitCode.USAGE)
    resource_type = parsed("RESOURCE", ResourceType, kind)
    if resource_type is ResourceType.CLUSTER and not colon:
        return resource_type, CLUSTER_NAME
    if resource_type not in OPERATIONS_OF_RESOURCES or not name:
        raise CommandError(f"RESOURCE: {text!r}: write topic:NAME, group:NAME or cluster", ExitCode.USAGE)
    return resource_type, name
