"""Tokens and levels of features are handed over to Apache Kafka with the data directory, and come back."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from tests.apache_kafka.handed_over import kafka_on

from kafkawire.admin import (
    BlockingAdminClient,
    FeatureUpdate,
    PlainCredentials,
    ScramCredentials,
    TopicPartition,
    UpgradeType,
)
from kafkawire.broker import ThreadedBroker

pytestmark = [pytest.mark.interop, pytest.mark.extended]

KEY: Final = {"delegation.token.secret.key": "the same at both"}
PLAIN: Final = "org.apache.kafka.common.security.plain.PlainLoginModule"
PROPERTIES: Final = {
    **KEY,
    "listeners": "PLAINTEXT://127.0.0.1:0,LOGIN://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT",
    "listener.name.login.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
    "listener.name.login.plain.sasl.jaas.config": f'{PLAIN} required user_admin="admin-secret";',
}
ADMIN: Final = PlainCredentials("admin", "admin-secret")
ORDERS: Final = TopicPartition("orders", 0)


def transaction_level(admin: BlockingAdminClient) -> int:
    return admin.describe_features().finalized["transaction.version"].highest


def login(broker: ThreadedBroker, credentials: PlainCredentials | ScramCredentials = ADMIN) -> BlockingAdminClient:
    return BlockingAdminClient(broker.address("LOGIN"), credentials=credentials)


def test_tokens_and_features_are_handed_over_and_come_back(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with ThreadedBroker(PROPERTIES, data_dir=data, topics=["orders"]) as broker, login(broker) as admin:
        kept = admin.create_delegation_token(renewers=["User:scheduler"])
        gone = admin.create_delegation_token()
        admin.expire_delegation_token(gone.hmac)
        downgrade = FeatureUpdate(1, UpgradeType.SAFE_DOWNGRADE)
        admin.update_features({"transaction.version": downgrade}).all()
        admin.alter_partition_reassignments({ORDERS: [1]}).all()

    by_token = kept.credentials("SCRAM-SHA-256")
    with (
        kafka_on(data, tmp_path / "home", properties=KEY) as kafka,
        BlockingAdminClient(kafka.address) as admin,
        BlockingAdminClient(kafka.scram_address, credentials=by_token) as borrower,
    ):
        assert transaction_level(admin) == 1
        assert borrower.describe_cluster().cluster_id == broker.cluster_id
        admin.update_features({"transaction.version": FeatureUpdate(2)}).all()
        assert admin.elect_leaders([ORDERS])[ORDERS] is False

    with ThreadedBroker(PROPERTIES, data_dir=data) as broker:
        with login(broker) as admin:
            assert admin.describe_delegation_token() == (kept,)
            assert transaction_level(admin) == 2
        with login(broker, by_token) as borrower:
            assert borrower.describe_cluster().nodes
