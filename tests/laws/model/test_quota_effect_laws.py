"""Effects of a change of quotas: exactly the limits in effect that differ."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled

from kafkawire.model.quotas.effective import EffectiveQuotas
from kafkawire.model.quotas.effects import quota_effects
from kafkawire.model.quotas.entities import CONNECTION_CREATION_RATE, PRODUCER_BYTE_RATE, ClientQuotaEntity

USERS = ("alice", "bob", "nameless")
CLIENTS = ("app", "tool", "nameless")
ADDRESSES = ("10.0.0.1", "10.0.0.2", "10.0.0.3")

names = st.sampled_from(("alice", "bob", None))
clients = st.sampled_from(("app", "tool", None))
client_entities = (
    st.builds(ClientQuotaEntity.of_user, names)
    | st.builds(ClientQuotaEntity.of_client, clients)
    | st.builds(ClientQuotaEntity.of_user_and_client, names, clients)
)
addresses = st.builds(ClientQuotaEntity.of_ip, st.sampled_from(("10.0.0.1", "10.0.0.2", None)))
limits = st.sampled_from((1.0, 2.0, 3.0))
quotas = st.dictionaries(client_entities, st.builds(lambda limit: {PRODUCER_BYTE_RATE: limit}, limits), max_size=8)
rates = st.dictionaries(addresses, st.builds(lambda limit: {CONNECTION_CREATION_RATE: limit}, limits), max_size=3)

Described = dict[ClientQuotaEntity, dict[str, float]]


@settings(max_examples=scaled(300))
@given(quotas, quotas, rates, rates)
def test_effects_are_the_limits_that_differ(
    before: Described, after: Described, before_rates: Described, after_rates: Described
) -> None:
    old, new = before | before_rates, after | after_rates
    found = quota_effects(old, new)
    was, will_be = EffectiveQuotas(old), EffectiveQuotas(new)
    for user, client in product(USERS, CLIENTS):
        about = [
            effect
            for effect in found
            if effect.users is not None
            and effect.client_ids is not None
            and user in effect.users
            and client in effect.client_ids
        ]
        first = was.of_client(user, client)[PRODUCER_BYTE_RATE]
        second = will_be.of_client(user, client)[PRODUCER_BYTE_RATE]
        if first.value == second.value:
            assert about == []
        else:
            (effect,) = about
            assert (effect.before, effect.before_entity) == (first.value, first.entity)
            assert (effect.after, effect.after_entity) == (second.value, second.entity)
    for address in ADDRESSES:
        of_address = [effect for effect in found if effect.addresses is not None and address in effect.addresses]
        first_rate, second_rate = was.connection_rate(address), will_be.connection_rate(address)
        assert [(each.before, each.after) for each in of_address] == (
            [] if first_rate == second_rate else [(first_rate, second_rate)]
        )
