"""``kafkawire acls who-can`` and ``may``."""

from __future__ import annotations

from typing import Annotated, ClassVar

import typer

from kafkawire.admin import (
    AclBindingFilter,
    AclOperation,
    BlockingAdminClient,
    PatternType,
    ResourceType,
)
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.acls.acl_row import parsed
from kafkawire.cli.acls.authority import AuthorityOptions, authority, evaluator_of
from kafkawire.cli.acls.selecting import resource_named
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole
from kafkawire.declared.wording import item_in_words
from kafkawire.model.acls.bindings import OPERATIONS_OF_RESOURCES, AclBinding
from kafkawire.model.acls.evaluation import EVERYBODY
from kafkawire.model.acls.past_rights import PastAcl, who_could

OperationArgument = Annotated[str, typer.Argument(metavar="OPERATION", help="Such as READ or describe-configs.")]
ResourceArgument = Annotated[
    str, typer.Argument(metavar="RESOURCE", help="topic:NAME, group:NAME, transactional-id:NAME ... or cluster.")
]
PrincipalArgument = Annotated[str, typer.Argument(metavar="PRINCIPAL", help="Such as User:alice.")]
HostOption = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="Address of the client; by default one that no ACL names.")
]

_UNNAMED: str = "an address that no ACL names"
"""Equal to no host of an ACL."""


class RightRow(Row, frozen=True):
    """A principal that may do an operation on a resource.

    Attributes:
        principal: ``User:alice``; ``User:*`` for all that have no row and are not in ``excepted``.
        host: from which address; ``*`` for all that have no row of the principal and are not in ``excepted_hosts``.
        reason: the reason of the decision.
        acl: the ACL that decides, in words.
        excepted: principals that may not, where it is about all.
        excepted_hosts: hosts from which it may not, where it is about all.
    """

    principal: str
    host: str
    reason: str
    acl: str | None
    excepted: tuple[str, ...] = ()
    excepted_hosts: tuple[str, ...] = ()

    ROLES: ClassVar = {"host": ColumnRole.KEY, "excepted": ColumnRole.DETAIL, "excepted_hosts": ColumnRole.DETAIL}


class DecisionRow(Row, frozen=True):
    """A decision of the authorizer.

    Attributes:
        principal, operation, resource, host: the question.
        allowed: whether it is allowed.
        reason: the reason.
        acl: the ACL that decides, in words.
    """

    principal: str
    operation: str
    resource: str
    host: str | None
    allowed: bool
    reason: str
    acl: str | None


@cluster_command
def who_can(
    cluster: Cluster,
    operation: OperationArgument,
    resource: ResourceArgument,
    *,
    given: AuthorityOptions,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """List all principals that may do an operation on a resource, each with the ACL that decides.

    The resource need not exist. A row of User:* is about every principal without a row of its own.
    """
    resource_type, name = resource_named(resource)
    wanted = operation_named(operation, resource_type)
    with cluster.connected() as client:
        concerning = _concerning(client, resource_type, name, cluster.options.timeout)
        deciding = authority(client, given, concerning, cluster.options.timeout)
    rights = who_could(
        map(PastAcl, concerning),
        wanted,
        resource_type,
        name,
        super_users=deciding.super_users,
        allow_everyone_if_no_acl=deciding.allow_everyone_if_no_acl,
        ranges=deciding.ranges,
    )
    rows = [
        RightRow(
            each.principal, each.host, each.reason.value, acl_in_words(each.acl), each.excepted, each.excepted_hosts
        )
        for each in rights
        if each.allowed
    ]
    print_rows(rows, RightRow, output, empty="no principal may do it")


@cluster_command
def may(
    cluster: Cluster,
    principal: PrincipalArgument,
    operation: OperationArgument,
    resource: ResourceArgument,
    host: HostOption = "",
    *,
    given: AuthorityOptions,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Say whether a principal may do an operation on a resource, and which ACL decides. Exit code 1 if it may not."""
    resource_type, name = resource_named(resource)
    wanted = operation_named(operation, resource_type)
    if ":" not in principal or principal == EVERYBODY:
        raise CommandError(f"PRINCIPAL: {principal!r}: write one, such as User:alice", ExitCode.USAGE)
    with cluster.connected() as client:
        concerning = _concerning(client, resource_type, name, cluster.options.timeout)
        deciding = authority(client, given, concerning, cluster.options.timeout)
    evaluator = evaluator_of(concerning, deciding)
    decision = evaluator.decide(principal, wanted, resource_type, name, host or _UNNAMED)
    row = DecisionRow(
        principal,
        str(wanted),
        f"{resource_type.name.lower()}:{name}",
        host or None,
        decision.allowed,
        decision.reason.value,
        acl_in_words(decision.acl),
    )
    print_rows([row], DecisionRow, output)
    if not decision.allowed:
        raise typer.Exit(ExitCode.FAILED)


def operation_named(text: str, resource_type: ResourceType) -> AclOperation:
    """The operation of an argument such as ``READ``.

    Raises:
        CommandError: it names none, or none that clients do on such a resource.
    """
    operation = parsed("OPERATION", AclOperation, text)
    possible = OPERATIONS_OF_RESOURCES[resource_type] - {AclOperation.ALL}
    if operation not in possible:
        words = ", ".join(each.name for each in sorted(possible))
        raise CommandError(f"OPERATION: clients do no {operation} on a {resource_type}; give {words}", ExitCode.USAGE)
    return operation


def _concerning(
    client: BlockingAdminClient, resource_type: ResourceType, name: str, timeout: float
) -> tuple[AclBinding, ...]:
    wanted = AclBindingFilter(resource_type, name, pattern_type=PatternType.MATCH)
    return client.describe_acls([wanted], timeout=timeout).union()


def acl_in_words(acl: AclBinding | None) -> str | None:
    """An ACL as a sentence."""
    return None if acl is None else item_in_words(acl)
