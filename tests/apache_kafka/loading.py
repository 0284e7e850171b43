"""Fills a broker with ACLs and quotas by the thousand, with requests of our own codec over a plain connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from tests.apache_kafka.broker import Broker
from tests.apache_kafka.connection import Connection, connected_to
from tests.apache_kafka.eventually import eventually

from kafkawire.protocol import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    CreateAclsRequest,
    CreateAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)

ACLS_OF_A_PRINCIPAL = 11
"""So that 55 000 ACLs are those of 5 000 principals."""

QUOTA_KEYS = ("producer_byte_rate", "consumer_byte_rate")
"""What each user has a quota for."""

T = TypeVar("T")
_RECORDS_OF_A_REQUEST = 2_000
"""Brokers refuse whole requests above 10 000, and the time for one with ACLs grows with the square of their number:
9 000 take 4 s, 1 000 take 0.2 s. With many small ones a broker lags in making known what it has acknowledged."""

_SECONDS_TO_KNOW_ALL = 180.0
_ANY = 1
_TOPIC = 2
_LITERAL = 3
_ALLOW = 3
_OPERATIONS = (3, 4, 8)  # READ, WRITE, DESCRIBE


def principal(index: int) -> str:
    """The principal of a number: ``User:u000042``."""
    return f"User:{user(index)}"


def user(index: int) -> str:
    """The user of a number: ``u000042``."""
    return f"u{index:06}"


def load_acls(broker: Broker, count: int) -> None:
    """Create ACLs, and wait until the broker describes them.

    Principal i has the ACLs from ``ACLS_OF_A_PRINCIPAL`` times i on, each for a literal topic of its own.

    Args:
        broker: an empty one with an authorizer, such as ``properties=AUTHORIZER`` gives; with ``heap="1g"`` for more
            than 100 000 ACLs.
        count: how many ACLs.

    Raises:
        RuntimeError: if the broker refuses one.
    """
    with connected_to(broker.host, broker.port) as connection:
        for creations in _chunks([_acl(index) for index in range(count)], _RECORDS_OF_A_REQUEST):
            answer = connection.ask(CreateAclsRequest(creations), 3, CreateAclsResponse)
            _check((result.error_code, result.error_message) for result in answer.results)
        last = principal((count - 1) // ACLS_OF_A_PRINCIPAL)
        expected = (count - 1) % ACLS_OF_A_PRINCIPAL + 1
        eventually(lambda: _acls_of(connection, last), lambda found: found == expected, seconds=_SECONDS_TO_KNOW_ALL)


def load_quotas(broker: Broker, users: int, *, value: float = 1_048_576.0) -> None:
    """Give users a quota for each of ``QUOTA_KEYS``, and wait until the broker describes them.

    Args:
        broker: the broker.
        users: how many users, from number 0 on.
        value: the quotas.

    Raises:
        RuntimeError: if the broker refuses one.
    """
    entries = [_quotas(index, value) for index in range(users)]
    with connected_to(broker.host, broker.port) as connection:
        for chunk in _chunks(entries, _RECORDS_OF_A_REQUEST // len(QUOTA_KEYS)):
            answer = connection.ask(AlterClientQuotasRequest(chunk, False), 1, AlterClientQuotasResponse)
            _check((result.error_code, result.error_message) for result in answer.entries)
        eventually(lambda: _quotas_of(connection, users - 1), lambda found: set(found) == {value})


def _acl(index: int) -> CreateAclsRequest.AclCreation:
    return CreateAclsRequest.AclCreation(
        resource_type=_TOPIC,
        resource_name=f"topic-{index:06}",
        resource_pattern_type=_LITERAL,
        principal=principal(index // ACLS_OF_A_PRINCIPAL),
        host="*",
        operation=_OPERATIONS[index % len(_OPERATIONS)],
        permission_type=_ALLOW,
    )


def _quotas(index: int, value: float) -> AlterClientQuotasRequest.EntryData:
    entity = AlterClientQuotasRequest.EntityData("user", user(index))
    operations = tuple(AlterClientQuotasRequest.OpData(key, value, False) for key in QUOTA_KEYS)
    return AlterClientQuotasRequest.EntryData((entity,), operations)


def _acls_of(connection: Connection, of: str) -> int:
    request = DescribeAclsRequest(
        resource_type_filter=_ANY,
        resource_name_filter=None,
        pattern_type_filter=_ANY,
        principal_filter=of,
        host_filter=None,
        operation=_ANY,
        permission_type=_ANY,
    )
    answer = connection.ask(request, 3, DescribeAclsResponse)
    _check([(answer.error_code, answer.error_message)])
    return sum(len(resource.acls) for resource in answer.resources)


def _quotas_of(connection: Connection, index: int) -> list[float]:
    component = DescribeClientQuotasRequest.ComponentData("user", 0, user(index))
    answer = connection.ask(DescribeClientQuotasRequest((component,), True), 1, DescribeClientQuotasResponse)
    _check([(answer.error_code, answer.error_message)])
    return [value.value for entry in answer.entries or () for value in entry.values]


def _chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[at : at + size] for at in range(0, len(items), size))


def _check(errors: Iterable[tuple[int, str | None]]) -> None:
    refused = [f"{code}: {message}" for code, message in errors if code != 0]
    if refused:
        raise RuntimeError(f"the broker refused {len(refused)} items, the first with {refused[0]}")
