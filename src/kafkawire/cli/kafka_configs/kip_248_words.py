"""The options of the command that KIP-248 proposes, and the checks of its words."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, NoReturn

from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.topic_names import check_topic_name
from kafkawire.cli.kafka_configs.added_configs import AddedConfigsError, check_keys, read_added, read_deleted
from kafkawire.cli.kafka_configs.kafka_words import BROKERS, CLIENTS, TOPICS, USERS, is_integer
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.model.quotas.configs import DEFAULT_NAME

_TYPES: Final = (TOPICS, CLIENTS, USERS, BROKERS)
_USAGE: Final = f"""\
usage: config-command [-h] --entity-type {{{",".join(_TYPES)}}} [--force FORCE]
                      [--add-config ADDCONFIG] [--delete-config DELETECONFIG]
                      (--entity-name ENTITYNAME | --entity-default)
                      (--describe | --alter)
                      (--bootstrap-servers BOOTSTRAPSERVERS | --config.properties CONFIGPROPERTIES)
"""
_ONE_ENTITY: Final = "You can specify only one in --entity-name and --entity-default"
_ONE_ACTION: Final = "You can specify only one in --alter, --describe"
_ONE_CLUSTER: Final = "You can specify only one in --bootstrap-servers, --config.properties"

HELP: Final = f"""\
{_USAGE}
Change configs for topics, clients, users, brokers dynamically.

optional arguments:
  -h, --help             show this help message and exit
  --entity-type {{{",".join(_TYPES)}}}
                         REQUIRED: the type of entity (topics/clients/users/brokers)
  --force FORCE          Suppresses console prompts
  --add-config ADDCONFIG
                         Key Value pairs of configs to add. Square brackets can be
                         used to group values which contain commas:
                         'k1=v1,k2=[v1,v2,v2],k3=v3'.
  --delete-config DELETECONFIG
                         Config keys to remove in the following form: 'k1, k2'.

{_ONE_ENTITY}
  --entity-name ENTITYNAME
                         Name of entity (client id/user principal name)
  --entity-default       Default entity name for clients/users (applies to
                         corresponding entity type in command line)

{_ONE_ACTION}
  --describe             List configs for the given entity. (default: false)
  --alter                Alter the configuration for the entity. (default: false)

{_ONE_CLUSTER}
  --bootstrap-servers BOOTSTRAPSERVERS
                         REQUIRED: The broker list string in the form
                         HOST1:PORT1,HOST2:PORT2.
  --config.properties CONFIGPROPERTIES
                         REQUIRED: The config properties file for the Admin Client.
