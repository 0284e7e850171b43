"""Kafka's own order of precedence (D7 to D11): the same as that of the admin client's `EffectiveQuotas`."""

from __future__ import annotations

import random

import pytest

from kafkawire.broker.plugins.client_quota_callback import (
    ClientQuotaType,
    ConfigEntity,
    ConfigEntityType,
)
from kafkawire.broker.quotas.default_callback import DefaultQuotaCallback, callback_entity
from kafkawire.broker.sessions import Principal
from kafkawire.model.quotas.effective import EffectiveQuotas
from kafkawire.model.quotas.entities import PRODUCER_BYTE_RATE, ClientQuotaEntity

PRODUCE = ClientQuotaType.PRODUCE
NAMES = ("u", "a b:c~*/é+", None)
ENTITIES = [
    *(ClientQuotaEntity.of_user_and_client(user, client) for user in NAMES for client in NAMES),
    *map(ClientQuotaEntity.of_user, NAMES),
    *map(ClientQuotaEntity.of_client, NAMES),
]


def test_callback_default_names_are_empty_as_the_interface_says() -> None:
    user, default_client = ConfigEntity(ConfigEntityType.USER, "u"), ConfigEntity(ConfigEntityType.DEFAULT_CLIENT_ID)
    assert callback_entity(ClientQuotaEntity({"client-id": None, "user": "u"})).config_entities == (
        user,
        default_client,
    )
    assert default_client.name == ""


@pytest.mark.usefixtures("one_engine")
def test_clients_have_their_nearest_limit_while_quotas_come_and_go() -> None:
    """D7 to D11."""
    dice = random.Random(257)
    callback, described = DefaultQuotaCallback(), dict[ClientQuotaEntity, dict[str, float]]()
    limited = 0
    for value in range(1, 1000):
        entity = dice.choice(ENTITIES)
        if dice.random() < 0.6:
            described.pop(entity, None)
            callback.remove_quota(PRODUCE, callback_entity(entity))
        else:
            described[entity] = {PRODUCER_BYTE_RATE: float(value)}
            callback.update_quota(PRODUCE, callback_entity(entity), value)
        effective = EffectiveQuotas(described)
        for user, client in (("u", "u"), ("a b:c~*/é+", "x"), ("x", "a b:c~*/é+"), ("x", "x"), ("ANONYMOUS", "")):
            expected = effective.of_client(user, client)[PRODUCER_BYTE_RATE]
            tags = callback.quota_metric_tags(PRODUCE, Principal(user), client)
            assert tags == {"user": expected.bucket.user, "client-id": expected.bucket.client_id}
            if client:  # an empty client id is no part of a tag, by which the limit is looked up
                assert callback.quota_limit(PRODUCE, tags) == expected.value, described
            limited += expected.value is not None
    assert limited > 500


def test_types_are_independent() -> None:
    callback = DefaultQuotaCallback()
    callback.update_quota(PRODUCE, callback_entity(ClientQuotaEntity.of_user("u")), 5)
    tags = callback.quota_metric_tags(PRODUCE, Principal("u"), "c")
    assert tags == {"user": "u", "client-id": ""}
    assert callback.quota_limit(PRODUCE, tags) == 5
    assert callback.quota_limit(ClientQuotaType.FETCH, tags) is None
    assert callback.quota_metric_tags(ClientQuotaType.FETCH, Principal("u"), "c") == {"user": "", "client-id": "c"}


def test_tags_whose_quota_was_removed_have_no_limit() -> None:
    """D4."""
    callback = DefaultQuotaCallback()
    callback.update_quota(PRODUCE, callback_entity(ClientQuotaEntity.of_user_and_client("u", "c")), 5)
    tags = callback.quota_metric_tags(PRODUCE, Principal("u"), "c")
    callback.remove_quota(PRODUCE, callback_entity(ClientQuotaEntity.of_user_and_client("u", "c")))
    callback.update_quota(PRODUCE, callback_entity(ClientQuotaEntity.of_user("u")), 7)
    assert callback.quota_limit(PRODUCE, tags) is None
    assert callback.quota_limit(PRODUCE, {"user": "", "client-id": ""}) is None


def test_the_default_callback_never_requires_a_reset() -> None:
    assert not DefaultQuotaCallback().quota_reset_required(PRODUCE)
