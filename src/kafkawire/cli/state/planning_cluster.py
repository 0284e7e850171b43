"""Plans a cluster for the commands: reads documents and the cluster, and has the plan checked."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple

from kafkawire.admin import BlockingAdminClient
from kafkawire.cli.access.cluster_command import Cluster
from kafkawire.cli.acls.authority import AuthorityOptions, authority
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.state.caller import UnknownCallerError, caller_of
from kafkawire.cli.state.plan_options import PlanOptions
from kafkawire.cli.state.reading_cluster import print_unread, read_with_progress
from kafkawire.cli.visible import visible
from kafkawire.declared.checking import check_plan
from kafkawire.declared.documents.declared import ALL, Declared, PruneScope
from kafkawire.declared.effects_of_plan import PlanEffects, changed_acls, effects_of_plan
from kafkawire.declared.own_access import keep_access, may_take_access
from kafkawire.declared.planned import Action, Item, Kind, Plan
from kafkawire.declared.planning import plan_of
from kafkawire.declared.scope import ReadScope
from kafkawire.model.acls.authority import Authority
from kafkawire.model.acls.bindings import AclBinding

_MAY_SHUT_OUT = {(Kind.ACLS, Action.CREATE), (Kind.ACLS, Action.DELETE), (Kind.USERS, Action.DELETE)}
"""Items that can take from their caller what it needs."""


class CheckedPlan(NamedTuple):
    """A plan that has been checked.

    Attributes:
        plan: the plan.
        effects: what it means.
        authority: what decides beside ACLs.
    """

    plan: Plan
    effects: PlanEffects
    authority: Authority


def planned(cluster: Cluster, client: BlockingAdminClient, declared: Declared, options: PlanOptions) -> CheckedPlan:
    """The plan that brings a cluster to what documents declare.

    Raises:
        CommandError: --prune has no scope, or it is not known who calls.
        KafkaError: the cluster does not answer.
    """
    scopes = _scopes_of(declared, options)
    gc.freeze()  # what documents declare stays: searching it for garbage takes a quarter of the time of a large plan
    read = read_with_progress(client, _read_scope(declared, options, scopes), cluster.options.timeout)
    print_unread(read.unread)
    gc.freeze()
    plan = plan_of(
        declared.state,
        read.state,
        cluster_id=read.cluster_id,
        kinds=options.kinds,
        may_delete=lambda kind, item: any(scope.contains(kind, item) for scope in scopes),
        secrets=declared.secrets.keys(),
        set_secrets=options.set_secrets,
        unread=read.unread,
        where=lambda kind, item: _where(declared, kind, item),
    )
    timeout = cluster.options.timeout
    deciding = Authority(options.super_users or (), options.is_open or False)
    changed = changed_acls(plan)
    if changed:
        super_users = None if options.super_users is None else list(options.super_users)
        deciding = authority(client, AuthorityOptions(super_users, options.is_open), read.state.acls | changed, timeout)
    plan = keeping_access(plan, read.state.acls, cluster, client, options.caller, deciding)
    with progress_of("checking the plan") as report:
        plan = client.run(lambda admin: check_plan(admin, plan, timeout=timeout, progress=report))
    return CheckedPlan(plan, effects_of_plan(plan, read.state, deciding), deciding)


@contextmanager
def progress_of(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console  # noqa: PLC0415 slow to import, and most calls are not on a terminal

    from kafkawire.cli.progress import progress_bar  # noqa: PLC0415 the same

    with progress_bar(Console(stderr=True)) as bar:
        yield lambda done, total: bar(what, done, total)


def _scopes_of(declared: Declared, options: PlanOptions) -> tuple[PruneScope, ...]:
    if not options.prune:
        return ()
    scopes = (*declared.prune, *options.scopes)
    if not scopes:
        message = (
            "--prune: neither the documents nor options say what may be deleted; write prune: in a document, or give "
            "--prune-prefix, --prune-principal or --prune-kind"
        )
        raise CommandError(message, ExitCode.USAGE)
    return scopes


def _read_scope(declared: Declared, options: PlanOptions, scopes: tuple[PruneScope, ...]) -> ReadScope:
    """What must be read: what is declared, and what may be deleted."""
    state = declared.state
    pruned = frozenset(chain.from_iterable(scope.kinds for scope in scopes))
    by_kind: Mapping[Kind, object] = {
        Kind.TOPICS: state.topics,
        Kind.CONFIGS: state.configs,
        Kind.ACLS: state.acls,
        Kind.QUOTAS: state.quotas,
        Kind.USERS: state.credentials,
    }
    prefixes = tuple(chain.from_iterable(scope.topic_prefixes for scope in scopes if Kind.TOPICS in scope.kinds))
    return ReadScope(
        kinds=frozenset(kind for kind in options.kinds if by_kind[kind] or kind in pruned),
        topics=None if ALL in prefixes else frozenset(state.topics),
        topic_prefixes=() if ALL in prefixes else prefixes,
        configs=None if Kind.CONFIGS in pruned else frozenset(state.configs),
        users=None if Kind.USERS in pruned else frozenset(user for user, _ in state.credentials),
    )


def _where(declared: Declared, kind: Kind, item: Item) -> str | None:
    position = declared.position(kind, item)
    return None if position is None else str(position)


def keeping_access(
    plan: Plan,
    acls: Iterable[AclBinding],
    cluster: Cluster,
    client: BlockingAdminClient,
    caller: str | None,
    deciding: Authority,
) -> Plan:
    """The plan without what would take the caller's own rights and credentials.

    Raises:
        CommandError: it may take some, and it is not known who calls.
    """
    if not {(item.kind, item.action) for item in plan.items} & _MAY_SHUT_OUT:
        return plan
    is_open = deciding.allow_everyone_if_no_acl
    if caller is None:
        try:
            caller = _caller(cluster, client)
        except UnknownCallerError as error:
            danger = may_take_access(plan, acls, allow_everyone_if_no_acl=is_open)
            if danger is None:
                return plan
            message = (
                f"{danger}, which could be those that the caller itself lives by, and it is not known who calls: "
                f"{error}; give --caller User:NAME, the principal as ACLs name it, so that its rights stay"
            )
            raise CommandError(message, ExitCode.USAGE) from None
    return keep_access(plan, acls, caller, deciding.super_users, allow_everyone_if_no_acl=is_open)


def _caller(cluster: Cluster, client: BlockingAdminClient) -> str:
    given = cluster.access.client_arguments()
    caller = caller_of(given.credentials, given.tls, client, cluster.options.timeout)
    if caller.source:
        print(f"kafkawire: you call as {visible(caller.principal)}, by {visible(caller.source)}", file=sys.stderr)
    return caller.principal
