"""The two sides of ``kafkawire diff``: clusters, documents, and a cluster's own log at a time."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from kafkawire.cli.access.cluster_command import Cluster, GivenOptions
from kafkawire.cli.access.config_file import config_path, read_config, tables_of_contexts
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.state.reading_cluster import read_with_progress
from kafkawire.declared.selection import StateSelection
from kafkawire.declared.state import ClusterState
from kafkawire.declared.unread import Unread

SIDES_HELP: Final = "FILE or folder of documents, HOST:PORT, the name of a context, or log:DIR@DATE"
"""What a side may be, for the help of commands."""

_LOG: Final = "log:"
_CONTEXT: Final = "context:"
_SERVERS: Final = re.compile(r"[^/\\:@,]+:\d{1,5}(,[^/\\:@,]+:\d{1,5})*|\[[0-9a-fA-F:.]+\]:\d{1,5}")
_DOCUMENT_ENDS: Final = (".yaml", ".yml", ".json")


class ServersSide(NamedTuple):
    """A cluster by addresses of its brokers."""

    servers: str


class ContextSide(NamedTuple):
    """A cluster by the name of a context."""

    name: str


class GivenClusterSide(NamedTuple):
    """The cluster of the options, or of the current context."""


class DocumentsSide(NamedTuple):
    """A file or folder of documents."""

    path: Path


class LogSide(NamedTuple):
    """A metadata log, at a time or at its end."""

    path: str
    as_of: datetime | None


Side: TypeAlias = ServersSide | ContextSide | GivenClusterSide | DocumentsSide | LogSide


class ReadSide(NamedTuple):
    """A side that has been read.

    Attributes:
        name: as the user gave it.
        state: the selected part of its state.
        unread: what of it could not be read.
    """

    name: str
    state: ClusterState
    unread: tuple[Unread, ...] = ()


def side_of(text: str) -> Side:
    """What a word means.

    Raises:
        CommandError: it means nothing, or more than one thing.
    """
    if text.startswith(_LOG):
        return _log_side(text.removeprefix(_LOG))
    if text.startswith(_CONTEXT):
        return ContextSide(text.removeprefix(_CONTEXT))
    if _SERVERS.fullmatch(text):
        return ServersSide(text)
    path = Path(text)
    is_context = text in tables_of_contexts(read_config(config_path()))
    if path.exists() and is_context:
        message = f"{text!r} is a file and a context; write ./{text} or {_CONTEXT}{text}"
        raise CommandError(message, ExitCode.USAGE)
    if is_context:
        return ContextSide(text)
    if (text and path.exists()) or "/" in text or path.suffix in _DOCUMENT_ENDS:
        return DocumentsSide(path)
    message = f"{text!r} is neither a file nor a context; a side is a {SIDES_HELP}"
    raise CommandError(message, ExitCode.USAGE)


def cluster_of(side: Side, options: GivenOptions) -> Cluster | None:
    """The cluster that a side is; None if it is none. Nothing is connected yet.

    Raises:
        CommandError: nothing names the cluster, or its context does not exist or is malformed.
    """
    match side:
        case ServersSide():
            return Cluster(options._replace(bootstrap_server=side.servers, bootstrap_controller=None, context=None))
        case ContextSide():
            return Cluster(GivenOptions(context=side.name, timeout=options.timeout, verbose=options.verbose))
        case GivenClusterSide():
            return Cluster(options)
        case _:
            return None


def read_side(name: str, side: Side, cluster: Cluster | None, selection: StateSelection) -> ReadSide:
    """The selected part of a side.

    Args:
        name: as the user gave it.
        side: a log, documents or a cluster.
        cluster: that which it is, if it is one.
        selection: the part.

    Raises:
        CommandError: it cannot be read.
    """
    if cluster is not None:
        with cluster.connected() as client:
            read = read_with_progress(client, selection.scope(), cluster.options.timeout)
        return ReadSide(name, selection.of(read.state), read.unread)
    state = _state_of_log(side) if isinstance(side, LogSide) else _state_of_documents(side)
    return ReadSide(name, selection.of(state))


def _log_side(text: str) -> LogSide:
    """A path, and a time after the last at sign; folders may have at signs too."""
    from kafkawire.logs.option_records import TIME, MalformedError  # noqa: PLC0415 needs an extra

    path, at, date = text.rpartition("@")
    if not at or Path(text).exists():
        return LogSide(text, None)
    try:
        return LogSide(path, TIME.parse(date))
    except MalformedError as error:
        raise CommandError(f"{_LOG}{text}: {date!r} is {error}", ExitCode.USAGE) from None


def _state_of_log(side: LogSide) -> ClusterState:
    from kafkawire.cli.tables.table_batches import command_errors  # noqa: PLC0415 needs an extra
    from kafkawire.declared.log_state import read_log_state  # noqa: PLC0415 the same

    with command_errors():
        return read_log_state(side.path, side.as_of)


def _state_of_documents(side: Side) -> ClusterState:
    raise NotImplementedError
