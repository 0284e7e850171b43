"""One batch of filters against a request for each filter (KIP-888), from the admin client to the embedded broker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.apache_kafka.node import HOST

from benchmarks.broker_programs import running_program
from benchmarks.results import OURS, DisagreementError, Measurement, Target
from benchmarks.sampling import interleave_waiting
from kafkawire.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminSettings,
    BlockingAdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ResourceType,
)

KIND: Final = "broker batches"
BATCH: Final = "one batch"
PIPELINED: Final = "pipelined"
SINGLY: Final = "one at a time"
OTHERS: Final = (PIPELINED, SINGLY)
TARGETS: Final = (Target(PIPELINED, 1), Target(SINGLY, 2))

_ACLS_OF_A_USER: Final = 10
EXTENT: Final = 10
"""Times the users that filters name: a broker has more than a batch is about."""

METHOD: Final = f"""\
KIP-888 proposes requests with many filters, and names no figure. Here the admin client describes the same filters in
three ways at the embedded broker, which has {EXTENT} times as many users as there are filters: *one batch* is
one request with all filters, *pipelined* a request for each filter with many of them in flight, *one at a time* a
request for each filter after the response to the one before. Broker and client are on one machine; over a network, each
request of *one at a time* also takes a round trip. All three decode the same results. *Speed-up* is the time of a way
divided by that of the batch."""


def run(rounds: int, filters: int, folder: Path) -> Iterator[Measurement]:
    """Measure descriptions of ACLs and of quotas.

    Args:
        rounds: of all contenders.
        filters: in a batch.
        folder: a new folder for the state of the broker.

    Raises:
        DisagreementError: the ways have different results.
    """
    settings = AdminSettings(proposals=True)
    with (
        running_program(folder, {"unstable.api.versions.enable": "true"}) as port,
        BlockingAdminClient(f"{HOST}:{port}", settings=settings) as admin,
    ):
        _fill(admin, filters * EXTENT)
        yield _acls(admin, rounds, filters)
        yield _quotas(admin, rounds, filters)


def _fill(admin: BlockingAdminClient, users: int) -> None:
    read, allow = AclOperation.READ, AclPermissionType.ALLOW
    admin.create_acls(
        [
            AclBinding(ResourceType.TOPIC, f"topic-{number}", f"User:user-{user}", read, allow)
            for user in range(users)
            for number in range(_ACLS_OF_A_USER)
        ]
    ).all()
    admin.alter_client_quotas(
        [
            ClientQuotaAlteration(ClientQuotaEntity.of_user(f"user-{user}"), {"producer_byte_rate": 1000.0})
            for user in range(users)
        ]
    ).all()


def _acls(admin: BlockingAdminClient, rounds: int, count: int) -> Measurement:
    filters = [AclBindingFilter(principal=f"User:user-{user}") for user in range(count)]

    def batch() -> Sequence[AclBinding]:
        return admin.describe_acls(filters, strategy="batch").union()

    def pipelined() -> Sequence[AclBinding]:
        return admin.describe_acls(filters, strategy="pipelined").union()

    def singly() -> Sequence[AclBinding]:
        return [acl for one in filters for acl in admin.describe_acls([one], strategy="pipelined")[one]]

    if not set(batch()) == set(pipelined()) == set(singly()) or len(batch()) != count * _ACLS_OF_A_USER:
        raise DisagreementError("the ways to describe ACLs have different results")
    seconds = interleave_waiting({OURS: batch, PIPELINED: pipelined, SINGLY: singly}, rounds)
    case = f"{count} filters of ACLs, {_ACLS_OF_A_USER} ACLs each, of {count * EXTENT * _ACLS_OF_A_USER}"
    return Measurement(KIND, case, seconds, TARGETS)


def _quotas(admin: BlockingAdminClient, rounds: int, count: int) -> Measurement:
    filters = [ClientQuotaFilter.of_entity(ClientQuotaEntity.of_user(f"user-{user}")) for user in range(count)]

    def batch() -> int:
        return len(admin.describe_client_quotas(filters, strategy="batch").union())

    def pipelined() -> int:
        return len(admin.describe_client_quotas(filters, strategy="pipelined").union())

    def singly() -> int:
        return sum(len(admin.describe_client_quotas([one], strategy="pipelined").union()) for one in filters)

    if not batch() == pipelined() == singly() == count:
        raise DisagreementError("the ways to describe quotas have different results")
    seconds = interleave_waiting({OURS: batch, PIPELINED: pipelined, SINGLY: singly}, rounds)
    return Measurement(KIND, f"{count} filters of quotas, of {count * EXTENT} users", seconds, TARGETS)
