"""Java's Admin finds what the loader has created."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.apache_kafka.broker import AUTHORIZER, Broker, running_broker
from tests.apache_kafka.java_admin import JavaAdmin, JavaAdminClient
from tests.apache_kafka.loading import ACLS_OF_A_PRINCIPAL, QUOTA_KEYS, load_acls, load_quotas, principal, user
from tests.apache_kafka.releases import newest_broker_release

pytestmark = [pytest.mark.interop, pytest.mark.extended]

_MORE_THAN_ONE_REQUEST = 2_007


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with running_broker(newest_broker_release(), tmp_path_factory.mktemp("loaded"), properties=AUTHORIZER) as running:
        yield running


@pytest.fixture
def admin(broker: Broker, java_admin: JavaAdmin) -> JavaAdminClient:
    return java_admin.client(broker.address)


def test_acls_are_all_there(broker: Broker, admin: JavaAdminClient) -> None:
    load_acls(broker, _MORE_THAN_ONE_REQUEST)
    assert admin.time_describe_all_acls(warm_ups=0, rounds=1).items == _MORE_THAN_ONE_REQUEST
    assert {acl.resource_name for acl in admin.describe_acls(principal=principal(2))} == {
        f"topic-{index:06}" for index in range(2 * ACLS_OF_A_PRINCIPAL, 3 * ACLS_OF_A_PRINCIPAL)
    }


def test_quotas_are_all_there(broker: Broker, admin: JavaAdminClient) -> None:
    load_quotas(broker, 1_000, value=2048.0)
    described = admin.describe_client_quotas(any_of=["user"])
    assert [quotas.entity["user"] for quotas in described] == [user(index) for index in range(1_000)]
    assert {tuple(quotas.quotas.items()) for quotas in described} == {
        tuple((key, 2048.0) for key in sorted(QUOTA_KEYS))
    }


def test_refused_items_are_an_error(kafka_broker: Broker) -> None:
    with pytest.raises(RuntimeError, match="the broker refused 3 items, the first with 54: No Authorizer"):
        load_acls(kafka_broker, 3)
