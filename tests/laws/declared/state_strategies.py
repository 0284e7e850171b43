"""Hypothesis strategies for states that clusters can have, with names that YAML could misread."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from kafkawire.declared.state import ClusterState, CredentialState, TopicState
from kafkawire.model.acls.bindings import (
    CLUSTER_NAME,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import CLIENT_KEYS, CONNECTION_CREATION_RATE, REQUEST_PERCENTAGE, ClientQuotaEntity
from kafkawire.model.scram import MAXIMUM_ITERATIONS, MINIMUM_ITERATIONS, ScramMechanism

TRAPS = (
    "on", "no", "y", "null", "~", "true", "True", "12", "012", "0o17", "0x1F", "1_000", "1e3", "60:00", "2026-11-23",
    ".inf", "-", "-1", "*", "<<", "=", "a: b", "a #b", "'", '"', "{a}", "[a]", "&a", "!a", "%a", "@a", "a\nb", " a ",
    "\t", "\x00", "\x85", "\u2028", "\ufeff", "é", "\U0001f600", "x" * 1100, "x-team", "default", "shop-*",
)  # fmt: skip

texts = st.sampled_from(TRAPS) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
topic_names = st.from_regex(r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,20}", fullmatch=True) | st.sampled_from(
    ("on", "12", "null", "x-orders")
)
topic_configs = st.dictionaries(
    st.sampled_from(("retention.ms", "segment.bytes")), st.integers(1048576, 2**31 - 1).map(str)
) | st.fixed_dictionaries(
    {},
    optional={
        "cleanup.policy": st.sampled_from(("compact", "delete", "compact,delete")),
        "compression.type": st.sampled_from(("zstd", "producer")),
        "min.cleanable.dirty.ratio": st.sampled_from(("0.5", "1", "1e-3")),
        "preallocate": st.sampled_from(("true", "false")),
        "retention.ms": st.none(),
    },
)
unknown_configs = st.dictionaries(texts.map("plugin.{}".format), texts, max_size=2)


@st.composite
def topics(draw: st.DrawFn) -> TopicState:
    configs = {**draw(topic_configs), **draw(unknown_configs)}
    if draw(st.booleans()):
        partitions, replicas = draw(st.none() | st.integers(1, 9)), draw(st.none() | st.integers(1, 3))
        return TopicState(partitions=partitions, replication_factor=replicas, configs=configs)
    replicas = draw(st.integers(1, 3))
    brokers = st.lists(st.integers(0, 2**31 - 1), min_size=replicas, max_size=replicas, unique=True).map(tuple)
    assigned = draw(st.lists(brokers, min_size=1, max_size=4))
    return TopicState(
        partitions=len(assigned), replication_factor=replicas, assignments=dict(enumerate(assigned)), configs=configs
    )


patterns = st.builds(
    lambda type_, pattern, name: (type_, pattern, name),
    st.sampled_from(
        (
            ResourceType.TOPIC,
            ResourceType.GROUP,
            ResourceType.TRANSACTIONAL_ID,
            ResourceType.DELEGATION_TOKEN,
            ResourceType.USER,
        )
    ),
    st.sampled_from((PatternType.LITERAL, PatternType.PREFIXED)),
    texts,
) | st.just((ResourceType.CLUSTER, PatternType.LITERAL, CLUSTER_NAME))
principals = st.sampled_from(("User:alice", "User:*", "Group:a", "User:CN=a,O=b", "User:")) | texts.map(
    "User:{}".format
)
acls = st.builds(
    lambda pattern, principal, operation, permission, host: AclBinding(
        pattern[0], pattern[2], principal, operation, permission, host, pattern[1]
    ),
    patterns,
    principals,
    st.sampled_from([each for each in AclOperation if each > AclOperation.ANY and not each.is_unknown]),
    st.sampled_from((AclPermissionType.ALLOW, AclPermissionType.DENY)),
    st.sampled_from(("*", "10.0.0.1", "::1", "")) | texts,
)
names = st.none() | texts
client_values = st.dictionaries(st.sampled_from(CLIENT_KEYS), st.integers(1, 2**62).map(float), min_size=1) | st.builds(
    lambda share: {REQUEST_PERCENTAGE: share}, st.floats(1e-9, 1e308)
)
quotas = (
    st.tuples(st.builds(ClientQuotaEntity.of_user, names), client_values)
    | st.tuples(st.builds(ClientQuotaEntity.of_client, names), client_values)
    | st.tuples(st.builds(ClientQuotaEntity.of_user_and_client, names, names), client_values)
    | st.tuples(
        st.builds(ClientQuotaEntity.of_ip, st.sampled_from((None, "10.0.0.1", "::1"))),
        st.integers(1, 1000).map(lambda rate: {CONNECTION_CREATION_RATE: float(rate)}),
    )
)
resources = (
    st.just(ConfigResource.broker_default())
    | st.integers(0, 2**31 - 1).map(ConfigResource.broker)
    | texts.map(ConfigResource.group)
    | texts.map(ConfigResource.client_metrics)
)
credentials = st.builds(
    CredentialState, iterations=st.none() | st.integers(MINIMUM_ITERATIONS, MAXIMUM_ITERATIONS), password=st.none()
)
mechanisms = st.sampled_from((ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512))


def _without_collisions(named: Mapping[str, TopicState]) -> dict[str, TopicState]:
    """Brokers refuse a topic whose name is that of another with ``_`` for ``.``."""
    kept = {name.replace(".", "_"): name for name in named}
    return {name: named[name] for name in kept.values()}


states = st.builds(
    ClusterState,
    topics=st.dictionaries(topic_names, topics(), max_size=3).map(_without_collisions),
    configs=st.dictionaries(resources, unknown_configs, max_size=3),
    acls=st.frozensets(acls, max_size=6),
    quotas=st.lists(quotas, max_size=4).map(dict),
    credentials=st.dictionaries(st.tuples(texts, mechanisms), credentials, max_size=3),
)
