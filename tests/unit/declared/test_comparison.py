"""Two states differ in the items that one has alone, and in the values that both have."""

from __future__ import annotations

from kafkawire.declared.comparison import Difference, DifferingItem, compare_states
from kafkawire.declared.planned import Item, Kind, ValueChange
from kafkawire.declared.state import ClusterState, CredentialState, TopicState
from kafkawire.model.acls.bindings import AclBinding, AclOperation, ResourceType
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism

ALL_BROKERS = ConfigResource.broker_default()


def topics(**states: TopicState) -> ClusterState:
    return ClusterState(topics=states)


def topic(partitions: int | None = 1, /, **configs: str | None) -> TopicState:
    return TopicState(partitions=partitions, configs={name.replace("_", "."): each for name, each in configs.items()})


def changes(before: ClusterState, after: ClusterState) -> dict[Item, list[tuple[str, str | None, str | None]]]:
    return {
        each.item: [(value.name, value.before, value.after) for value in each.values]
        for each in compare_states(before, after)
    }


def test_equal_states_differ_in_nothing() -> None:
    assert compare_states(topics(a=topic(retention_ms="1")), topics(a=topic(retention_ms="1"))) == ()


def test_an_added_and_a_removed_item_have_all_of_their_values() -> None:
    known = topics(a=topic(2, retention_ms="1"))
    values = [("partitions", None, "2"), ("retention.ms", None, "1")]
    assert compare_states(ClusterState(), known) == (
        DifferingItem(Kind.TOPICS, "a", Difference.ADDED, tuple(ValueChange(*each) for each in values)),
    )
    assert compare_states(known, ClusterState()) == (
        DifferingItem(
            Kind.TOPICS,
            "a",
            Difference.REMOVED,
            tuple(ValueChange(name, after, before) for name, before, after in values),
        ),
    )


def test_a_changed_item_has_the_values_that_differ() -> None:
    before = topics(a=topic(2, retention_ms="1", cleanup_policy="delete", segment_ms="5"))
    after = topics(a=topic(3, retention_ms="1", cleanup_policy="", flush_ms="7"))
    assert changes(before, after) == {
        "a": [
            ("partitions", "2", "3"),
            ("cleanup.policy", "delete", ""),
            ("segment.ms", "5", None),
            ("flush.ms", None, "7"),
        ]
    }


def test_what_a_document_leaves_open_differs_from_nothing() -> None:
    document = topics(a=topic(None))
    cluster = topics(a=TopicState.of_assignments({0: (1, 2), 1: (2, 1)}, {}, is_internal=False))
    assert compare_states(document, cluster) == ()
    assert compare_states(document, cluster, with_assignments=True) == ()


def test_a_config_that_a_document_removes_is_one_that_is_not_set() -> None:
    assert compare_states(topics(a=topic(retention_ms=None)), topics(a=topic())) == ()
    assert changes(topics(a=topic(retention_ms=None)), topics(a=topic(retention_ms="1"))) == {
        "a": [("retention.ms", None, "1")]
    }


def test_brokers_of_partitions_count_on_request() -> None:
    before = topics(a=TopicState.of_assignments({0: (1, 2), 1: (2, 1)}, {}, is_internal=False))
    after = topics(a=TopicState.of_assignments({0: (1, 2), 1: (2, 3)}, {}, is_internal=False))
    assert compare_states(before, after) == ()
    (item,) = compare_states(before, after, with_assignments=True)
    assert item.values == (ValueChange("replicas of partition 1", "2,1", "2,3"),)


def test_secrets_are_not_compared_and_not_shown() -> None:
    def keys(value: str | None) -> ClusterState:
        return ClusterState(configs={ALL_BROKERS: {"ssl.keystore.password": value}})

    document = ClusterState(credentials={("a", ScramMechanism.SCRAM_SHA_256): CredentialState(password="secret")})
    cluster = ClusterState(credentials={("a", ScramMechanism.SCRAM_SHA_256): CredentialState(iterations=4096)})
    assert compare_states(keys("secret"), keys(None)) == ()
    assert changes(ClusterState(), keys("secret")) == {ALL_BROKERS: [("ssl.keystore.password", None, "(hidden)")]}
    assert compare_states(document, cluster) == ()
    assert "secret" not in repr(compare_states(ClusterState(), document))


def test_every_kind_is_compared() -> None:
    acl = AclBinding(ResourceType.TOPIC, "orders", "User:etl", AclOperation.READ)
    quota = ClientQuotaEntity(user="etl")
    credential = ("etl", ScramMechanism.SCRAM_SHA_256)
    before = ClusterState(quotas={quota: {"producer_byte_rate": 1024.0, "request_percentage": 12.5}})
    after = ClusterState(
        configs={ALL_BROKERS: {"log.retention.ms": "1"}},
        acls=frozenset({acl}),
        quotas={quota: {"producer_byte_rate": 2048.0}},
        credentials={credential: CredentialState(iterations=8192)},
    )
    assert changes(before, after) == {
        ALL_BROKERS: [("log.retention.ms", None, "1")],
        acl: [],
        quota: [("producer_byte_rate", "1024", "2048"), ("request_percentage", "12.5", None)],
        credential: [("iterations", None, "8192")],
    }
    assert [each.kind for each in compare_states(before, after)] == [Kind.CONFIGS, Kind.ACLS, Kind.QUOTAS, Kind.USERS]
