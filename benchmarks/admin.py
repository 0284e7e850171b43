"""The admin client beside kafka-python, confluent-kafka and Java's Admin, on one real broker of Apache Kafka.

The time is what a caller waits; it includes the broker's work, which is the same for all. Java's time is taken in the
Java process, after warm-up.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.apache_kafka.broker import AUTHORIZER, Broker, running_broker
from tests.apache_kafka.java_admin import JavaAdminClient, running_java_admin
from tests.apache_kafka.loading import (
    ACLS_OF_A_PRINCIPAL,
    QUOTA_KEYS,
    load_acls,
    load_quotas,
    principal,
    user,
)
from tests.apache_kafka.releases import newest_broker_release

from benchmarks.admin_peers import describing_by_confluent_kafka, describing_by_kafka_python
from benchmarks.processes import interleave_processes
from benchmarks.results import (
    AIOKAFKA,
    CONFLUENT,
    JAVA,
    KAFKA_PYTHON,
    OURS,
    DisagreementError,
    Measurement,
    Target,
    spread,
)
from benchmarks.sampling import Call, Waiting, interleave_waiting
from kafkawire.admin.client import BlockingAdminClient
from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter
from kafkawire.model.quotas.entities import ClientQuotaAlteration, ClientQuotaEntity

DESCRIBE_TARGETS = (Target(KAFKA_PYTHON, 1 / 0.6), Target(CONFLUENT, 1 / 0.6), Target(JAVA, 1))
PRINCIPALS_TARGETS = (Target(JAVA, 10),)
ALTER_TARGETS = (Target(JAVA, 1 / 2),)
IMPORT_TARGETS = (Target(KAFKA_PYTHON, 1), Target(CONFLUENT, 1), Target(AIOKAFKA, 1))
CLIENT_TARGETS = (Target(KAFKA_PYTHON, 1), Target(AIOKAFKA, 1))
"""confluent-kafka has its own threads; a client on asyncio has to import asyncio."""
FIRST_CALL_TARGETS = (Target(KAFKA_PYTHON, 1), Target(CONFLUENT, 1))

_ALL = AclBindingFilter()
_ASYNCIO = "asyncio"
_HEAP = "1g"
_IMPORT_ROUNDS = 3
"""The times of imports are close to each other, and vary more than those of a warm process."""

_IMPORTS = {
    OURS: "import kafkawire.admin",
    KAFKA_PYTHON: "import kafka.admin",
    CONFLUENT: "import confluent_kafka.admin",
    AIOKAFKA: "import aiokafka.admin",
}
_CLIENTS = {
    OURS: "from kafkawire.admin.client import AdminClient",
    KAFKA_PYTHON: "from kafka.admin import KafkaAdminClient",
    CONFLUENT: "from confluent_kafka.admin import AdminClient",
    AIOKAFKA: "from aiokafka.admin import AIOKafkaAdminClient",
}
_FIRST_CALLS = {
    OURS: """
import asyncio
from kafkawire.admin.client import AdminClient

async def main():
    async with AdminClient(sys.argv[1]) as admin:
        await admin.list_topics()

asyncio.run(main())
""",
    KAFKA_PYTHON: """
from kafka.admin import KafkaAdminClient

admin = KafkaAdminClient(bootstrap_servers=sys.argv[1])
admin.list_topics()
admin.close()
""",
    CONFLUENT: """
from confluent_kafka.admin import AdminClient

AdminClient({"bootstrap.servers": sys.argv[1]}).list_topics(timeout=10)
""",
    AIOKAFKA: """
import asyncio
from aiokafka.admin import AIOKafkaAdminClient

async def main():
    admin = AIOKafkaAdminClient(bootstrap_servers=sys.argv[1])
    await admin.start()
    await admin.list_topics()
    await admin.close()

asyncio.run(main())
""",
}


@dataclass(frozen=True)
class Load:
    """The size of the benchmark.

    Attributes:
        acls: number of ACLs in the broker.
        principals: number of principals whose ACLs one call describes.
        users: number of users whose quotas one call alters.
        warm_ups: rounds of Java's Admin that do not count.
    """

    acls: int = 55_000
    principals: int = 500
    users: int = 1_000
    warm_ups: int = 10


SMALL = Load(acls=110, principals=5, users=5, warm_ups=1)
"""For a trial of the benchmark."""


def run(rounds: int, load: Load) -> Iterator[Measurement]:
    """Compare the operations and the import with those of the peers.

    Raises:
        DisagreementError: if a peer describes other ACLs than kafkawire.
    """
    with loaded_broker(load.acls) as broker, running_java_admin() as java, BlockingAdminClient(broker.address) as admin:
        client = java.client(broker.address)
        yield _describe_all(broker, admin, client, load, rounds)
        yield _describe_principals(admin, client, load, rounds)
        yield _alter_quotas(broker, admin, client, load, rounds)
        yield first_calls(broker.address, rounds)
    yield from imports(rounds)


def first_calls(address: str, rounds: int) -> Measurement:
    """Measure a program that imports a client, lists topics and ends."""
    seconds = interleave_processes(_FIRST_CALLS, _IMPORT_ROUNDS * rounds, argument=address)
    return Measurement("admin import", "the client and its first call, a list of topics", seconds, FIRST_CALL_TARGETS)


def imports(rounds: int) -> Iterator[Measurement]:
    """Measure imports in programs that have just been started."""
    yield Measurement("admin import", "the package", interleave_processes(_IMPORTS, rounds), IMPORT_TARGETS)
    seconds = interleave_processes({**_CLIENTS, _ASYNCIO: "import asyncio"}, _IMPORT_ROUNDS * rounds)
    alone = spread(seconds.pop(_ASYNCIO)).median * 1000
    note = f"asyncio alone, which {OURS} and {AIOKAFKA} use, takes {alone:.0f} ms, in turn with the others"
    yield Measurement("admin import", "the client", seconds, CLIENT_TARGETS, (note,))


@contextmanager
def loaded_broker(acls: int) -> Iterator[Broker]:
    """A broker of the newest release with the ACLs of the load."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_broker(newest_broker_release(), Path(folder) / "kafka", properties=AUTHORIZER, heap=_HEAP) as broker,
    ):
        load_acls(broker, acls)
        yield broker