"""

OPTIONS_OF_ITS_OWN: Final = frozenset({"--bootstrap-servers", "--config.properties"})
"""The options that only this command has."""

OPTIONS: Final = OPTIONS_OF_ITS_OWN | {
    "--help", "--entity-type", "--force", "--add-config", "--delete-config", "--entity-name", "--entity-default",
    "--describe", "--alter", "--zookeeper",
}  # fmt: skip
"""All of its options."""

_PAIR: Final = frozenset({USERS, CLIENTS})


class Kip248Command(NamedTuple):
    """A command line that is checked.

    Attributes:
        entity: type to name, of one entity, or of a user and a client; None is the default.
        alters: whether it changes configs before it describes them.
        added: configs to set.
        deleted: names of configs to remove.
        servers: brokers to ask first, unless there are properties.
        properties: the path of a properties file.
        zookeeper: whether the words have ``--zookeeper``, which is ignored.
    """

    entity: Mapping[str, str | None]
    alters: bool
    added: Mapping[str, str]
    deleted: Sequence[str]
    servers: str | None
    properties: str | None
    zookeeper: bool


class _Given(argparse.Namespace):
    """What the words have."""

    help: bool
    entity_type: list[str] | None
    entity_name: list[str] | None
    entity_default: bool
    describe: bool
    alter: bool
    bootstrap_servers: str | None
    config_properties: str | None
    add_config: str | None
    delete_config: str | None
    zookeeper: str | None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _refused(message)


def read_kip_248(words: Sequence[str]) -> Kip248Command | None:
    """Read and check words; None if they ask for the help.

    Raises:
        CommandError: the words are refused.
    """
    given = _parser().parse_args(words, _Given())
    if given.help:
        return None
    _check_exclusive(given)
    added, deleted = _added(given.add_config), _deleted(given.delete_config)
    if given.describe and (added or deleted):
        raise _refused("--describe changes nothing: use --alter with --add-config and --delete-config")
    if given.alter and not (added or deleted):
        raise _refused("--alter needs --add-config or --delete-config")
    twice = sorted(added.keys() & set(deleted))
    if twice:
        raise _refused(f"{', '.join(twice)}: both added and deleted; do one of the two")
    return Kip248Command(
        _entity(given), given.alter, added, deleted, given.bootstrap_servers, given.config_properties,
        given.zookeeper is not None,
    )  # fmt: skip


def _parser() -> _Parser:
    parser = _Parser(prog="config-command", add_help=False, allow_abbrev=False)
    for flag in ("--entity-default", "--describe", "--alter"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    for option in ("--bootstrap-servers", "--config.properties", "--add-config", "--delete-config", "--zookeeper"):
        parser.add_argument(option, dest=option.strip("-").replace("-", "_").replace(".", "_"))
    for option in ("--entity-type", "--entity-name"):
        parser.add_argument(option, action="append")
    parser.add_argument("--force", nargs="?")
    return parser


def _refused(message: str) -> CommandError:
    return CommandError(f"{message}\n{_USAGE}".rstrip(), ExitCode.USAGE)


def _check_exclusive(given: _Given) -> None:
    """One of each two; of both, with the message of KIP-248."""
    if not given.entity_type:
        raise _refused("argument --entity-type is required")
    for rule, options, count in (
        (_ONE_ENTITY, "--entity-name --entity-default", bool(given.entity_name) + given.entity_default),
        (_ONE_ACTION, "--describe --alter", given.describe + given.alter),
        (
            _ONE_CLUSTER,
            "--bootstrap-servers --config.properties",
            (given.bootstrap_servers is not None) + (given.config_properties is not None),
        ),
    ):
        if count > 1:
            raise _refused(rule)
        if not count:
            raise _refused(f"one of the arguments {options} is required")


def _entity(given: _Given) -> dict[str, str | None]:
    types, names = given.entity_type or [], given.entity_name or []
    for type_ in types:
        if type_ not in _TYPES:
            raise _refused(f"argument --entity-type: invalid choice: '{type_}' (choose from {{{','.join(_TYPES)}}})")
    if len(types) > 1 and (len(types) > len(_PAIR) or set(types) != _PAIR):
        raise _refused("only users and clients are given together, each once")
    if given.entity_default:
        if types == [TOPICS]:
            raise _refused("--entity-default: topics have no default; give --entity-name")
        return dict.fromkeys(types)
    if len(names) != len(types):
        raise _refused("each --entity-type needs one --entity-name")
    return {type_: _name(type_, name) for type_, name in zip(types, names, strict=True)}


def _name(type_: str, name: str) -> str | None:
    if type_ == TOPICS:
        try:
            check_topic_name(name)
        except ItemError as error:
            raise _refused(error.message or "") from None
        return name
    if type_ == BROKERS and not is_integer(name):
        raise _refused(f"--entity-name {name}: the name of a broker is its id, a number")
    if not name:
        raise _refused(f"the name of {type_} is empty; --entity-default is the default")
    return None if name == DEFAULT_NAME and type_ in _PAIR else name


def _added(text: str | None) -> dict[str, str]:
    if text is None:
        return {}
    try:
        configs = read_added(text)
        check_keys(configs)
    except AddedConfigsError as error:
        raise _refused(f"--add-config: {error}") from None
    return configs


def _deleted(text: str | None) -> list[str]:
    names = [] if text is None else read_deleted(text.split(","))
    return list(dict.fromkeys(filter(None, names)))
