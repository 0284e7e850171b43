"""How kafka-python and confluent-kafka describe ACLs, each used as its documentation says.

They are imported by name, so that type checks do not depend on whether they are installed.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.results import AIOKAFKA, CONFLUENT, KAFKA_PYTHON

Acl = Any
"""An ACL of a peer."""

_SECONDS = 60.0
_MODULES = {KAFKA_PYTHON: "kafka", CONFLUENT: "confluent_kafka", AIOKAFKA: "aiokafka"}


@dataclass(frozen=True)
class Describing:
    """How a peer describes ACLs.

    Attributes:
        describe: all ACLs of the broker.
        plain: resource type, name, pattern type, principal, host, operation and permission type, as on the wire.
    """

    describe: Callable[[], Sequence[Acl]]
    plain: Callable[[Acl], tuple[int | str, ...]]


def missing_admin_peers() -> list[str]:
    """The peers that are not installed."""
    return [peer for peer, module in _MODULES.items() if importlib.util.find_spec(module) is None]


@contextmanager
def describing_by_kafka_python(address: str) -> Iterator[Describing]:
    """kafka-python, connected to a broker."""
    admin: Any = importlib.import_module("kafka.admin")
    client = admin.KafkaAdminClient(bootstrap_servers=address)
    everything = admin.ACLFilter(
        principal=None,
        host=None,
        operation=admin.ACLOperation.ANY,
        permission_type=admin.ACLPermissionType.ANY,
        resource_pattern=admin.ResourcePatternFilter(admin.ResourceType.ANY, None, admin.ACLResourcePatternType.ANY),
    )

    def describe() -> Sequence[Acl]:
        acls, error = client.describe_acls(everything)
        assert not error.errno, error
        found: Sequence[Acl] = acls
        return found

    def plain(acl: Acl) -> tuple[int | str, ...]:
        resource = acl.resource_pattern
        return (
            int(resource.resource_type),
            resource.resource_name,
            int(resource.pattern_type),
            acl.principal,
            acl.host,
            int(acl.operation),
            int(acl.permission_type),
        )

    try:
        yield Describing(describe, plain)
    finally:
        client.close()


@contextmanager
def describing_by_confluent_kafka(address: str) -> Iterator[Describing]:
    """confluent-kafka, which is built on librdkafka."""
    admin: Any = importlib.import_module("confluent_kafka.admin")
    client = admin.AdminClient({"bootstrap.servers": address})
    everything = admin.AclBindingFilter(
        admin.ResourceType.ANY,
        None,
        admin.ResourcePatternType.ANY,
        None,
        None,
        admin.AclOperation.ANY,
        admin.AclPermissionType.ANY,
    )

    def describe() -> Sequence[Acl]:
        found: Sequence[Acl] = client.describe_acls(everything, request_timeout=_SECONDS).result(_SECONDS)
        return found

    def plain(acl: Acl) -> tuple[int | str, ...]:
        return (
            acl.restype.value,
            acl.name,
            acl.resource_pattern_type.value,
            acl.principal,
            acl.host,
            acl.operation.value,
            acl.permission_type.value,
        )

    yield Describing(describe, plain)
