"""The resources with configs that options and files name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, NamedTuple, TypeVar

import msgspec
import typer

from kafkawire.admin import BlockingAdminClient, ConfigResource, ConfigResourceType, Results
from kafkawire.cli.access.live_nodes import check_live, live_nodes
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.topics.creating import Simple
from kafkawire.cli.topics.selection import chosen_topics, is_pattern
from kafkawire.near_names import did_you_mean
from kafkawire.protocol.errors import UnknownTopicOrPartitionError
from kafkawire.wire.kafka_errors import KafkaError

V = TypeVar("V")

PANEL: Final = "Resources"

TopicsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--topic", metavar="NAME", help="A topic, or a pattern such as 'orders-*'; repeatable.", rich_help_panel=PANEL
    ),
]
BrokersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--broker", metavar="ID", help="A broker, or '*' for each of them; repeatable.", rich_help_panel=PANEL
    ),
]
BrokerDefaultOption = Annotated[
    bool, typer.Option("--broker-default", help="What all brokers have by default.", rich_help_panel=PANEL)
]
LoggersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--broker-logger",
        metavar="ID",
        help="The log levels of a broker, or with '*' of each; repeatable.",
        rich_help_panel=PANEL,
    ),
]
MetricsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--client-metrics",
        metavar="NAME",
        help="A subscription to metrics of clients; repeatable.",
        rich_help_panel=PANEL,
    ),
]
GroupsOption = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="NAME", help="A group; repeatable.", rich_help_panel=PANEL),
]

_EACH: Final = "*"

_TYPES: Final[Mapping[str, ConfigResourceType]] = {
    "topic": ConfigResourceType.TOPIC,
    "broker": ConfigResourceType.BROKER,
    "broker-logger": ConfigResourceType.BROKER_LOGGER,
    "client-metrics": ConfigResourceType.CLIENT_METRICS,
    "group": ConfigResourceType.GROUP,
}


class ConfigItem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A resource of a file.

    Attributes:
        type: what it is.
        name: its name; empty for the default of all brokers.
        configs: values by name; null removes one.
    """

    type: Literal["topic", "broker", "broker-logger", "client-metrics", "group"] = "topic"
    name: str
    configs: Mapping[str, Simple | None] = {}

    @property
    def resource(self) -> ConfigResource:
        """Which resource it is."""
        return ConfigResource(_TYPES[self.type], self.name)


class ResourceOptions(NamedTuple):
    """The options that name resources with configs.

    Attributes:
        topic, broker, broker_logger, client_metrics, group: names of each type.
        broker_default: whether the default of all brokers is meant.
    """

    topic: TopicsOption = None
    broker: BrokersOption = None
    broker_default: BrokerDefaultOption = False
    broker_logger: LoggersOption = None
    client_metrics: MetricsOption = None
    group: GroupsOption = None

    def resources(self, client: BlockingAdminClient, timeout: float) -> list[ConfigResource]:
        """The resources, each once; patterns are resolved with what the cluster has.

        Args:
            client: of the cluster.
            timeout: of each call.

        Raises:
            CommandError: a broker is named by something else than its id.
        """
        named = [ConfigResource.topic(each) for each in self._topics(client, timeout)]
        named += [ConfigResource.broker(each) for each in _nodes(client, "--broker", self.broker, timeout)]
        named += [ConfigResource.broker_default()] * self.broker_default
        loggers = _nodes(client, "--broker-logger", self.broker_logger, timeout)
        named += [ConfigResource.broker_logger(each) for each in loggers]
        named += [ConfigResource.client_metrics(each) for each in self.client_metrics or ()]
        named += [ConfigResource.group(each) for each in self.group or ()]
        return list(dict.fromkeys(named))

    def _topics(self, client: BlockingAdminClient, timeout: float) -> Sequence[str]:
        given = self.topic or ()
        if not any(map(is_pattern, given)):
            return given
        chosen = chosen_topics(client, given, timeout=timeout)
        return [*chosen.names, *chosen.unknown]


def check_named(named: ResourceOptions, *, others: bool) -> None:
    """Refuse a command that names no resource.

    Args:
        named: by options.
        others: whether a file names some.

    Raises:
        CommandError: nothing is named.
    """
    if not any(named) and not others:
        message = "no resource is named; give --topic, --broker, --broker-default, --group or another kind"
        raise CommandError(message, ExitCode.USAGE)


def with_suggestions(
    client: BlockingAdminClient, results: Results[ConfigResource, V], timeout: float
) -> Results[ConfigResource, V]:
    """The same results; errors of unknown topics name similar ones."""
    errors = results.errors()
    if not any(isinstance(error, UnknownTopicOrPartitionError) for error in errors.values()):
        return results
    listed = client.list_topics(include_internal=True, timeout=timeout)
    similar: dict[ConfigResource, KafkaError] = {
        resource: UnknownTopicOrPartitionError(f"there is no such topic; {question}")
        for resource, error in errors.items()
        if isinstance(error, UnknownTopicOrPartitionError) and (question := did_you_mean(resource.name, listed))
    }
    outcomes: dict[ConfigResource, V | KafkaError] = dict(results.items())
    return Results({**outcomes, **similar}, results)


def _nodes(client: BlockingAdminClient, option: str, given: Sequence[str] | None, timeout: float) -> Sequence[int]:
    nodes: list[int] = []
    live = live_nodes(client, timeout) if given else []
    for each in given or ():
        if each == _EACH:
            nodes += live
        elif each.isascii() and each.isdigit():
            nodes.append(int(each))
        else:
            raise CommandError(f"{option}: {each!r} does not fit; give the id of a broker, or '*'", ExitCode.USAGE)
    check_live(option, nodes, live)
    return nodes
