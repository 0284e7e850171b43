"""``kafkawire topics alter``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import msgspec
import typer

from kafkawire.admin import BlockingAdminClient, ConfigChange, ConfigResource, Results
from kafkawire.cli.access.changes import (
    ChangeOptions,
    OutcomeRow,
    Status,
    confirm,
    outcome_rows,
    print_outcomes,
)
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.configs.unset import configs_not_set, with_unset
from kafkawire.cli.items import FromOption, config_pairs, given_items
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.progress import call_progress
from kafkawire.cli.topics.creating import Simple, config_text
from kafkawire.cli.topics.selection import RegexOption, TopicsArgument, in_words, matching

PartitionsOption = Annotated[int | None, typer.Option(min=1, help="The new number of partitions; never fewer.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A config to set; repeatable.")
]
DeleteOption = Annotated[
    list[str] | None,
    typer.Option("--delete", metavar="NAME", help="A config to remove, so that the default applies; repeatable."),
]


class TopicChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change of a file; options say what it does not.

    Attributes:
        name: of the topic, or a pattern.
        partitions: the new number.
        configs: values by name; null removes one.
    """

    name: str
    partitions: int | None = None
    configs: Mapping[str, Simple | None] = {}


@cluster_command
def run(
    cluster: Cluster,
    topics: TopicsArgument = None,
    regex: RegexOption = None,
    file: FromOption = None,
    partitions: PartitionsOption = None,
    set_: SetOption = None,
    delete: DeleteOption = None,
    *,
    changing: ChangeOptions,
) -> None:
    """Add partitions to topics, set and remove configs. --dry-run has the brokers check everything.

    An object of --from has name, partitions and configs, in which null removes a config.
    """
    dry_run, yes, output = changing
    changes = [TopicChange(name=name) for name in topics or ()]
    changes += given_items(file, TopicChange) if file else []
    if not changes and regex is None:
        raise CommandError("no topic is named; give names, patterns, --regex or --from FILE", ExitCode.USAGE)
    configs = _changed_configs(set_ or (), delete or ())
    if not (partitions or configs or any(each.partitions or each.configs for each in changes)):
        raise CommandError("no change is given; give --partitions, --set or --delete", ExitCode.USAGE)
    options = TopicChange(name="", partitions=partitions, configs=configs)
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        wanted, unknown = _resolved(client, changes, regex, options, timeout)
        if not dry_run and wanted:
            confirm(cluster, f"change {in_words(list(wanted))}", yes=yes, destructive=False)
        totals = {name: each.partitions for name, each in wanted.items() if each.partitions}
        by_name = {name: each.configs for name, each in wanted.items() if each.configs}
        rows = [*_grown(client, totals, timeout, dry_run=dry_run)]
        rows += _configured(client, by_name, timeout, dry_run=dry_run)
    print_outcomes([*rows, *unknown], output)


def _changed_configs(set_: Sequence[str], delete: Sequence[str]) -> dict[str, Simple | None]:
    """Values of the options by name, None for one that is removed."""
    values = config_pairs("--set", set_)
    for name in delete:
        if name in values:
            raise CommandError(f"--set and --delete both name {name}; give one of them", ExitCode.USAGE)
    return {**values, **dict.fromkeys(delete)}


def _resolved(
    client: BlockingAdminClient,
    changes: Iterable[TopicChange],
    regex: str | None,
    options: TopicChange,
    timeout: float,
) -> tuple[dict[str, TopicChange], list[OutcomeRow]]:
    """The whole change of each topic, a later one over those before; and a row for each name without a topic."""
    listed = client.list_topics(include_internal=True, timeout=timeout)
    wanted: dict[str, TopicChange] = {}
    unknown: list[OutcomeRow] = []
    for change in changes:
        chosen = matching(listed, [change.name])
        wanted |= {name: _over(wanted.get(name, options), change) for name in chosen.names}
        unknown += outcome_rows(Results[str, None](chosen.unknown), "topic", "change")
    if regex is not None:
        wanted |= {name: wanted.get(name, options) for name in matching(listed, (), regex).names}
    return wanted, unknown


def _over(before: TopicChange, change: TopicChange) -> TopicChange:
    return TopicChange(
        name=change.name,
        partitions=change.partitions or before.partitions,
        configs={**before.configs, **change.configs},
    )


def _grown(
    client: BlockingAdminClient, totals: Mapping[str, int], timeout: float, *, dry_run: bool
) -> list[OutcomeRow]:
    """Outcomes of adding partitions; a topic that has as many already is left alone."""
    described = client.describe_topics(totals, timeout=timeout).values() if totals else {}
    same = {topic.name for topic in described.values() if len(topic.partitions) == totals[topic.name]}
    action = "add partitions"
    rows = [OutcomeRow(name, "topic", action, Status.UNCHANGED, reason=_has(totals[name])) for name in sorted(same)]
    more = {name: total for name, total in totals.items() if name not in same}
    if not more:
        return rows
    with call_progress("topics") as progress:
        results = client.create_partitions(more, validate_only=dry_run, timeout=timeout, progress=progress)
    return [*rows, *outcome_rows(results, "topic", action, dry_run=dry_run)]


def _has(partitions: int) -> str:
    return f"it has {partitions} partition{'' if partitions == 1 else 's'}"


def _configured(
    client: BlockingAdminClient,
    configs: Mapping[str, Mapping[str, Simple | None]],
    timeout: float,
    *,
    dry_run: bool,
) -> list[OutcomeRow]:
    if not configs:
        return []
    changes: dict[ConfigResource, Sequence[ConfigChange]] = {
        ConfigResource.topic(name): [
            ConfigChange.delete(key) if value is None else ConfigChange.set(key, config_text(value))
            for key, value in of_topic.items()
        ]
        for name, of_topic in configs.items()
    }
    unset = configs_not_set(client, changes, timeout)
    with call_progress("configs") as progress:
        results = client.incremental_alter_configs(changes, validate_only=dry_run, timeout=timeout, progress=progress)
    rows = outcome_rows(results, "topic", "change configs", dry_run=dry_run, name=lambda resource: resource.name)
    return with_unset(rows, results, changes, unset)
