"""``kafkawire acls who-can`` and ``may``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

import typer

from kafkawire.admin import (
    AclBindingFilter,
    AclEvaluator,
    AclOperation,
    BlockingAdminClient,
    Decision,
    PatternType,
    Reason,
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
from kafkawire.model.acls.bindings import OPERATIONS_OF_RESOURCES, WILDCARD, AclBinding
from kafkawire.model.acls.evaluation import EVERYBODY

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
    wanted = _operation(operation, resource_type)
    with cluster.connected() as client:
        concerning = _concerning(client, resource_type, name, cluster.options.timeout)
        deciding = authority(client, given, cluster.options.timeout)
    rows = [RightRow(each, WILDCARD, Reason.SUPER_USER.value, None) for each in deciding.super_users]
    evaluator = evaluator_of(concerning, deciding)
    known = {acl.principal for acl in concerning} - {*deciding.super_users, EVERYBODY}
    hosts = sorted({acl.host for acl in concerning} - {WILDCARD})
    asked = _Asked(evaluator, wanted, resource_type, name, hosts)
    of_others = asked.rows(EVERYBODY, _UNNAMED)
    denied = []
    for principal in sorted(known):
        of_principal = asked.rows(principal, principal)
        if not of_principal:
            denied.append(principal)
        rows += of_principal
    rows += [
        RightRow(each.principal, each.host, each.reason, each.acl, tuple(denied), each.excepted_hosts)
        for each in of_others
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
    wanted = _operation(operation, resource_type)
    if ":" not in principal or principal == EVERYBODY:
        raise CommandError(f"PRINCIPAL: {principal!r}: write one, such as User:alice", ExitCode.USAGE)
    with cluster.connected() as client:
        concerning = _concerning(client, resource_type, name, cluster.options.timeout)
        deciding = authority(client, given, cluster.options.timeout)
    decision = evaluator_of(concerning, deciding).decide(principal, wanted, resource_type, name, host or _UNNAMED)
    row = DecisionRow(
        principal,
        str(wanted),
        f"{resource_type.name.lower()}:{name}",
        host or None,
        decision.allowed,
        decision.reason.value,
        _acl(decision),
    )
    print_rows([row], DecisionRow, output)
    if not decision.allowed:
        raise typer.Exit(ExitCode.FAILED)


class _Asked:
    """An operation on a resource, and the hosts that ACLs name."""

    def __init__(
        self,
        evaluator: AclEvaluator,
        operation: AclOperation,
        resource_type: ResourceType,
        name: str,
        hosts: list[str],
    ) -> None:
        self._evaluator = evaluator
        self._operation = operation
        self._resource_type = resource_type
        self._name = name
        self._hosts = hosts

    def rows(self, principal: str, decided_as: str) -> list[RightRow]:
        """The hosts from which a principal may: all except some, or some."""
        return list(self._rows(principal, decided_as))

    def _rows(self, principal: str, decided_as: str) -> Iterator[RightRow]:
        decisions = {host: self._decision(decided_as, host) for host in self._hosts}
        others = self._decision(decided_as, _UNNAMED)
        if others.allowed:
            excepted = tuple(host for host, decision in decisions.items() if not decision.allowed)
            yield RightRow(principal, WILDCARD, others.reason.value, _acl(others), excepted_hosts=excepted)
            return
        for host, decision in decisions.items():
            if decision.allowed:
                yield RightRow(principal, host, decision.reason.value, _acl(decision))

    def _decision(self, principal: str, host: str) -> Decision:
        return self._evaluator.decide(principal, self._operation, self._resource_type, self._name, host)


def _operation(text: str, resource_type: ResourceType) -> AclOperation:
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


def _acl(decision: Decision) -> str | None:
    return None if decision.acl is None else item_in_words(decision.acl)
