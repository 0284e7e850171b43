"""``kafkawire acls create`` and ``delete``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from kafkawire.admin import AclBinding, AclBindingFilter, BlockingAdminClient, Results
from kafkawire.cli.access.changes import (
    ChangeOptions,
    OutcomeRow,
    Status,
    confirm,
    outcome_rows,
    print_outcomes,
)
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.acls.acl_row import acls_in
from kafkawire.cli.acls.authority import AuthorityOptions, authority, effects_on, print_effects
from kafkawire.cli.acls.selecting import (
    PANEL,
    AclResourceOptions,
    PatternChoice,
    PatternOption,
    PrefixOption,
    RightsOptions,
    bindings,
    filters,
)
from kafkawire.cli.items import FromOption
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.progress import call_progress
from kafkawire.declared.wording import item_in_words
from kafkawire.model.acls.bindings import WILDCARD, PatternType
from kafkawire.model.acls.validation import reason_without_effect, refusal_of_binding
from kafkawire.wire.kafka_errors import KafkaError

ProducerOption = Annotated[
    bool,
    typer.Option(
        "--producer", help="What a producer to the topics needs, and of transactional ids.", rich_help_panel=PANEL
    ),
]
ConsumerOption = Annotated[
    bool, typer.Option("--consumer", help="What a consumer of the topics needs in the groups.", rich_help_panel=PANEL)
]
IdempotentOption = Annotated[
    bool,
    typer.Option("--idempotent", help="With --producer: it is idempotent without transactions.", rich_help_panel=PANEL),
]
EveryOption = Annotated[bool, typer.Option("--all", help="All ACLs of the cluster.", rich_help_panel=PANEL)]


@cluster_command
def create(
    cluster: Cluster,
    *,
    resources: AclResourceOptions,
    prefix: PrefixOption = False,
    rights: RightsOptions,
    producer: ProducerOption = False,
    consumer: ConsumerOption = False,
    idempotent: IdempotentOption = False,
    file: FromOption = None,
    given: AuthorityOptions,
    options: ChangeOptions,
) -> None:
    """Create an ACL for each combination of the options, and say who gains what. ACLs that exist stay as they are.

    --from reads what acls list prints as JSON or YAML. Brokers cannot check ACLs without creating them, so --dry-run
    checks here what they would refuse.
    """
    wanted = acls_in(file) if file else []
    if producer or consumer:
        if rights.operation or rights.permission:
            raise CommandError("--producer and --consumer choose the operations; give no others", ExitCode.USAGE)
        wanted += _for_clients(resources, rights, producer, consumer, idempotent, prefix)
    elif idempotent:
        raise CommandError("--idempotent is of a producer; give --producer too", ExitCode.USAGE)
    elif resources.named() or rights.principal or rights.operation or not file:
        wanted += bindings(resources, rights, prefix=prefix)
    wanted = list(dict.fromkeys(wanted))
    refusals = {acl: refusal_of_binding(acl) or reason_without_effect(acl) for acl in wanted}
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        present = client.describe_acls(timeout=timeout).union()
        existing = frozenset(present)
        new = [acl for acl in wanted if refusals[acl] is None and acl not in existing]
        after = [*present, *new]
        print_effects(effects_on(present, after, authority(client, given, after, timeout)))
        if not options.dry_run and new:
            confirm(cluster, f"create {_count(len(new))}", yes=options.yes, destructive=False)
        outcomes = _created(client, wanted, refusals, new, timeout, dry_run=options.dry_run)
    print_outcomes(outcomes, options.output)


@cluster_command
def delete(
    cluster: Cluster,
    *,
    resources: AclResourceOptions,
    rights: RightsOptions,
    pattern: PatternOption = PatternChoice.ANY,
    every: EveryOption = False,
    file: FromOption = None,
    given: AuthorityOptions,
    options: ChangeOptions,
) -> None:
    """Delete the ACLs that agree with every option, and say who loses what. --from deletes exactly those of a file.

    It says how many match and what that means before it asks.
    """
    chosen = filters(resources, rights, pattern)
    is_chosen = chosen != [AclBindingFilter()]
    listed = acls_in(file) if file else []
    if not (is_chosen or file or every):
        raise CommandError("no ACLs are named; give an option that names some, --from FILE or --all", ExitCode.USAGE)
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        present = client.describe_acls(timeout=timeout).union()
        matched = client.describe_acls(chosen, timeout=timeout).union() if is_chosen or every else ()
        existing = frozenset(present)
        gone = sorted({*matched, *(acl for acl in listed if acl in existing)})
        missing = [acl for acl in listed if acl not in existing]
        leaving = frozenset(gone)
        after = [acl for acl in present if acl not in leaving]
        print_effects(effects_on(present, after, authority(client, given, present, timeout)))
        if gone and not options.dry_run:
            confirm(cluster, f"delete {_count(len(gone))}", yes=options.yes)
        rows = _deleted(client, gone, timeout, dry_run=options.dry_run)
    rows += [_unchanged(acl, "delete", "it is not there") for acl in missing]
    print_outcomes(rows, options.output)


def _for_clients(
    resources: AclResourceOptions,
    rights: RightsOptions,
    producer: bool,
    consumer: bool,
    idempotent: bool,
    prefix: bool,
) -> list[AclBinding]:
    if not rights.principal or not resources.topic:
        raise CommandError("--producer and --consumer need --topic and --principal; give both", ExitCode.USAGE)
    if consumer and not resources.group:
        raise CommandError("--consumer needs the groups of the consumer; give --group", ExitCode.USAGE)
    pattern = PatternType.PREFIXED if prefix else PatternType.LITERAL
    found: list[AclBinding] = []
    for principal in rights.principal:
        for host in rights.host or [WILDCARD]:
            if producer:
                found += AclBinding.producer(
                    principal,
                    resources.topic,
                    transactional_ids=resources.transactional_id or (),
                    idempotent=idempotent,
                    host=host,
                    pattern_type=pattern,
                )
            if consumer:
                found += AclBinding.consumer(
                    principal, resources.topic, resources.group or (), host=host, pattern_type=pattern
                )
    return found


def _created(
    client: BlockingAdminClient,
    wanted: Sequence[AclBinding],
    refusals: Mapping[AclBinding, KafkaError | None],
    new: Sequence[AclBinding],
    timeout: float,
    *,
    dry_run: bool,
) -> list[OutcomeRow]:
    outcomes: dict[AclBinding, object] = dict.fromkeys(new)
    if new and not dry_run:
        with call_progress("ACLs") as progress:
            outcomes = dict(client.create_acls(new, timeout=timeout, progress=progress).items())
    created = outcome_rows(Results(outcomes), "acl", "create", dry_run=dry_run, name=item_in_words)
    rows = dict(zip(outcomes, created, strict=True))
    listed = []
    for acl in wanted:
        refusal = refusals[acl]
        if refusal is not None:
            listed.append(OutcomeRow.failed(item_in_words(acl), "acl", "create", refusal))
        else:
            listed.append(rows.get(acl) or _unchanged(acl, "create", "it exists"))
    return listed


def _deleted(
    client: BlockingAdminClient, acls: Sequence[AclBinding], timeout: float, *, dry_run: bool
) -> list[OutcomeRow]:
    outcomes: dict[AclBinding, object] = dict.fromkeys(acls)
    if acls and not dry_run:
        with call_progress("ACLs") as progress:
            results = client.delete_acls([acl.to_filter() for acl in acls], timeout=timeout, progress=progress)
        for acl in acls:
            of_filter = results[acl.to_filter()] if acl.to_filter() in results.values() else None
            error = results.errors().get(acl.to_filter())
            outcomes[acl] = error if of_filter is None else of_filter.errors().get(acl)
    return outcome_rows(Results(outcomes), "acl", "delete", dry_run=dry_run, name=item_in_words)


def _unchanged(acl: AclBinding, action: str, reason: str) -> OutcomeRow:
    return OutcomeRow(item_in_words(acl), "acl", action, Status.UNCHANGED, reason=reason)


def _count(number: int) -> str:
    return "1 ACL" if number == 1 else f"{number} ACLs"
