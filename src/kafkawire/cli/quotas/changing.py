"""``kafkawire quotas set`` and ``delete``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import msgspec
import typer

from kafkawire.admin import BlockingAdminClient, ClientQuotaAlteration, ClientQuotaEntity, ClientQuotaFilter
from kafkawire.cli.access.changes import (
    ChangeOptions,
    OutcomeRow,
    Status,
    confirm,
    outcome_rows,
    print_outcomes,
)
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.items import FromOption, config_pairs, given_items
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.progress import call_progress
from kafkawire.cli.quotas.entities import (
    EntityOptions,
    QuotaItem,
    item_of_user,
)
from kafkawire.cli.visible import visible
from kafkawire.declared.wording import item_in_words
from kafkawire.model.quotas.configs import number_in_words

ValuesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE...", help="Quotas, such as producer_byte_rate=1048576, for all entities."),
]
KeysArgument = Annotated[
    list[str] | None, typer.Argument(metavar="KEY...", help="Quotas, such as producer_byte_rate; by default all.")
]


@cluster_command
def set_(
    cluster: Cluster,
    values: ValuesArgument = None,
    *,
    named: EntityOptions,
    file: FromOption = None,
    options: ChangeOptions,
) -> None:
    """Set quotas of any number of entities in one request. --dry-run has the broker check everything.

    --from reads what quotas describe prints as JSON or YAML: objects with entity and quotas, in which null removes a
    quota. A name on a line is a user, who gets the quotas of the arguments.
    """
    given = {key: _number(key, text) for key, text in config_pairs("KEY=VALUE", values or ()).items()}
    wanted = {entity: dict[str, float | None](given) for entity in named.entities}
    for item in given_items(file, QuotaItem, item_of_user) if file else ():
        entity = ClientQuotaEntity(item.entity)
        wanted[entity] = {**given, **wanted.get(entity, {}), **item.quotas}
    if not wanted:
        message = "no entity is named; give --user, --client-id, --ip, one of their defaults or --from FILE"
        raise CommandError(message, ExitCode.USAGE)
    if not all(wanted.values()):
        raise CommandError("an entity has no quotas; give KEY=VALUE", ExitCode.USAGE)
    if not options.dry_run:
        confirm(cluster, f"set quotas of {_in_words(list(wanted))}", yes=options.yes, destructive=False)
    with cluster.connected() as client:
        rows = _altered(client, wanted, "set", cluster.options.timeout, dry_run=options.dry_run)
    print_outcomes(rows, options.output)


@cluster_command
def delete(
    cluster: Cluster,
    keys: KeysArgument = None,
    *,
    named: EntityOptions,
    file: FromOption = None,
    options: ChangeOptions,
) -> None:
    """Delete quotas of entities: those of the keys, or all. --dry-run has the broker check everything."""
    items = given_items(file, QuotaItem, item_of_user) if file else []
    entities = list(dict.fromkeys([*named.entities, *(ClientQuotaEntity(each.entity) for each in items)]))
    if not entities:
        message = "no entity is named; give --user, --client-id, --ip, one of their defaults or --from FILE"
        raise CommandError(message, ExitCode.USAGE)
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        present = _described(client, entities, timeout)
        wanted = {
            entity: dict[str, float | None].fromkeys(key for key in present[entity] if not keys or key in keys)
            for entity in entities
            if entity in present
        }
        wanted = {entity: removed for entity, removed in wanted.items() if removed}
        if wanted and not options.dry_run:
            confirm(cluster, f"delete quotas of {_in_words(list(wanted))}", yes=options.yes)
        rows = _altered(client, wanted, "delete", timeout, dry_run=options.dry_run)
    missing = [each for each in entities if each not in wanted]
    rows += [
        OutcomeRow(item_in_words(each), "quota", "delete", Status.UNCHANGED, reason="it has none") for each in missing
    ]
    print_outcomes(rows, options.output)


def _altered(
    client: BlockingAdminClient,
    wanted: Mapping[ClientQuotaEntity, Mapping[str, float | None]],
    action: str,
    timeout: float,
    *,
    dry_run: bool,
) -> list[OutcomeRow]:
    """The outcomes of changes; those of a dry run say what would be changed."""
    alterations = [ClientQuotaAlteration(entity, values) for entity, values in wanted.items()]
    if not alterations:
        return []
    with call_progress("entities") as progress:
        results = client.alter_client_quotas(alterations, validate_only=dry_run, timeout=timeout, progress=progress)
    rows = outcome_rows(results, "quota", action, dry_run=dry_run, name=item_in_words)
    if not dry_run:
        return rows
    present = _described(client, wanted, timeout)
    return [
        msgspec.structs.replace(row, reason=row.reason or _changes(present.get(entity, {}), wanted[entity]))
        for row, entity in zip(rows, results, strict=True)
    ]


def _described(
    client: BlockingAdminClient, entities: Iterable[ClientQuotaEntity], timeout: float
) -> Mapping[ClientQuotaEntity, Mapping[str, float]]:
    filters = [ClientQuotaFilter.of_entity(each) for each in entities]
    return client.describe_client_quotas(filters, timeout=timeout).union()


def _changes(before: Mapping[str, float], after: Mapping[str, float | None]) -> str:
    """What would change, in words."""
    changed = [
        f"{key} {_value(before.get(key))} → {_value(value)}" for key, value in after.items() if before.get(key) != value
    ]
    return ", ".join(changed) or "as it is"


def _value(number: float | None) -> str:
    return "none" if number is None else number_in_words(number)


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CommandError(f"{key}: {text!r} is no number; give one", ExitCode.USAGE) from None


def _in_words(entities: Sequence[ClientQuotaEntity]) -> str:
    if len(entities) == 1:
        return visible(item_in_words(entities[0]))
    return f"{len(entities)} entities, the first {visible(item_in_words(entities[0]))}"
