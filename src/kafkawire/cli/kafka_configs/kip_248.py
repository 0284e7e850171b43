"""The command that KIP-248 proposes in place of kafka-configs: it describes what it has altered."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from kafkawire.admin import BlockingAdminClient
from kafkawire.cli.kafka_configs.altering import MECHANISMS
from kafkawire.cli.kafka_configs.clients import check_live, client_of, failed
from kafkawire.cli.kafka_configs.kafka_words import BROKERS, CLIENTS, TOPICS, USERS
from kafkawire.cli.kafka_configs.kip_248_table import DescribedConfig, table
from kafkawire.cli.kafka_configs.kip_248_words import HELP, Kip248Command, read_kip_248
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.visible import visible
from kafkawire.model.configs.resources import ConfigChange, ConfigEntry, ConfigResource
from kafkawire.model.quotas.configs import DEFAULT_NAME, number_in_words, quota_entity
from kafkawire.wire.kafka_errors import KafkaError

_SECONDS_UNTIL_FRESH: Final = 5.0
_SECONDS_BETWEEN_LOOKS: Final = 0.05


def run(words: Sequence[str]) -> int:
    """Run a command line.

    Raises:
        CommandError: the words are refused, or a call fails.
    """
    command = read_kip_248(words)
    if command is None:
        print(HELP, end="")
        return ExitCode.DONE
    if command.zookeeper:
        print("kafkawire: --zookeeper is ignored; the command talks to brokers", file=sys.stderr)
    with _connected(command) as client:
        if command.entity.get(BROKERS):
            check_live(client, _name(command, BROKERS))
        if command.alters:
            _alter(client, command)
        for line in table(_heading(command), _fresh(client, command)):
            print(visible(line))
    return ExitCode.DONE


@contextmanager
def _connected(command: Kip248Command) -> Iterator[BlockingAdminClient]:
    try:
        with client_of(command.properties or {}, servers=command.servers, proposals=True) as client:
            yield client
    except ValueError as error:
        raise CommandError(str(error), ExitCode.USAGE) from None
    except KafkaError as error:
        raise failed(_heading(command), error) from None


def _heading(command: Kip248Command) -> str:
    named = (type_ for type_ in (USERS, CLIENTS, TOPICS, BROKERS) if type_ in command.entity)
    return ", ".join(f"{type_[:-1].upper()} {_name(command, type_)}" for type_ in named)


def _name(command: Kip248Command, type_: str) -> str:
    name = command.entity[type_]
    return DEFAULT_NAME if name is None else name


def _resource(command: Kip248Command) -> ConfigResource | None:
    """The resource whose configs are meant; None for users and clients, which have quotas."""
    if TOPICS in command.entity:
        return ConfigResource.topic(command.entity[TOPICS] or "")
    if BROKERS in command.entity:
        name = command.entity[BROKERS]
        return ConfigResource.broker_default() if name is None else ConfigResource.broker(int(name))
    return None


def _alter(client: BlockingAdminClient, command: Kip248Command) -> None:
    resource = _resource(command)
    if resource is None:
        _alter_quotas(client, command)
        return
    added = [ConfigChange.set(key, value) for key, value in command.added.items()]
    deleted = [ConfigChange.delete(key) for key in command.deleted]
    for error in client.incremental_alter_configs({resource: [*added, *deleted]}).errors().values():
        raise error


def _alter_quotas(client: BlockingAdminClient, command: Kip248Command) -> None:
    if any(key in MECHANISMS for key in (*command.added, *command.deleted)):
        raise CommandError("KIP-248 has no passwords: use --bootstrap-server in place of its option", ExitCode.USAGE)
    entity = quota_entity(*_user_and_client(command))
    configs = {**command.added, **dict.fromkeys(command.deleted)}
    for error in client.alter_quotas({entity: configs}).errors().values():
        raise error


def _user_and_client(command: Kip248Command) -> tuple[str | None, str | None]:
    """The names for the calls of KIP-248: ``<default>`` for the default, None for no part."""
    user, client = (_name(command, type_) if type_ in command.entity else None for type_ in (USERS, CLIENTS))
    return user, client


def _fresh(client: BlockingAdminClient, command: Kip248Command) -> list[DescribedConfig]:
    """The configs; after a change, as soon as a broker shows it."""
    deadline = time.monotonic() + _SECONDS_UNTIL_FRESH
    configs = _described(client, command)
    while command.alters and not _shows(configs, command) and time.monotonic() < deadline:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
        configs = _described(client, command)
    return configs


def _shows(configs: Sequence[DescribedConfig], command: Kip248Command) -> bool:
    """Whether configs are as they should be after the change."""
    by_name = {config.name: config for config in configs}
    for key, value in command.added.items():
        found = by_name.get(key)
        if found is None or not (found.is_sensitive or number_in_words(found.value) == number_in_words(value)):
            return False
    if command.entity.get(BROKERS, "") is None:  # the default of all brokers has no entry for a default value
        return by_name.keys().isdisjoint(command.deleted)
    return all(key not in by_name or by_name[key].is_default for key in command.deleted)


def _described(client: BlockingAdminClient, command: Kip248Command) -> list[DescribedConfig]:
    resource = _resource(command)
    if resource is not None:
        entries = client.describe_configs([resource])[resource]
        return [_of_entry(entries[name]) for name in sorted(entries)]
    user, client_id = _user_and_client(command)
    (quotas,) = client.describe_quotas(user, client_id).all().values()
    return [
        DescribedConfig(name, quota.value, quota.is_sensitive, quota.read_only, quota.is_default)
        for name, quota in sorted(quotas.items())
    ]


def _of_entry(entry: ConfigEntry) -> DescribedConfig:
    return DescribedConfig(entry.name, entry.value or "", entry.is_sensitive, entry.is_read_only, entry.is_default)
