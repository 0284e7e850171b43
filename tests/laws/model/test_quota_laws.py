"""Client quotas: two ways to match agree, two ways to resolve agree."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, strategies as st
from tests.laws.model.quota_strategies import client_entities, described, entities, filters, names

from kafkawire.admin.operations.quotas import wanted_quotas
from kafkawire.model.quotas.effective import EffectiveQuotas
from kafkawire.model.quotas.entities import CLIENT_KEYS, ClientQuotaAlteration, ClientQuotaEntity, ClientQuotaFilter
from kafkawire.model.quotas.matching import QuotaIndex, matches

Described = Mapping[ClientQuotaEntity, Mapping[str, float]]


@given(st.lists(entities, max_size=20), st.lists(filters, max_size=8))
def test_an_index_finds_the_same_as_a_search_of_all(
    of_cluster: list[ClientQuotaEntity], wanted: list[ClientQuotaFilter]
) -> None:
    index = QuotaIndex(of_cluster)
    for one in wanted:
        assert index.matching(one) == [entity for entity in of_cluster if matches(one, entity)]


@given(entities, entities)
def test_the_filter_of_an_entity_means_it_and_no_other(entity: ClientQuotaEntity, other: ClientQuotaEntity) -> None:
    assert matches(ClientQuotaFilter.of_entity(entity), entity)
    assert matches(ClientQuotaFilter.of_entity(entity), other) == (entity == other)


@given(filters, entities)
def test_a_strict_filter_means_no_more(wanted: ClientQuotaFilter, entity: ClientQuotaEntity) -> None:
    strict = ClientQuotaFilter(wanted.components, strict=True)
    assert matches(strict, entity) <= matches(ClientQuotaFilter(wanted.components), entity)


@given(described, names, names)
def test_quotas_are_resolved_as_a_plain_reading_of_the_table(of_cluster: Described, user: str, client_id: str) -> None:
    quotas = EffectiveQuotas(of_cluster).of_client(user, client_id)
    for key in CLIENT_KEYS:
        expected = _nearest(of_cluster, key, user, client_id)
        assert (quotas[key].entity, quotas[key].value) == (expected, of_cluster[expected][key] if expected else None)


def _nearest(of_cluster: Described, key: str, user: str, client_id: str) -> ClientQuotaEntity | None:
    """The entity of the lowest rank: a part that names beats a default, users beat clients, two parts beat one."""
    asked = {"user": user, "client-id": client_id}
    ranks = {}
    for entity, values in of_cluster.items():
        if key in values and all(name in {None, asked[type_]} for type_, name in entity.items()):
            of_user = ("user" not in entity, entity.get("user") is None)
            of_client = ("client-id" not in entity, entity.get("client-id") is None)
            ranks[(*of_user, *of_client)] = entity
    return ranks[min(ranks)] if ranks else None


@given(st.lists(st.tuples(client_entities, st.sampled_from(CLIENT_KEYS), st.integers(1, 2)), max_size=8))
def test_merged_alterations_have_the_changes_of_each(
    said: list[tuple[ClientQuotaEntity, str, int]],
) -> None:
    together = wanted_quotas(ClientQuotaAlteration(entity, {key: value}) for entity, key, value in said)
    assert together.items == [entity for entity, _, _ in said]
    assert {*together.values, *together.refused} == set(together.items)
    for entity in together.items:
        wanted = {(key, value) for of_entity, key, value in said if of_entity == entity}
        if entity in together.values:
            assert set(together.values[entity].values.items()) == wanted
        else:
            assert len(wanted) > len({key for key, _ in wanted})
