"""``kafkawire configs describe``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, ClassVar, Final

import msgspec
import typer

from kafkawire.admin import ConfigEntry, ConfigResource, ConfigResourceType, ConfigSource
from kafkawire.cli.access.changes import failures_printed, unless_failed
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.configs.resources import (
    ResourceOptions,
    check_named,
    with_suggestions,
)
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole
from kafkawire.declared.wording import item_in_words

KeysArgument = Annotated[
    list[str] | None, typer.Argument(metavar="CONFIG...", help="Names of configs; by default all.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Configs with a default value too.")]
SynonymsOption = Annotated[
    bool, typer.Option("--synonyms", help="All values of a config, that in effect first, with where each is set.")
]
DocumentationOption = Annotated[bool, typer.Option("--documentation", help="What each config is for.")]

_OWN_SOURCES: Final = {
    ConfigResourceType.TOPIC: ConfigSource.DYNAMIC_TOPIC_CONFIG,
    ConfigResourceType.BROKER: ConfigSource.DYNAMIC_BROKER_CONFIG,
    ConfigResourceType.BROKER_LOGGER: ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG,
    ConfigResourceType.CLIENT_METRICS: ConfigSource.DYNAMIC_CLIENT_METRICS_CONFIG,
    ConfigResourceType.GROUP: ConfigSource.DYNAMIC_GROUP_CONFIG,
}


class SynonymValue(msgspec.Struct, frozen=True):
    """A value that applies, or would apply if those before it were removed.

    Attributes:
        source: where it is set.
        name: under which it is set there.
        value: null if it is sensitive.
    """

    source: str
    name: str
    value: str | None


class ConfigRow(Row, frozen=True, kw_only=True):
    """A config of a resource.

    Attributes:
        resource: in words, such as ``topic orders``.
        config: name of the config.
        value: null if it is sensitive or has none.
        source: where the value is set.
        is_sensitive: whether brokers keep the value to themselves.
        is_read_only: whether it can be changed only in the file of the broker.
        config_type: how the value is written, such as ``LONG``.
        resource_type, resource_name: the resource; the name of the default of all brokers is empty.
        synonyms: all values, that in effect first; null unless requested.
        documentation: what it is for; null unless requested.
    """

    resource: str
    config: str
    value: str | None
    source: str
    is_sensitive: bool
    is_read_only: bool
    config_type: str
    resource_type: str
    resource_name: str
    synonyms: tuple[SynonymValue, ...] | None = None
    documentation: str | None = None

    ROLES: ClassVar = {
        "config": ColumnRole.KEY,
        "config_type": ColumnRole.DETAIL,
        "resource_type": ColumnRole.DETAIL,
        "resource_name": ColumnRole.DETAIL,
        "synonyms": ColumnRole.KEY,
        "documentation": ColumnRole.KEY,
    }
    OPTIONAL: ClassVar = frozenset({"synonyms", "documentation"})

    @property
    def row_name(self) -> str:
        """The name of the config."""
        return self.config


@cluster_command
def run(
    cluster: Cluster,
    configs: KeysArgument = None,
    *,
    named: ResourceOptions,
    all_: AllOption = False,
    synonyms: SynonymsOption = False,
    documentation: DocumentationOption = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Describe configs of any number of resources: those set on each, those of the arguments, or all."""
    check_named(named, others=False)
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        results = client.describe_configs(
            named.resources(client, timeout),
            keys=configs,
            include_synonyms=synonyms,
            include_documentation=documentation,
            timeout=timeout,
        )
        results = with_suggestions(client, results, timeout)
    rows = [
        row
        for resource, entries in results.values().items()
        for row in _rows(resource, entries, configs or (), every=all_, synonyms=synonyms)
    ]
    empty = "no configs are set" if not (all_ or configs) else "no such configs"
    with failures_printed(results):
        print_rows(rows, ConfigRow, output, empty=unless_failed(results, empty))


def own_source(resource: ConfigResource) -> ConfigSource:
    """The source of values that are set on the resource itself."""
    if resource == ConfigResource.broker_default():
        return ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
    return _OWN_SOURCES.get(resource.resource_type, ConfigSource.UNKNOWN)


def _rows(
    resource: ConfigResource,
    entries: Mapping[str, ConfigEntry],
    wanted: Collection[str],
    *,
    every: bool,
    synonyms: bool,
) -> Iterator[ConfigRow]:
    for name, entry in sorted(entries.items()):
        if not (every or wanted or entry.source is own_source(resource)):
            continue
        yield ConfigRow(
            resource=item_in_words(resource),
            config=name,
            value=entry.value,
            source=str(entry.source),
            is_sensitive=entry.is_sensitive,
            is_read_only=entry.is_read_only,
            config_type=str(entry.config_type),
            resource_type=str(resource.resource_type),
            resource_name=resource.name,
            synonyms=tuple(SynonymValue(str(each.source), each.name, each.value) for each in entry.synonyms)
            if synonyms
            else None,
            documentation=entry.documentation,
        )
