"""Commands that talk to a cluster: each has the same options for it, and gets a connected client."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar

import typer

from kafkawire.admin import BlockingAdminClient
from kafkawire.cli.access.advice import in_words_of_the_command
from kafkawire.cli.access.client_of import ClusterAccess
from kafkawire.cli.access.option_bundles import with_options_of_bundles
from kafkawire.cli.access.selection import NamedCluster, select
from kafkawire.cli.access.tracing import print_trace, warnings_as_messages
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.wire.kafka_errors import ConnectionFailedError, KafkaError, OperationTimeoutError

_INTERRUPTED_CHANGE: Final = "interrupted; what was sent may be done: look before you run it again"

P = ParamSpec("P")
T = TypeVar("T")

PANEL: Final = "Options of the cluster"
"""Heading above these options in the help of each command."""

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
ControllersOption = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-controller",
        metavar="HOST:PORT",
        help="Controllers to ask first, in place of brokers.",
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
ContextOption = Annotated[
    str | None,
    typer.Option(
        metavar="CONTEXT",
        help="A context of your own, in place of the current one.",
        rich_help_panel=PANEL,
    ),
]
TimeoutOption = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Time that a call may take, by default that of the context or properties, or 30.",
        min=0.1,
        rich_help_panel=PANEL,
    ),
]
VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose",
        help="Trace each request on standard error: API, version, node, bytes, time, errors.",
        rich_help_panel=PANEL,
    ),
]


class GivenOptions(NamedTuple):
    """What the user says of the cluster. Each command has these options.

    Attributes:
        bootstrap_server, bootstrap_controller: nodes to ask first.
        command_config: a properties file of a Java client.
        context: the name of a context.
        timeout: seconds of a call.
        verbose: whether requests are traced.
    """

    bootstrap_server: ServersOption = None
    bootstrap_controller: ControllersOption = None
    command_config: PropertiesOption = None
    context: ContextOption = None
    timeout: TimeoutOption = None
    verbose: VerboseOption = False

    @property
    def named(self) -> NamedCluster:
        """What they name."""
        path = None if self.command_config is None else str(self.command_config)
        return NamedCluster(self.bootstrap_server, self.bootstrap_controller, path, self.context)


class ClusterOptions(NamedTuple):
    """What holds for all calls of a command.

    Attributes:
        timeout: seconds of a call.
        verbose: whether requests are traced.
    """

    timeout: float
    verbose: bool = False


class Cluster:
    """The cluster that a command works on: what the options name, or a context.

    Args:
        given: what the user says of it.

    Raises:
        CommandError: nothing names a cluster, or a context or file of properties is malformed.

    Attributes:
        options: what holds for all calls.
        access: how to reach the cluster.
        is_changed: whether the command changes something from now on; ``confirm`` says so.
    """

    def __init__(self, given: GivenOptions) -> None:
        self.access = ClusterAccess(select(given.named), given.timeout)
        self.options = ClusterOptions(self.access.timeout, given.verbose)
        self.is_changed = False

    @property
    def production_context(self) -> str | None:
        """The name of the context that supplies the connection, if it is marked as production; otherwise None."""
        context = self.access.context
        return self.access.selection.context if context is not None and context.production else None

    @contextmanager
    def connected(self) -> Iterator[BlockingAdminClient]:
        """A client of the cluster.

        Raises:
            CommandError: the settings are malformed, a secret cannot be had, a call fails, or Ctrl-C interrupts a
                change.
        """
        given = self.access.client_arguments()
        with errors_of_cluster(self.access.selection.source), warnings_as_messages(self.options.timeout):
            try:
                client = BlockingAdminClient(
                    given.bootstrap_servers, bootstrap_controllers=given.bootstrap_controllers, tls=given.tls,
                    credentials=given.credentials, settings=given.settings,
                    observer=print_trace if self.options.verbose else None,
                )  # fmt: skip
            except ValueError as error:
                raise CommandError(f"{self.access.where}: {error}", ExitCode.USAGE) from None
            try:
                with client:
                    yield client
            except KeyboardInterrupt:
                if self.is_changed:
                    raise CommandError(_INTERRUPTED_CHANGE, ExitCode.INTERRUPTED) from None
                raise


@contextmanager
def errors_of_cluster(source: str = "") -> Iterator[None]:
    """Turn errors of the cluster into messages.

    Args:
        source: what selected the cluster, if not the user has named it.
    """
    place = f" (the cluster is that of {source})" if source else ""
    try:
        yield
    except KafkaError as error:
        raise CommandError(f"{in_words_of_the_command(str(without_values(error)))}{place}{_hint(error)}") from None
    except ExceptionGroup as group:
        failed, others = group.split(KafkaError)
        if failed is None or others is not None:
            raise
        hint = _hint(failed.exceptions[0])
        raise CommandError(f"{in_words_of_the_command(_summary(failed.exceptions))}{place}{hint}") from None


def _hint(error: Exception) -> str:
    """What to do about a cluster that was not reached in time."""
    is_unreached = isinstance(error, OperationTimeoutError) and isinstance(error.__cause__, ConnectionFailedError)
    return "; kafkawire doctor, with the same options, finds out why" if is_unreached else ""


def _summary(errors: Sequence[Exception]) -> str:
    """The first of several errors, and how many more there are."""
    first, *others = (without_values(each) if isinstance(each, KafkaError) else each for each in errors)
    return f"{first} (and {len(others)} more have failed)" if others else str(first)


def without_values(error: KafkaError, *, with_name: bool = True) -> KafkaError:
    """The same error for a person, without the values of its item, such as those of a filter.

    Args:
        error: of a call.
        with_name: whether the item stays if it is a name.
    """
    if isinstance(error.item, str) and with_name:
        return error
    same = copy.copy(error)
    same.item = None
    return same


def cluster_command(function: Callable[Concatenate[Cluster, P], None]) -> Callable[..., None]:
    """A command whose first parameter is the cluster: the user gets the options of ``GivenOptions`` in its place.

    A parameter of which the annotation is a NamedTuple of options is given as one value: the user gets each option.
    """
    return _with_options(function, Cluster)


def clusters_command(function: Callable[Concatenate[GivenOptions, P], None]) -> Callable[..., None]:
    """A command whose first parameter is the options themselves: it works on several clusters, or maybe on none."""
    return _with_options(function, lambda options: options)


def _with_options(
    function: Callable[Concatenate[T, P], None], first: Callable[[GivenOptions], T]
) -> Callable[..., None]:
    """A command with these options, after its own; its bundles are expanded too."""
    of_cluster, *others = inspect.signature(function, eval_str=True).parameters.values()
    options = inspect.Parameter(of_cluster.name, inspect.Parameter.KEYWORD_ONLY, annotation=GivenOptions)

    with_any: Callable[..., None] = function

    @functools.wraps(function)
    def run(**given: Any) -> None:  # noqa: ANN401 the function has the types
        with_any(first(given.pop(of_cluster.name)), **given)

    return with_options_of_bundles(run, [*others, options])
