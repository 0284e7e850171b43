"""The two sides of ``kafkawire diff``: clusters, documents, and a cluster's own log at a time."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias, cast

import msgspec

from kafkawire.cli.access.cluster_command import Cluster, GivenOptions
from kafkawire.cli.access.config_file import config_path, read_config, tables_of_contexts
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.state.reading_cluster import read_with_progress
from kafkawire.cli.visible import visible
from kafkawire.declared.documents.problems import Position
from kafkawire.declared.planned import Item, Kind
from kafkawire.declared.planned_values import SecretKey
from kafkawire.declared.selection import StateSelection, kinds_in
from kafkawire.declared.state import ClusterState
from kafkawire.declared.unread import Unread
from kafkawire.model.configs.resources import ConfigResource

SIDES_HELP: Final = (
    "FILE or folder of documents (- is standard input), HOST:PORT, the name of a context, or log:DIR@DATE"
)
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
        file: where its documents or its log are; empty for a cluster.
        positions: where documents declare each item.
    """

    name: str
    state: ClusterState
    unread: tuple[Unread, ...] = ()
    file: str = ""
    positions: Mapping[Kind, Mapping[Item, Position]] = MappingProxyType({})


def dates_of_log(path: str, begin: str | None, end: str | None) -> tuple[tuple[str, LogSide], tuple[str, LogSide]]:
    """The sides that are a log at two dates, with their names; a date that is None is the end of the log.

    Raises:
        CommandError: a date is malformed, or there is none to begin with.
    """
    if begin is None:
        raise CommandError("--log needs the date to begin with; give --from", ExitCode.USAGE)
    named = [path if date is None else f"{path}@{date}" for date in (begin, end)]
    first, last = (LogSide(path, None if date is None else _time(date, path)) for date in (begin, end))
    if last.as_of is not None and first.as_of is not None and last.as_of < first.as_of:
        raise CommandError("--to is before --from; give the earlier date to --from", ExitCode.USAGE)
    return (f"{_LOG}{named[0]}", first), (f"{_LOG}{named[1]}", last)


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
    if text == "-" or (text and path.exists()) or "/" in text or path.suffix in _DOCUMENT_ENDS:
        return DocumentsSide(path)
    message = f"{text!r} is neither a file nor a context; a side is a {SIDES_HELP}"
    raise CommandError(message, ExitCode.USAGE)


def reader_of(name: str, side: Side, options: GivenOptions) -> Callable[[StateSelection], ReadSide]:
    """The function that reads a part of a side. Nothing is read or connected yet.

    Raises:
        CommandError: nothing names the cluster, or its context does not exist or is malformed.
    """
    match side:
        case DocumentsSide():
            return partial(_of_documents, name, str(side.path))
        case LogSide():
            return lambda selection: ReadSide(name, selection.of(_state_of_log(side)), file=side.path)
        case ServersSide():
            options = options._replace(bootstrap_server=side.servers, bootstrap_controller=None, context=None)
        case ContextSide():
            options = GivenOptions(context=side.name, timeout=options.timeout, verbose=options.verbose)
    cluster = Cluster(options)
    return lambda selection: _of_cluster(name, cluster, selection)


def read_sides(
    left: tuple[str, Side], right: tuple[str, Side], options: GivenOptions, selection: StateSelection, *, whole: bool
) -> tuple[ReadSide, ReadSide]:
    """Both sides. Of kinds that the documents of one side do not have, nothing is read unless all is wanted.

    Args:
        left, right: names and sides.
        options: of the cluster.
        selection: what to read.
        whole: whether kinds that documents do not have are compared with a cluster too.

    Raises:
        CommandError: a side cannot be read.
    """
    readers = [reader_of(*each, options) for each in (left, right)]
    of_documents = [isinstance(side, DocumentsSide) for _, side in (left, right)]
    if whole or of_documents[0] == of_documents[1]:
        one, other = (read(selection) for read in readers)
        return one, other
    first = of_documents.index(True)
    documents = readers[first](selection)
    kinds = selection.kinds & kinds_in(documents.state)
    others = readers[1 - first](msgspec.structs.replace(selection, kinds=kinds))
    left_out = ", ".join(kind for kind in Kind if kind in selection.kinds - kinds)
    if left_out:
        said = f"{visible(documents.name)} declares no {left_out}, which are not compared; --only chooses kinds"
        print(f"kafkawire: {said}", file=sys.stderr)
    return (others, documents) if first else (documents, others)


def _log_side(text: str) -> LogSide:
    """A path, and a time after the last at sign; folders may have at signs too."""
    path, at, date = text.rpartition("@")
    if not at or Path(text).exists():
        return LogSide(text, None)
    return LogSide(path, _time(date, text))


def _time(date: str, text: str) -> datetime:
    from kafkawire.logs.option_records import TIME, MalformedError  # noqa: PLC0415 needs an extra

    try:
        return cast("datetime", TIME.parse(date))
    except MalformedError as error:
        raise CommandError(f"{_LOG}{text}: {date!r} is {error}", ExitCode.USAGE) from None


def _of_cluster(name: str, cluster: Cluster, selection: StateSelection) -> ReadSide:
    with cluster.connected() as client:
        read = read_with_progress(client, selection.scope(), cluster.options.timeout)
    return ReadSide(name, selection.of(read.state), read.unread)


def _state_of_log(side: LogSide) -> ClusterState:
    from kafkawire.cli.tables.table_batches import command_errors  # noqa: PLC0415 needs an extra
    from kafkawire.declared.log_state import read_log_state  # noqa: PLC0415 the same

    with command_errors():
        return read_log_state(side.path, side.as_of)


def _of_documents(name: str, path: str, selection: StateSelection) -> ReadSide:
    from kafkawire.cli.documents.reading import read_sound_documents  # noqa: PLC0415 slow to import

    declared = read_sound_documents([path])
    state = _without_unset(declared.state, declared.secrets)
    return ReadSide(name, selection.of(state), file=path, positions=declared.positions)


def _without_unset(state: ClusterState, secrets: Collection[SecretKey]) -> ClusterState:
    """The state that documents declare: a config that must not be set is one that is not there, unlike a secret."""
    topics = {
        name: msgspec.structs.replace(topic, configs=_set_ones(ConfigResource.topic(name), topic.configs, secrets))
        for name, topic in state.topics.items()
    }
    configs = {resource: _set_ones(resource, values, secrets) for resource, values in state.configs.items()}
    return msgspec.structs.replace(
        state, topics=topics, configs={resource: values for resource, values in configs.items() if values}
    )


def _set_ones(
    resource: ConfigResource, configs: Mapping[str, str | None], secrets: Collection[SecretKey]
) -> dict[str, str | None]:
    return {name: value for name, value in configs.items() if value is not None or (resource, name) in secrets}
