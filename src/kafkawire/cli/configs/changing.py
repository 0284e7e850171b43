"""``kafkawire configs set``, ``delete``, ``append`` and ``subtract``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import msgspec
import typer

from kafkawire.admin import BlockingAdminClient, ConfigChange, ConfigResource
from kafkawire.cli.access.changes import (
    ChangeOptions,
    OutcomeRow,
    confirm,
    outcome_rows,
    print_outcomes,
)
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.configs.preview import changes_in_words
from kafkawire.cli.configs.resources import (
    ConfigItem,
    ResourceOptions,
    check_named,
    with_suggestions,
)
from kafkawire.cli.configs.unset import configs_not_set, with_unset
from kafkawire.cli.items import FromOption, config_pairs, given_items
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.progress import call_progress
from kafkawire.cli.topics.creating import config_text
from kafkawire.cli.visible import visible
from kafkawire.declared.wording import item_in_words
from kafkawire.model.configs.broker_names import broker_definition

ValuesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="CONFIG=VALUE...", help="Configs with their new values.")
]
EntriesArgument = Annotated[
    list[str], typer.Argument(metavar="CONFIG=ENTRY,...", help="Configs that are lists, with entries of them.")
]
KeysArgument = Annotated[list[str] | None, typer.Argument(metavar="CONFIG...", help="Names of configs.")]

_Changes = Mapping[ConfigResource, Sequence[ConfigChange]]


@cluster_command
def set_(
    cluster: Cluster,
    values: ValuesArgument = None,
    *,
    named: ResourceOptions,
    file: FromOption = None,
    options: ChangeOptions,
) -> None:
    """Set configs of any number of resources, all or none of each. --dry-run has the brokers check everything.

    Objects of --from have type (topic by default, broker, broker-logger, client-metrics or group), name and configs, in
    which null removes a config. Passwords are taken from there only: other users can read the words of a command.
    """
    check_named(named, others=file is not None)
    pairs = config_pairs("CONFIG=VALUE", values or ())
    _refuse_passwords(pairs)
    items = given_items(file, ConfigItem) if file else []
    changes = [ConfigChange.set(name, value) for name, value in pairs.items()]
    of_items: dict[ConfigResource, Sequence[ConfigChange]] = {}
    for item in items:
        own = {name: None if value is None else config_text(value) for name, value in item.configs.items()}
        texts: Mapping[str, str | None] = {**pairs, **own}
        of_items[item.resource] = [
            ConfigChange.delete(name) if value is None else ConfigChange.set(name, value)
            for name, value in texts.items()
        ]
    if (any(named) and not changes) or not all(of_items.values()):
        raise CommandError("a resource has no configs to set; give CONFIG=VALUE", ExitCode.USAGE)
    _change(cluster, named, changes, of_items, "set", options)


@cluster_command
def delete(
    cluster: Cluster,
    configs: KeysArgument = None,
    *,
    named: ResourceOptions,
    options: ChangeOptions,
) -> None:
    """Remove values of configs, so that defaults apply again. --dry-run has the brokers check everything."""
    check_named(named, others=False)
    if not configs:
        raise CommandError("no config is named; give names", ExitCode.USAGE)
    changes = list(map(ConfigChange.delete, dict.fromkeys(configs)))
    _change(cluster, named, changes, {}, "delete", options)


@cluster_command
def append(
    cluster: Cluster,
    entries: EntriesArgument,
    *,
    named: ResourceOptions,
    options: ChangeOptions,
) -> None:
    """Add entries to configs that are lists; those that are there already stay once."""
    _change_lists(cluster, named, entries, ConfigChange.append, "append", options)


@cluster_command
def subtract(
    cluster: Cluster,
    entries: EntriesArgument,
    *,
    named: ResourceOptions,
    options: ChangeOptions,
) -> None:
    """Remove entries from configs that are lists; those that are not there do not matter."""
    _change_lists(cluster, named, entries, ConfigChange.subtract, "subtract", options)


def _change_lists(
    cluster: Cluster,
    named: ResourceOptions,
    entries: Sequence[str],
    of_entry: Callable[[str, str], ConfigChange],
    action: str,
    options: ChangeOptions,
) -> None:
    check_named(named, others=False)
    changes = [of_entry(name, value) for name, value in config_pairs("CONFIG=ENTRY", entries).items()]
    _change(cluster, named, changes, {}, action, options)


def _change(
    cluster: Cluster,
    named: ResourceOptions,
    changes: Sequence[ConfigChange],
    of_items: _Changes,
    action: str,
    options: ChangeOptions,
) -> None:
    """The changes of resources that options name, and those of a file."""
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        wanted = {**dict.fromkeys(named.resources(client, timeout), changes), **of_items}
        if wanted and not options.dry_run:
            confirm(cluster, f"change configs of {_in_words(list(wanted))}", yes=options.yes, destructive=False)
        rows = _outcomes(client, wanted, action, timeout, dry_run=options.dry_run)
    print_outcomes(rows, options.output)


def _outcomes(
    client: BlockingAdminClient, wanted: _Changes, action: str, timeout: float, *, dry_run: bool
) -> list[OutcomeRow]:
    unset = configs_not_set(client, wanted, timeout)
    with call_progress("resources") as progress:
        results = client.incremental_alter_configs(wanted, validate_only=dry_run, timeout=timeout, progress=progress)
    results = with_suggestions(client, results, timeout)
    rows = outcome_rows(results, "config", action, dry_run=dry_run, name=item_in_words)
    if not dry_run:
        return with_unset(rows, results, wanted, unset)
    keys = {change.name for changes in wanted.values() for change in changes}
    present = client.describe_configs(results.values(), keys=keys, include_synonyms=True, timeout=timeout).values()
    made = {
        resource: [each for each in changes if each.name not in unset.get(resource, ())]
        for resource, changes in wanted.items()
    }
    rows = [
        msgspec.structs.replace(row, reason=row.reason or changes_in_words(resource, present, made[resource]))
        for row, resource in zip(rows, results, strict=True)
    ]
    return with_unset(rows, results, wanted, unset)


def _refuse_passwords(pairs: Mapping[str, str]) -> None:
    for name in pairs:
        definition = broker_definition(name)
        if definition is not None and definition.is_sensitive:
            message = (
                f"{name} is a secret, and other users can read the words of a command; give it in a file by --from, or "
                "on standard input by --from -"
            )
            raise CommandError(message, ExitCode.USAGE)


def _in_words(resources: Sequence[ConfigResource]) -> str:
    if len(resources) == 1:
        return visible(item_in_words(resources[0]))
    return f"{len(resources)} resources, the first {visible(item_in_words(resources[0]))}"
