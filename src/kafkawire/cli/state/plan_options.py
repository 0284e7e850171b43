"""The options that ``plan`` and ``apply`` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import typer

from kafkawire.cli.acls.authority import OpenOption, SuperUsersOption
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.principals import check_principals
from kafkawire.cli.state.selection_options import OnlyOption, selected
from kafkawire.declared.documents.declared import ALL, PruneScope
from kafkawire.declared.planned import Kind

PruneOption = Annotated[
    bool,
    typer.Option(
        "--prune",
        help="Also delete what is not declared, in the scope that the documents or the next options name.",
    ),
]
PrunePrefixOption = Annotated[
    list[str] | None,
    typer.Option(metavar="PREFIX", help="Scope of --prune: topics whose names begin so; repeatable."),
]
PrunePrincipalOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE:NAME",
        help="Scope of --prune: ACLs, quotas and SCRAM credentials of this principal; repeatable.",
    ),
]
PruneKindOption = Annotated[
    list[Kind] | None,
    typer.Option(help="Scope of --prune: everything of this kind; repeatable."),
]
CallerOption = Annotated[
    str | None,
    typer.Option(
        metavar="TYPE:NAME",
        help="The principal that calls, whose own rights are not taken away; by default that of the login.",
    ),
]
SetSecretsOption = Annotated[
    bool,
    typer.Option(
        "--set-secrets", help="Set passwords and secret configs again where they are set: they cannot be compared."
    ),
]


class GivenPlanOptions(NamedTuple):
    """The options of commands that plan.

    Attributes:
        only: the kinds to plan.
        prune: whether something may be deleted.
        prune_prefix, prune_principal, prune_kind: where, besides what documents say.
        set_secrets: whether secrets are set again.
        caller: the principal that calls.
        super_user: principals that need no ACLs; None for those that the brokers show.
        everyone: whether resources without ACLs are open to everyone; likewise.
    """

    only: OnlyOption = None
    prune: PruneOption = False
    prune_prefix: PrunePrefixOption = None
    prune_principal: PrunePrincipalOption = None
    prune_kind: PruneKindOption = None
    set_secrets: SetSecretsOption = False
    caller: CallerOption = None
    super_user: SuperUsersOption = None
    everyone: OpenOption = None


class PlanOptions(NamedTuple):
    """What the user says of a plan.

    Attributes:
        kinds: the kinds to plan.
        prune: whether something may be deleted.
        scopes: where, besides what documents say.
        caller: the principal that calls; None for that of the login.
        super_users: principals of the brokers' super.users; None for those that the brokers show.
        is_open: the brokers' allow.everyone.if.no.acl.found; None for what the brokers show.
        set_secrets: whether secrets are set again.
    """

    kinds: frozenset[Kind] = frozenset(Kind)
    prune: bool = False
    scopes: tuple[PruneScope, ...] = ()
    caller: str | None = None
    super_users: tuple[str, ...] | None = None
    is_open: bool | None = None
    set_secrets: bool = False


def plan_options(given: GivenPlanOptions) -> PlanOptions:
    """What the options mean.

    Raises:
        CommandError: a principal has no type, or there is a scope without --prune.
    """
    check_principals("--prune-principal", given.prune_principal)
    check_principals("--caller", () if given.caller is None else (given.caller,))
    check_principals("--super-user", given.super_user)
    scopes = tuple(_scopes(given.prune_prefix or (), given.prune_principal or (), given.prune_kind or ()))
    if scopes and not given.prune:
        raise CommandError("a scope of deletions is given without --prune; give --prune too", ExitCode.USAGE)
    return PlanOptions(
        kinds=selected(given.only, None, None).kinds,
        prune=given.prune,
        scopes=scopes,
        caller=given.caller,
        super_users=None if given.super_user is None else tuple(given.super_user),
        is_open=given.everyone,
        set_secrets=given.set_secrets,
    )


def _scopes(prefixes: Sequence[str], principals: Sequence[str], kinds: Sequence[Kind]) -> list[PruneScope]:
    found = []
    if prefixes:
        found.append(PruneScope(kinds=frozenset({Kind.TOPICS}), topic_prefixes=tuple(prefixes)))
    if principals:
        of_principals = frozenset({Kind.ACLS, Kind.QUOTAS, Kind.USERS})
        found.append(PruneScope(kinds=of_principals, principals=frozenset(principals)))
    if kinds:
        found.append(PruneScope(kinds=frozenset(kinds), topic_prefixes=(ALL,), principals=frozenset({ALL})))
    return found
