"""Quotas as parts of Kafka's messages (E7 to E9, E13)."""

from __future__ import annotations

import pytest

from kafkawire.admin.operations.quotas import (
    alteration_entry,
    altered_entity,
    described_quotas,
    filter_components,
)
from kafkawire.model.quotas.entities import (
    CLIENT_ID,
    USER,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
)
from kafkawire.protocol import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)


@pytest.mark.parametrize("version", [0, 1])
def test_default_entities_have_the_name_none_and_unknown_types_and_keys_are_kept(version: int) -> None:
    """E7."""
    entry = DescribeClientQuotasResponse.EntryData(
        (
            DescribeClientQuotasResponse.EntityData("user", "alice"),
            DescribeClientQuotasResponse.EntityData("client-id", None),
        ),
        (
            DescribeClientQuotasResponse.ValueData("producer_byte_rate", 1024.0),
            DescribeClientQuotasResponse.ValueData("of.tomorrow", 0.5),
        ),
    )
    tomorrow = DescribeClientQuotasResponse.EntryData((DescribeClientQuotasResponse.EntityData("tenant", "t"),), ())
    sent = DescribeClientQuotasResponse(error_message=None, entries=(entry, tomorrow)).encode(version)
    entries = DescribeClientQuotasResponse.decode(sent, version).entries
    assert entries is not None
    assert described_quotas(entries) == {
        ClientQuotaEntity.of_user_and_client("alice", None): {"producer_byte_rate": 1024.0, "of.tomorrow": 0.5},
        ClientQuotaEntity({"tenant": "t"}): {},
    }


@pytest.mark.parametrize("version", [0, 1])
def test_a_filter_is_sent(version: int) -> None:
    wanted = ClientQuotaFilter(
        (
            ClientQuotaFilterComponent.exact(USER, "alice"),
            ClientQuotaFilterComponent.default(CLIENT_ID),
            ClientQuotaFilterComponent.any("ip"),
        )
    )
    sent = DescribeClientQuotasRequest(components=filter_components(wanted)).encode(version)
    assert DescribeClientQuotasRequest.decode(sent, version).components == (
        DescribeClientQuotasRequest.ComponentData("user", 0, "alice"),
        DescribeClientQuotasRequest.ComponentData("client-id", 1, None),
        DescribeClientQuotasRequest.ComponentData("ip", 2, None),
    )


@pytest.mark.parametrize("version", [0, 1])
def test_an_alteration_sets_and_removes_keys_of_an_entity(version: int) -> None:
    """E8."""
    alteration = ClientQuotaAlteration(
        ClientQuotaEntity.of_user(None), {"producer_byte_rate": 5, "consumer_byte_rate": None}
    )
    sent = AlterClientQuotasRequest(entries=(alteration_entry(alteration),)).encode(version)
    (entry,) = AlterClientQuotasRequest.decode(sent, version).entries
    assert entry == AlterClientQuotasRequest.EntryData(
        (AlterClientQuotasRequest.EntityData("user", None),),
        (
            AlterClientQuotasRequest.OpData("producer_byte_rate", 5.0, False),
            AlterClientQuotasRequest.OpData("consumer_byte_rate", 0.0, True),
        ),
    )


def test_the_entity_of_a_result_does_not_depend_on_the_order_of_its_types() -> None:
    """E9."""
    entry = AlterClientQuotasResponse.EntryData(
        0,
        "",
        (AlterClientQuotasResponse.EntityData("client-id", "c"), AlterClientQuotasResponse.EntityData("user", "u")),
    )
    assert altered_entity(entry) == ClientQuotaEntity.of_user_and_client("u", "c")
