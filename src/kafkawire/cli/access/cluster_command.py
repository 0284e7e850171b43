"""Commands that talk to a cluster: each has the same options for it, and gets a connected client."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Concatenate, Final, NamedTuple, ParamSpec, get_type_hints

import typer

from kafkawire.admin import BlockingAdminClient
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.wire.kafka_errors import KafkaError

P = ParamSpec("P")

PANEL: Final = "Options of the cluster"
"""Heading above these options in the help of each command."""

DEFAULT_TIMEOUT: Final = 60.0
"""Seconds that a call may take."""

ServersOption = Annotated[
    str | None,
    typer.Option(
        "-b",
        "--bootstrap-server",
        metavar="HOST:PORT,...",
        help="Brokers to ask first.",
        rich_help_panel=PANEL,
    ),
]
PropertiesOption = Annotated[
    Path | None,
    typer.Option(
        "--command-config",
        metavar="FILE",
        help="Properties file of a Java client, as Kafka's own tools take it: security, login, timeouts.",
        rich_help_panel=PANEL,
    ),
]
TimeoutOption = Annotated[
    float,
    typer.Option(metavar="SECONDS", help="Time that a call may take.", min=0.1, rich_help_panel=PANEL),
]


class ClusterOptions(NamedTuple):
    """What the user says of the cluster.

    Attributes:
        bootstrap_server: brokers to ask first; None for those of the properties.
        command_config: a properties file of a Java client.
        timeout: seconds of a call.
    """

    bootstrap_server: ServersOption = None
    command_config: PropertiesOption = None
    timeout: TimeoutOption = DEFAULT_TIMEOUT


class Cluster:
    """The cluster that a command works on.

    Args:
        options: what the user says of it.
    """

    def __init__(self, options: ClusterOptions) -> None:
        self.options = options

    @property
    def production_context(self) -> str | None:
        """The name of the context that supplies the connection, if it is marked as production; otherwise None."""
        return None

    @contextmanager
    def connected(self) -> Iterator[BlockingAdminClient]:
        """A client of the cluster.

        Raises:
            CommandError: the options name no cluster or are malformed, or a call fails.
        """
        with errors_of_cluster(), self._client() as client:
            yield client

    def _client(self) -> BlockingAdminClient:
        servers, properties = self.options.bootstrap_server, self.options.command_config
        if servers is None and properties is None:
            raise CommandError(
                "no cluster is named; give --bootstrap-server HOST:PORT or --command-config FILE", ExitCode.USAGE
            )
        try:
            return BlockingAdminClient.from_properties(properties or {}, bootstrap_servers=servers)
        except ValueError as error:
            raise CommandError(str(error), ExitCode.USAGE) from None


@contextmanager
def errors_of_cluster() -> Iterator[None]:
    """Turn errors of the cluster into messages."""
    try:
        yield
    except KafkaError as error:
        raise CommandError(str(error)) from None
    except ExceptionGroup as group:
        if group.split(KafkaError)[1] is not None:
            raise
        raise CommandError(group.message) from None


def cluster_command(function: Callable[Concatenate[Cluster, P], None]) -> Callable[..., None]:
    """A command whose first parameter is the cluster: the user gets the options of ``ClusterOptions`` in its place."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> None:  # noqa: ANN401 what Typer has read
        options = ClusterOptions(**{name: given.pop(name) for name in ClusterOptions._fields if name in given})
        function(Cluster(options), *args, **given)

    own = inspect.signature(function, eval_str=True)
    _, *parameters = own.parameters.values()
    defaults = ClusterOptions._field_defaults
    hints = get_type_hints(ClusterOptions, include_extras=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=hints[name])
        for name in ClusterOptions._fields
    ]
    signature = own.replace(parameters=[*parameters, *added])
    command.__signature__ = signature  # type: ignore[attr-defined] # what inspect and Typer read first
    command.__annotations__ = {name: each.annotation for name, each in signature.parameters.items()}
    del command.__wrapped__  # whose annotations Typer would read
    return command
