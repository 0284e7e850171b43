"""A part of a state is the same whether it is read from a cluster or cut out of the whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.embedded.filled_state import ALICE, BILLING, DEFAULT_CLIENT, PROPERTIES, fill

from kafkawire.admin import BlockingAdminClient, NewTopic, ScramMechanism
from kafkawire.broker import ThreadedBroker
from kafkawire.declared.planned import Kind
from kafkawire.declared.reading import read_cluster
from kafkawire.declared.scope import ReadScope
from kafkawire.declared.selection import StateSelection
from kafkawire.declared.state import ClusterState


@pytest.fixture(scope="module")
def admin() -> Iterator[BlockingAdminClient]:
    with ThreadedBroker(PROPERTIES) as broker, BlockingAdminClient(broker.bootstrap_servers) as client:
        fill(client)
        client.create_topics([NewTopic("__consumer_offsets", 1, 1)]).all()
        yield client


def read(admin: BlockingAdminClient, scope: ReadScope) -> ClusterState:
    return admin.run(lambda client: read_cluster(client, scope)).state


@pytest.mark.parametrize(
    "selection",
    [
        StateSelection(),
        StateSelection(internal=True),
        StateSelection(kinds=frozenset({Kind.TOPICS, Kind.QUOTAS})),
        StateSelection(topic_prefixes=("orders-", "pay")),
        StateSelection(principals=frozenset({"User:billing", "User:alice"})),
        StateSelection(principals=frozenset({"Group:team"})),
    ],
    ids=["all", "internal", "kinds", "prefixes", "users", "group"],
)
def test_what_is_read_for_a_selection_is_its_part_of_the_whole(
    admin: BlockingAdminClient, selection: StateSelection
) -> None:
    assert selection.of(read(admin, selection.scope())) == selection.of(read(admin, ReadScope()))


def test_internal_topics_are_left_out(admin: BlockingAdminClient) -> None:
    whole = read(admin, ReadScope())
    assert whole.topics["__consumer_offsets"].is_internal
    assert set(StateSelection().of(whole).topics) == {"orders", "orders-dead", "payments"}
    assert "__consumer_offsets" in StateSelection(internal=True).of(whole).topics


def test_prefixes_concern_topics_and_principals_the_rights_quotas_and_credentials_of_users(
    admin: BlockingAdminClient,
) -> None:
    whole = read(admin, ReadScope())
    some = StateSelection(topic_prefixes=("orders-",), principals=frozenset({"User:alice"})).of(whole)
    assert set(some.topics) == {"orders-dead"}
    assert some.acls == frozenset()
    assert set(some.quotas) == {ALICE}
    assert set(some.credentials) == {("alice", ScramMechanism.SCRAM_SHA_512)}
    assert some.configs == whole.configs
    billing = StateSelection(principals=frozenset({"User:billing"})).of(whole)
    assert billing.acls == frozenset(BILLING)
    assert DEFAULT_CLIENT not in billing.quotas
    assert billing.topics == StateSelection().of(whole).topics
