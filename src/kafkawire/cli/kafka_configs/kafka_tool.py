"""Today's kafka-configs: a command line read, checked and carried out."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Final

from kafkawire.admin import BlockingAdminClient
from kafkawire.broker.item_errors import ItemError
from kafkawire.cli.kafka_configs.added_configs import (
    AddedConfigsError,
    ForbiddenCharacterError,
    check_keys,
    read_added,
    read_deleted,
)
from kafkawire.cli.kafka_configs.altering import Changes, altered, in_order
from kafkawire.cli.kafka_configs.clients import check_live, client_of, failed
from kafkawire.cli.kafka_configs.describing import described
from kafkawire.cli.kafka_configs.help_of_kafka import HELP
from kafkawire.cli.kafka_configs.java_order import in_properties
from kafkawire.cli.kafka_configs.java_words import failed_call
from kafkawire.cli.kafka_configs.kafka_words import (
    BROKER_LOGGERS,
    BROKERS,
    Command,
    Entity,
    check_pairs,
    checked,
    read_words,
)
from kafkawire.cli.kafka_configs.option_words import ReadOptions
from kafkawire.cli.kafka_configs.refusals import JavaFailureError, RefusedError
from kafkawire.cli.kafka_configs.secrets_in_words import has_password, shown_words
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.visible import visible
from kafkawire.model.nodes import bootstrap_nodes
from kafkawire.model.properties_file import PropertiesError, parse_properties
from kafkawire.wire.kafka_errors import KafkaError

_VERSION: Final = "4.3.1"
"""The release of Apache Kafka whose tool this is."""

_PURPOSE: Final = (
    "This tool helps to manipulate and describe entity config for a topic, client, user, broker, ip, client-metrics "
    "or group"
)
_WIDTH_OF_USAGE: Final = 78
_ENCODING: Final = "iso-8859-1"
"""Java's of properties files."""

_STANDARD_INPUT: Final = "-"


