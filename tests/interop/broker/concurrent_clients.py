"""A program: clients of four kinds write to a broker at once, until it is gone.

It prints a line of JSON for each change that the broker acknowledged. It is a process of its own, since clients whose
broker is killed leave connections and threads.
"""

from __future__ import annotations

import asyncio
import importlib
import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from kafkawire.admin import (
    AclBinding,
    AclOperation,
    AdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    NewTopic,
    ResourceType,
)

Untyped: TypeAlias = Any
"""What the clients of others are made of."""

ORDERS: Final = "orders"
PASSWORD: Final = "password of everybody"
_SECONDS: Final = 10


class Done(msgspec.Struct, frozen=True):
    """A change was acknowledged or refused.

    Attributes:
        client: which.
        kind: ``topic``, ``acl``, ``quota``, ``user``, ``offset``, or ``failure``.
        name: of the topic, the user or the group; or what failed.
        value: number of partitions, limit, or offset.
    """

    client: str
    kind: str
    name: str
    value: float = 0


def _done(client: str, kind: str, name: str, value: float = 0) -> None:
    sys.stdout.write(msgspec.json.encode(Done(client, kind, name, value)).decode() + "\n")
    sys.stdout.flush()


def _library(name: str) -> Untyped:
    return importlib.import_module(name)


def _kafka_python(address: str, first: int) -> None:
    client = "kafka-python"
    kafka, names = _library("kafka"), _library("kafka.admin")
    admin = names.KafkaAdminClient(bootstrap_servers=address)
    consumer = kafka.KafkaConsumer(bootstrap_servers=address, group_id=client, enable_auto_commit=False)
    partition = kafka.TopicPartition(ORDERS, 0)
    for number in itertools.count(first):
        topic = f"{client}-{number}"
        admin.create_topics([names.NewTopic(topic, 2, 1, topic_configs={"retention.ms": "60000"})])
        _done(client, "topic", topic, 2)
        pattern = names.ResourcePattern(names.ResourceType.TOPIC, topic)
        acl = names.ACL("User:alice", "*", names.ACLOperation.READ, names.ACLPermissionType.ALLOW, pattern)
        admin.create_acls([acl])
        _done(client, "acl", topic)
        consumer.commit({partition: kafka.OffsetAndMetadata(number, "", -1)})
        _done(client, "offset", client, number)


def _confluent_kafka(address: str, first: int) -> None:
    client = "confluent-kafka"
    confluent, names = _library("confluent_kafka"), _library("confluent_kafka.admin")
    settings = {"bootstrap.servers": address, "log_level": 0}
    admin = names.AdminClient(settings)
    consumer = confluent.Consumer({**settings, "group.id": client, "enable.auto.commit": False})
    for number in itertools.count(first):
        topic, user = f"{client}-{number}", f"user-{number}"
        admin.create_topics([names.NewTopic(topic, 1, 1)])[topic].result(_SECONDS)
        _done(client, "topic", topic, 1)
        info = names.ScramCredentialInfo(names.ScramMechanism.SCRAM_SHA_256, 4096)
        upsertion = names.UserScramCredentialUpsertion(user, info, PASSWORD.encode())
        admin.alter_user_scram_credentials([upsertion])[user].result(_SECONDS)
        _done(client, "user", user)
        consumer.commit(offsets=[confluent.TopicPartition(ORDERS, 0, number)], asynchronous=False)
        _done(client, "offset", client, number)


def _aiokafka(address: str, first: int) -> None:
    client = "aiokafka"
    aiokafka, names = _library("aiokafka"), _library("aiokafka.admin")

    async def write() -> None:
        admin = names.AIOKafkaAdminClient(bootstrap_servers=address)
        await admin.start()
        consumer = aiokafka.AIOKafkaConsumer(bootstrap_servers=address, group_id=client, enable_auto_commit=False)
        partition = aiokafka.TopicPartition(ORDERS, 0)
        consumer.assign([partition])
        await consumer.start()
        for number in itertools.count(first):
            topic = f"{client}-{number}"
            await admin.create_topics([names.NewTopic(topic, 1, 1)])
            _done(client, "topic", topic, 1)
            await consumer.commit({partition: number})
            _done(client, "offset", client, number)

    asyncio.run(write())


def _kafkawire(address: str, first: int) -> None:
    client = "kafkawire"

    async def write(admin: AdminClient, writer: int) -> None:
        for number in itertools.count(first):
            name, limit = f"{client}-{writer}-{number}", 1000.0 + number
            topic = NewTopic(name, 1, 1, configs={"retention.ms": "60000"})
            (await admin.create_topics([topic])).all()
            _done(client, "topic", name, 1)
            quota = ClientQuotaAlteration(ClientQuotaEntity({"user": name}), {"producer_byte_rate": limit})
            (await admin.alter_client_quotas([quota])).all()
            _done(client, "quota", name, limit)
            acl = AclBinding(ResourceType.TOPIC, name, "User:alice", AclOperation.READ)
            (await admin.create_acls([acl])).all()
            _done(client, "acl", name)

    async def write_at_once() -> None:
        async with AdminClient(address) as admin:
            await asyncio.gather(*(write(admin, writer) for writer in range(6)))

    asyncio.run(write_at_once())


CLIENTS: Final = (_kafka_python, _confluent_kafka, _aiokafka, _kafkawire)


def _until_it_fails(client: Callable[[str, int], None], address: str, first: int) -> None:
    """A client fails when its broker is gone, each in its own way."""
    try:
        client(address, first)
    except BaseException as error:  # noqa: BLE001 the test judges it
        _done(client.__name__, "failure", repr(error))


if __name__ == "__main__":
    begun = [threading.Thread(target=_until_it_fails, args=(each, sys.argv[1], int(sys.argv[2]))) for each in CLIENTS]
    for thread in begun:
        thread.start()
    for thread in begun:
        thread.join()
