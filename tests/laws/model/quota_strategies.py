"""Hypothesis strategies for quota entities and filters with few names, so that filters often match."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from kafkawire.model.quotas.entities import (
    CLIENT_ID,
    CLIENT_KEYS,
    IP,
    USER,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
    QuotaMatch,
)

names = st.sampled_from(("a", "b", "a b", ""))
_names = st.none() | names
client_entities = st.one_of(
    st.builds(ClientQuotaEntity.of_user, _names),
    st.builds(ClientQuotaEntity.of_client, _names),
    st.builds(ClientQuotaEntity.of_user_and_client, _names, _names),
)
entities = client_entities | st.builds(ClientQuotaEntity.of_ip, st.none() | st.sampled_from(("10.0.0.1", "::1")))

_components = st.builds(
    ClientQuotaFilterComponent, st.sampled_from((USER, CLIENT_ID, IP)), st.sampled_from(tuple(QuotaMatch)), _names
)
filters = st.builds(
    ClientQuotaFilter,
    st.lists(_components, max_size=3, unique_by=lambda component: component.entity_type).map(tuple),
    st.booleans(),
)

described: st.SearchStrategy[Mapping[ClientQuotaEntity, Mapping[str, float]]] = st.dictionaries(
    client_entities, st.dictionaries(st.sampled_from(CLIENT_KEYS), st.floats(0.5, 100)), max_size=8
)