def _describe_all(
    broker: Broker, admin: BlockingAdminClient, java: JavaAdminClient, load: Load, rounds: int
) -> Measurement:
    with (
        describing_by_kafka_python(broker.address) as of_kafka_python,
        describing_by_confluent_kafka(broker.address) as of_confluent,
    ):
        described = {_plain(acl) for acl in admin.describe_acls([_ALL])[_ALL]}
        _check(OURS, len(described), load.acls)
        for name, describing in ((KAFKA_PYTHON, of_kafka_python), (CONFLUENT, of_confluent)):
            if set(map(describing.plain, describing.describe())) != described:
                raise DisagreementError(f"{name} describes other ACLs than {OURS}")
        _check(JAVA, java.time_describe_all_acls(warm_ups=load.warm_ups, rounds=1).items, load.acls)
        contenders: Mapping[str, Call | Waiting] = {
            OURS: lambda: admin.describe_acls([_ALL])[_ALL],
            KAFKA_PYTHON: of_kafka_python.describe,
            CONFLUENT: of_confluent.describe,
            JAVA: Waiting(lambda: java.time_describe_all_acls(warm_ups=0, rounds=1).seconds[0]),
        }
        seconds = interleave_waiting(contenders, rounds)
    return Measurement("admin", f"describe: all of {load.acls:,} ACLs".replace(",", " "), seconds, DESCRIBE_TARGETS)


def _describe_principals(admin: BlockingAdminClient, java: JavaAdminClient, load: Load, rounds: int) -> Measurement:
    wanted = [principal(index) for index in range(load.principals)]
    filters = [AclBindingFilter(principal=one) for one in wanted]
    expected = load.principals * ACLS_OF_A_PRINCIPAL
    _check(OURS, len(admin.describe_acls(filters).union()), expected)
    warmed = java.time_describe_acls_of_principals(wanted, warm_ups=1, rounds=1)
    _check(JAVA, warmed.items, expected)
    contenders: Mapping[str, Call | Waiting] = {
        OURS: lambda: admin.describe_acls(filters).all(),
        JAVA: Waiting(lambda: java.time_describe_acls_of_principals(wanted, warm_ups=0, rounds=1).seconds[0]),
    }
    # Requests for 500 principals take the broker long, and the ratio is far from its target.
    seconds = interleave_waiting(contenders, max(1, rounds // 3))
    case = f"describe: ACLs of {load.principals} principals out of {load.acls:,}".replace(",", " ")
    note = "Java sends one request for each principal; all are passed to its Admin at once"
    return Measurement("admin", case, seconds, PRINCIPALS_TARGETS, (note,))


def _alter_quotas(
    broker: Broker, admin: BlockingAdminClient, java: JavaAdminClient, load: Load, rounds: int
) -> Measurement:
    load_quotas(broker, load.users)
    users = [user(index) for index in range(load.users)]
    values = iter(range(1, 1_000_000))

    def alter() -> object:
        value = float(next(values))  # different each time, so that each call alters something
        return admin.alter_client_quotas(
            ClientQuotaAlteration(ClientQuotaEntity.of_user(name), dict.fromkeys(QUOTA_KEYS, value)) for name in users
        ).all()

    alter()
    java.time_alter_client_quotas(users, QUOTA_KEYS, warm_ups=load.warm_ups, rounds=1)
    contenders: Mapping[str, Call | Waiting] = {
        OURS: alter,
        JAVA: Waiting(
            lambda: java.time_alter_client_quotas(
                users, QUOTA_KEYS, first=1_000_000 + next(values), warm_ups=0, rounds=1
            ).seconds[0]
        ),
    }
    case = f"alter: {load.users:,} users x {len(QUOTA_KEYS)} quotas".replace(",", " ")
    return Measurement("admin", case, interleave_waiting(contenders, rounds), ALTER_TARGETS)


def _plain(acl: AclBinding) -> tuple[int | str, ...]:
    return (
        acl.resource_type,
        acl.resource_name,
        acl.pattern_type,
        acl.principal,
        acl.host,
        acl.operation,
        acl.permission_type,
    )


def _check(name: str, count: int, expected: int) -> None:
    if count != expected:
        raise DisagreementError(f"{name} describes {count} ACLs, and there are {expected}")
