"""What a change of quotas means, in sentences."""

from __future__ import annotations

import pytest

from kafkawire.declared.quota_effects import quota_effects
from kafkawire.model.quotas.entities import ClientQuotaEntity

RATE = "producer_byte_rate"
ALICE = ClientQuotaEntity(user="alice")
USERS = ClientQuotaEntity(user=None)
CLIENTS = ClientQuotaEntity(client_id=None)
ETL = ClientQuotaEntity(client_id="etl")
ALICES_CLIENTS = ClientQuotaEntity(user="alice", client_id=None)
ALICES_ETL = ClientQuotaEntity(user="alice", client_id="etl")
ADDRESSES = ClientQuotaEntity(ip=None)
ADDRESS = ClientQuotaEntity(ip="10.0.0.1")


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ({}, {ALICE: 5}, "user alice: producer_byte_rate is 5, was unlimited"),
        ({USERS: 9}, {USERS: 9, ALICE: 5}, "user alice: producer_byte_rate is 5, was 9 (of the default user)"),
        ({ALICE: 5, USERS: 9}, {USERS: 9}, "user alice: producer_byte_rate is 9 (of the default user), was 5"),
        ({ALICE: 5, CLIENTS: 2}, {CLIENTS: 2},
         "user alice: producer_byte_rate is 2 (of the default client id), was 5"),
        ({ALICES_ETL: 1}, {ALICES_ETL: 1, ALICE: 5},
         ("user alice: producer_byte_rate is 5, was unlimited; not for 1 of its client ids, which have quotas of their "
         "own")),
        ({ALICE: 1}, {ALICE: 1, USERS: 5},
         ("each user without quotas of its own: producer_byte_rate is 5, was unlimited; not for 1 users with quotas of "
         "their own")),
        ({ALICE: 1}, {ALICE: 1, ALICES_ETL: 5},
         "client id etl of user alice: producer_byte_rate is 5, was 1 (of user alice)"),
        ({ALICES_CLIENTS: 1, ALICES_ETL: 5}, {ALICES_CLIENTS: 1},
         "client id etl of user alice: producer_byte_rate is 1 (of the default client id of user alice), was 5"),
        ({}, {ALICES_CLIENTS: 1}, "each client id of user alice: producer_byte_rate is 1, was unlimited"),
        ({}, {ETL: 1}, "client id etl: producer_byte_rate is 1, was unlimited"),
        ({ALICE: 5}, {ALICE: 5, CLIENTS: 1},
         "each client id without quotas of its own: producer_byte_rate is 1, was unlimited"),
        ({ADDRESSES: 3}, {ADDRESSES: 3, ADDRESS: 1},
         "address 10.0.0.1: producer_byte_rate is 1, was 3 (of the default address)"),
    ],
)  # fmt: skip
def test_a_sentence_says_whom_it_affects_and_what_holds_then(
    before: dict[ClientQuotaEntity, float], after: dict[ClientQuotaEntity, float], sentence: str
) -> None:
    states = [{entity: {RATE: float(value)} for entity, value in each.items()} for each in (before, after)]
    assert quota_effects(*states) == [sentence]


def test_entities_that_it_means_the_same_for_share_a_sentence() -> None:
    after = {ClientQuotaEntity(user=f"user-{number}"): {RATE: 5.0} for number in range(5)}
    assert quota_effects({}, after) == [
        "user user-0, user-1, user-2 and 2 more: producer_byte_rate is 5, was unlimited"
    ]


def test_a_quota_that_is_removed_leaves_none() -> None:
    assert quota_effects({ALICE: {RATE: 5.0}}, {ALICE: {RATE: None}}) == [
        "user alice: producer_byte_rate is unlimited, was 5"
    ]


def test_equal_quotas_mean_nothing() -> None:
    assert quota_effects({ALICE: {RATE: 5.0}}, {ALICE: {RATE: 5.0}}) == []
