"""The options of today's kafka-configs, and the checks of a command line that need no cluster (C6 to C11, C26)."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from kafkawire.cli.kafka_configs.option_words import Option, ReadOptions, read_options
from kafkawire.cli.kafka_configs.refusals import RefusedError

TOPICS: Final = "topics"
CLIENTS: Final = "clients"
USERS: Final = "users"
BROKERS: Final = "brokers"
IPS: Final = "ips"
CLIENT_METRICS: Final = "client-metrics"
GROUPS: Final = "groups"
BROKER_LOGGERS: Final = "broker-loggers"

ENTITY_TYPES: Final = (TOPICS, CLIENTS, USERS, BROKERS, IPS, CLIENT_METRICS, GROUPS, BROKER_LOGGERS)
"""In the order in which messages list them."""

_TYPES_WITH_DEFAULT: Final = (USERS, CLIENTS, BROKERS, IPS)

_NAME_OPTIONS: Final = {
    "topic": TOPICS, "client": CLIENTS, "user": USERS, "broker": BROKERS, "broker-logger": BROKER_LOGGERS, "ip": IPS,
    "client-metrics": CLIENT_METRICS, "group": GROUPS,
}  # fmt: skip
"""The short form of a type and a name, in the order in which they count."""

_DEFAULT_OPTIONS: Final = {
    "client-defaults": CLIENTS, "user-defaults": USERS, "broker-defaults": BROKERS, "ip-defaults": IPS,
}  # fmt: skip

_SERVER: Final = "bootstrap-server"
_CONTROLLER: Final = "bootstrap-controller"
_NAME: Final = "entity-name"
_DEFAULT: Final = "entity-default"
_TYPE: Final = "entity-type"

_FLAGS: Final = ("help", "version", "alter", "describe", "all", _DEFAULT, *_DEFAULT_OPTIONS)
_WITH_VALUE: Final = (
    _SERVER, _CONTROLLER, "command-config", _TYPE, _NAME, "add-config", "add-config-file", *_NAME_OPTIONS,
)  # fmt: skip

OPTIONS: Final = (
    *(Option(name, takes_value=False) for name in _FLAGS),
    *(Option(name) for name in _WITH_VALUE),
    Option("delete-config", separator=","),
)
"""The options of Apache Kafka 4.3.1."""

OF_OLDER_RELEASES: Final = (Option("force", takes_value=False), Option("zookeeper"))
"""Options that the tool had before 4.0; here they change nothing."""

_INTEGER: Final = re.compile(r"[+-]?\d+")
_MAXIMUM_INTEGER: Final = 2**31 - 1
_LONGEST_INTEGER: Final = 64
_TWO_TYPES: Final = frozenset({USERS, CLIENTS})


class Entity(NamedTuple):
    """What a command line is about.

    Attributes:
        types: one, or users and clients.
        names: their names; empty is the default. Fewer than types when all of a type are described.
    """

    types: tuple[str, ...]
    names: tuple[str, ...]


class Command(NamedTuple):
    """A command line that is checked.

    Attributes:
        options: what it has.
        entity: what it is about.
    """

    options: ReadOptions
    entity: Entity

    @property
    def alters(self) -> bool:
        """Whether it changes configs; otherwise it describes them."""
        return "alter" in self.options


def read_words(words: Sequence[str], *, older_options: bool) -> ReadOptions:
    """The options of words.

    Args:
        words: of the command line.
        older_options: whether options of older releases are known.

    Raises:
        RefusedError: a word is no option, or lacks its value.
    """
    return read_options(words, (*OPTIONS, *OF_OLDER_RELEASES) if older_options else OPTIONS)


def checked(options: ReadOptions) -> Command:
    """Check what a command line has, in the order of Apache's tool, so that the same mistake counts.

    Raises:
        RefusedError: for the first mistake.
    """
    _check_action(options)
    types = _types(options)
    _check_types(options, types)
    _check_one_form(options)
    names = _names(options)
    if _SERVER in options and _CONTROLLER in options:
        raise RefusedError("Only one of --bootstrap-server or --bootstrap-controller can be specified")
    entity = Entity(types, names)
    _check_names(options, entity)
    if "describe" in options:
        _check_description(options, entity)
    else:
        _check_alteration(options, entity)
    return Command(options, entity)


def _check_action(options: ReadOptions) -> None:
    if ("alter" in options) == ("describe" in options):
        raise RefusedError("Command must include exactly one action: --describe, --alter", shows_usage=True)
    for name in ("add-config", "delete-config"):
        if "describe" in options and name in options:
            raise RefusedError(
                f'Option "[describe]" can\'t be used with option "[{name}]"',
                f"--{name} changes configs and --describe does not; use --alter with --{name}",
                shows_usage=True,
            )


def _types(options: ReadOptions) -> tuple[str, ...]:
    short = (*_NAME_OPTIONS.items(), *_DEFAULT_OPTIONS.items())
    return (*options.values(_TYPE), *(type_ for name, type_ in short if name in options))


def _names(options: ReadOptions) -> tuple[str, ...]:
    """C8: the order of the words, with an empty name for a default."""
    named = iter(options.values(_NAME))
    long = [next(named) if name == _NAME else "" for name in options.names() if name in {_NAME, _DEFAULT}]
    short = [options.value(name) or "" for name in _NAME_OPTIONS if name in options]
    return (*long, *short, *("" for name in _DEFAULT_OPTIONS if name in options))


def _check_types(options: ReadOptions, types: Sequence[str]) -> None:
    repeated = list(types)
    for type_ in dict.fromkeys(types):
        repeated.remove(type_)
    if repeated:
        raise RefusedError(f"Duplicate entity type(s) specified: {','.join(repeated)}")
    if _SERVER not in options and _CONTROLLER not in options:
        raise RefusedError("Either --bootstrap-server or --bootstrap-controller must be specified.")
    for type_ in types:
        if type_ not in ENTITY_TYPES:
            raise RefusedError(
                f"Invalid entity type {type_}, the entity type must be one of {', '.join(ENTITY_TYPES)} "
                "with a --bootstrap-server or --bootstrap-controller argument",
                f"no such entity type: {type_}; use one of {', '.join(ENTITY_TYPES)}",
            )
    if not types:
        raise RefusedError(
            "At least one entity type must be specified",
            "no entity type is given; add --entity-type TYPE, or a short form such as --topic NAME",
        )
    if len(types) > 1 and frozenset(types) != _TWO_TYPES:
        raise RefusedError("Only 'users' and 'clients' entity types may be specified together")


def _check_one_form(options: ReadOptions) -> None:
    is_long = any(name in options for name in (_NAME, _TYPE, _DEFAULT))
    if is_long and any(name in options for name in (*_NAME_OPTIONS, *_DEFAULT_OPTIONS)):
        raise RefusedError("--entity-{type,name,default} should not be used in conjunction with specific entity flags")


def _check_names(options: ReadOptions, entity: Entity) -> None:
    first, types = entity.types[0], entity.types
    if not any(entity.names):
        return
    if BROKERS in types or BROKER_LOGGERS in types:
        for name in _given(options, _NAME, "broker", "broker-logger"):
            if not is_integer(name):
                raise RefusedError(f"The entity name for {first} must be a valid integer broker id, but it is: {name}")
    if IPS in types:
        for name in _given(options, _NAME, "ip"):
            if not _is_resolved(name):
                raise RefusedError(
                    f"The entity name for {first} must be a valid IP or resolvable host, but it is: {name}"
                )


def _given(options: ReadOptions, *names: str) -> list[str]:
    return [value for name in names if (value := options.value(name)) is not None]


def is_integer(text: str) -> bool:
    """Whether Java reads a text as an ``int``."""
    if len(text) > _LONGEST_INTEGER or not _INTEGER.fullmatch(text):
        return False
    return -_MAXIMUM_INTEGER - 1 <= int(text) <= _MAXIMUM_INTEGER


def _is_resolved(name: str) -> bool:
    try:
        return not name or bool(socket.getaddrinfo(name, None))
    except (OSError, UnicodeError):
        return False


def _check_description(options: ReadOptions, entity: Entity) -> None:
    listed = ",".join(entity.types)
    if _DEFAULT in options and not _has_default(entity.types):
        raise RefusedError(
            f"--entity-default must not be specified with --describe of {listed}",
            f"{listed} have no default; leave --entity-default out, or give --entity-name",
        )
    if BROKER_LOGGERS in entity.types and not any(entity.names):
        raise RefusedError(f"An entity name must be specified with --describe of {listed}")


def _check_alteration(options: ReadOptions, entity: Entity) -> None:
    if _has_default(entity.types):
        if not entity.names:
            raise RefusedError(
                "An entity-name or default entity must be specified with --alter of users, clients, brokers or ips"
            )
    elif not any(entity.names):
        raise RefusedError(f"An entity name must be specified with --alter of {','.join(entity.types)}")
    if "add-config" in options and "add-config-file" in options:
        raise RefusedError("Only one of --add-config or --add-config-file must be specified")
    if not any(name in options for name in ("add-config", "add-config-file", "delete-config")):
        raise RefusedError(
            "At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter"
        )


def check_pairs(command: Command) -> None:
    """Check that an alteration has a name for each type: Apache's tool does so with a client already made.

    Raises:
        RefusedError: it has not.
    """
    if command.alters and len(command.entity.types) != len(command.entity.names):
        raise RefusedError("An entity name must be specified for every entity type")


def _has_default(types: Iterable[str]) -> bool:
    return any(type_ in _TYPES_WITH_DEFAULT for type_ in types)