def run_as_kafka(words: Sequence[str]) -> int:
    """Run a command line, and print what Apache's tool prints.

    Returns:
        The exit code of Apache's tool: 0 or 1.
    """
    try:
        for line in _lines_of_kafka(words):
            print(line)
    except RefusedError as refusal:
        print(refusal.of_kafka, file=sys.stderr)
        if refusal.shows_usage:
            _print_usage()
        return 1
    except ItemError as error:  # of a name of a topic
        print(error.message, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of the output has left
        raise
    except (KafkaError, JavaFailureError, OSError) as error:
        sys.stdout.flush()
        print(f"Error while executing config command with args '{shown_words(words)}'", file=sys.stderr)
        print(_in_java(error), file=sys.stderr)
        return 1
    return 0


def run(words: Sequence[str]) -> int:
    """Run a command line with the output of Apache's tool, and errors of our own.

    Raises:
        CommandError: the words are refused, or a call fails.
    """
    try:
        options = read_words(words, older_options=True)
        if "help" in options:
            print(HELP, end="")
            return ExitCode.DONE
        if "version" in options:
            print(f"kafka-configs of Apache Kafka {_VERSION}, by kafkawire")
            return ExitCode.DONE
        command = checked(options)
        _warn(options)
        _carry_out(command)
    except (RefusedError, JavaFailureError) as refusal:
        raise CommandError(refusal.ours, ExitCode.USAGE) from None
    except ItemError as error:
        raise CommandError(error.message or "", ExitCode.USAGE) from None
    return ExitCode.DONE


def _carry_out(command: Command) -> None:
    try:
        with _client(command.options) as client:
            _check_broker(client, command)
            for line in _results(client, command, as_kafka=False):
                print(visible(line))
    except KafkaError as error:
        raise failed(_whom(command.entity), error) from None


def _whom(entity: Entity) -> str:
    if not entity.names:
        return ", ".join(entity.types)
    pairs = zip(entity.types, entity.names, strict=False)
    return ", ".join(f"{type_[:-1]} {name}" if name else f"default of {type_}" for type_, name in pairs)


def _check_broker(client: BlockingAdminClient, command: Command) -> None:
    """Say at once that a broker is not there, where Apache's tool waits for it."""
    waits = command.alters or "all" in command.options
    if waits and command.entity.types[0] in {BROKERS, BROKER_LOGGERS}:
        for name in filter(None, command.entity.names):
            check_live(client, name)


def _lines_of_kafka(words: Sequence[str]) -> Iterator[str]:
    options = read_words(words, older_options=False)
    if not words or "help" in options:
        raise RefusedError(_PURPOSE, shows_usage=True)
    if "version" in options:
        yield _VERSION
        return
    command = checked(options)
    with _client(options) as client:
        yield from _results(client, command, as_kafka=True)


def _warn(options: ReadOptions) -> None:
    if "zookeeper" in options:
        print("kafkawire: --zookeeper is ignored; the command talks to brokers", file=sys.stderr)
    if any(map(has_password, options.values("add-config"))):
        print(
            "kafkawire: the list of processes shows the password of --add-config; "
            "--add-config-file FILE keeps it out, and - as FILE is standard input",
            file=sys.stderr,
        )


@contextmanager
def _client(options: ReadOptions) -> Iterator[BlockingAdminClient]:
    path = options.value("command-config")
    properties: Mapping[str, str] = {} if path is None else _properties(path)
    try:
        client = client_of(
            properties, servers=options.value("bootstrap-server"), controllers=options.value("bootstrap-controller")
        )
    except ValueError as error:
        raise JavaFailureError(_not_created(options, error), str(error)) from None
    with client:
        yield client


def _not_created(options: ReadOptions, error: ValueError) -> str:
    """The exception of a client that cannot be made: of an address, or with our own text of a property."""
    failure = "org.apache.kafka.common.KafkaException: Failed to create new KafkaAdminClient"
    addresses = options.value("bootstrap-server") or options.value("bootstrap-controller") or ""
    for each in filter(None, map(str.strip, addresses.split(","))):
        try:
            bootstrap_nodes(each)
        except ValueError:
            what = "port" if each.rpartition(":")[2].isdecimal() else "url"
            reason = f"Invalid {what} in bootstrap.servers: {each}"
            return f"{failure}\nCaused by: org.apache.kafka.common.config.ConfigException: {reason}"
    return f"{failure}: {error}"


def _results(client: BlockingAdminClient, command: Command, *, as_kafka: bool) -> Iterator[str]:
    check_pairs(command)
    if not command.alters:
        yield from described(client, command)
        return
    options = command.options
    added = _added(options, standard_input=not as_kafka)
    changes = Changes(added, read_deleted(options.values("delete-config")))
    yield altered(client, command.entity, changes, as_kafka=as_kafka)


def _added(options: ReadOptions, *, standard_input: bool) -> dict[str, str]:
    """The configs to add, in the order in which Apache's tool goes through them.

    Raises:
        RefusedError: they are malformed.
    """
    path, text = options.value("add-config-file"), options.value("add-config")
    try:
        if path is not None:
            given = _standard_input() if standard_input and path == _STANDARD_INPUT else _properties(path)
        else:
            given = {} if text is None else read_added(text)
        check_keys(dict.fromkeys(in_properties(given), ""))
    except ForbiddenCharacterError as error:
        raise RefusedError(str(error)) from None
    except AddedConfigsError as error:
        raise RefusedError(
            f"requirement failed: {error}",
            "--add-config: each config must be KEY=VALUE, or KEY=[VALUE,VALUE] if its value has commas",
        ) from None
    return in_order(given)


def _properties(path: str) -> Mapping[str, str]:
    try:
        return parse_properties(Path(path).read_text(_ENCODING))
    except PropertiesError as error:
        raise RefusedError("Malformed \\uxxxx encoding.", f"{path}: {error}") from None


def _standard_input() -> Mapping[str, str]:
    try:
        return parse_properties(sys.stdin.buffer.read().decode(_ENCODING))
    except PropertiesError as error:
        raise RefusedError("", f"standard input: {error}") from None


def _print_usage() -> None:
    text = files("kafkawire.cli.kafka_configs").joinpath("usage-of-kafka-4.3.1.txt").read_text("utf-8")
    for line in text.splitlines():
        print(line.ljust(_WIDTH_OF_USAGE), file=sys.stderr)


def _in_java(error: KafkaError | JavaFailureError | OSError) -> str:
    match error:
        case KafkaError():
            return failed_call(error)
        case JavaFailureError():
            return error.exception
        case FileNotFoundError():
            return f"java.nio.file.NoSuchFileException: {error.filename}"
        case PermissionError():
            return f"java.nio.file.AccessDeniedException: {error.filename}"
        case _:
            return f"java.io.IOException: {error.strerror}"
