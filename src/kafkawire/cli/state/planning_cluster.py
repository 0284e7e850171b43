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
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.state.plan_options import PlanOptions
from kafkawire.cli.state.plan_text import Effects
from kafkawire.cli.state.reading_cluster import print_unread, read_with_progress
from kafkawire.declared.checking import check_plan
from kafkawire.declared.documents.declared import ALL, Declared, PruneScope
from kafkawire.declared.own_access import keep_access
from kafkawire.declared.planned import Action, Item, Kind, Plan
from kafkawire.declared.planning import plan_of
from kafkawire.declared.requests_of_plan import quota_alteration
from kafkawire.declared.scope import ReadScope
from kafkawire.declared.state import ClusterState
from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.quotas.effects import quota_effects, quota_effects_in_words

_USER = "User:"
_ANONYMOUS = "User:ANONYMOUS"
_MAY_SHUT_OUT = {(Kind.ACLS, Action.CREATE), (Kind.ACLS, Action.DELETE), (Kind.USERS, Action.DELETE)}
"""Items that can take from their caller what it needs."""


class CheckedPlan(NamedTuple):
    """A plan that has been checked.

    Attributes:
        plan: the plan.
        effects: what it means.
    """

    plan: Plan
    effects: Effects


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
    plan = keeping_access(plan, read.state.acls, cluster, options)
    timeout = cluster.options.timeout
    with progress_of("checking the plan") as report:
        plan = client.run(lambda admin: check_plan(admin, plan, timeout=timeout, progress=report))
    return CheckedPlan(plan, _effects(plan, read.state, options))


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


def keeping_access(plan: Plan, acls: Iterable[AclBinding], cluster: Cluster, options: PlanOptions) -> Plan:
    """The plan without what would take the caller's own rights and credentials.

    Raises:
        CommandError: ACLs would be deleted, and it is not known who calls.
    """
    taken = {(item.kind, item.action) for item in plan.items}
    if not taken & _MAY_SHUT_OUT:
        return plan
    caller = options.caller or caller_of(cluster)
    if caller is None:
        if (Kind.ACLS, Action.DELETE) in taken:
            message = "ACLs would be deleted, and it is not known who calls: give --caller, so that its own ACLs stay"
            raise CommandError(message, ExitCode.USAGE)
        return plan
    return keep_access(plan, acls, caller, options.super_users)


def caller_of(cluster: Cluster) -> str | None:
    """The principal of the login; None if it cannot be known from here, as with a token, which is not its owner."""
    given = cluster.access.client_arguments()
    user = getattr(given.credentials, "username", None)
    if isinstance(user, str):
        return None if getattr(given.credentials, "is_delegation_token", False) else _USER + user
    return _ANONYMOUS if given.credentials is None and given.tls is None else None


def _effects(plan: Plan, current: ClusterState, options: PlanOptions) -> Effects:
    """What the plan means."""
    created = _acls_of(plan, Action.CREATE)
    deleted = _acls_of(plan, Action.DELETE)
    access: list[str] = []
    if created or deleted:
        from kafkawire.model.acls.effects import acl_effects  # noqa: PLC0415 most plans have no ACLs

        after = current.acls - deleted | created
        access = acl_effects(current.acls, after, super_users=options.super_users).sentences()
    return Effects(access, list(_quota_effects(plan, current)))


def _acls_of(plan: Plan, action: Action) -> frozenset[AclBinding]:
    return frozenset(item.item for item in plan.items if item.action is action and isinstance(item.item, AclBinding))


def _quota_effects(plan: Plan, current: ClusterState) -> Iterable[str]:
    changed = [
        item
        for item in plan.items
        if item.kind is Kind.QUOTAS and item.action in {Action.CREATE, Action.CHANGE, Action.DELETE}
    ]
    if not changed:
        return ()
    before = {entity: _set(values) for entity, values in current.quotas.items()}
    after = dict(before)
    for alteration in map(quota_alteration, changed):
        after[alteration.entity] = _set({**after.get(alteration.entity, {}), **alteration.values})
    return quota_effects_in_words(quota_effects(before, after))


def _set(values: Mapping[str, float | None]) -> dict[str, float]:
    return {key: value for key, value in values.items() if value is not None}
