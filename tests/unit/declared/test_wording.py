"""Items are named in words that say all that distinguishes them."""

from __future__ import annotations

import pytest

from kafkawire.declared.planned import Item
from kafkawire.declared.wording import item_in_words
from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.configs import number_in_words
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism

READ = AclOperation.READ
TOPIC = ResourceType.TOPIC


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("orders", "orders"),
        (ConfigResource.broker_default(), "all brokers"),
        (ConfigResource.broker(3), "broker 3"),
        (ConfigResource.group("billing"), "group billing"),
        (ConfigResource.client_metrics("slow"), "client metrics slow"),
        (AclBinding(TOPIC, "orders", "User:etl", READ), "User:etl may READ topic orders"),
        (AclBinding(TOPIC, "*", "User:etl", READ), "User:etl may READ all topics"),
        (
            AclBinding(TOPIC, "pay-", "User:etl", READ, AclPermissionType.DENY, "10.0.0.1", PatternType.PREFIXED),
            "User:etl may not READ topics with prefix pay- from 10.0.0.1",
        ),
        (AclBinding.of_cluster("User:etl", AclOperation.ALL), "User:etl may ALL the cluster"),
        (
            AclBinding(ResourceType.TRANSACTIONAL_ID, "tx", "User:etl", AclOperation.WRITE),
            "User:etl may WRITE transactional id tx",
        ),
        (ClientQuotaEntity(user="etl", client_id=None), "user etl, default client-id"),
        (ClientQuotaEntity(ip="10.0.0.1"), "ip 10.0.0.1"),
        (("etl", ScramMechanism.SCRAM_SHA_512), "etl SCRAM-SHA-512"),
    ],
)
def test_items(item: Item, words: str) -> None:
    assert item_in_words(item) == words


def test_whole_numbers_have_no_point() -> None:
    assert number_in_words(1048576.0) == "1048576"
    assert number_in_words(12.5) == "12.5"
