"""Buckets: which clients share one, when limits are resolved again, and when a bucket expires (D3 to D18)."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, nan

import pytest

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.plugins.client_quota_callback import ClientQuotaCallback, ClientQuotaEntity, ClientQuotaType
from kafkawire.broker.plugins.cluster_metadata import ClusterMetadata
from kafkawire.broker.quotas import buckets
from kafkawire.broker.quotas.client_quotas import ClientQuotas
from kafkawire.broker.requests import Call
from kafkawire.broker.sessions import Principal, Session
from kafkawire.protocol import ClientQuotaRecord
from kafkawire.protocol.errors import ThrottlingQuotaExceededError

CLUSTER = ClusterMetadata("cluster", ())


def session(user: str, host: str = "127.0.0.1") -> Session:
    return Session(Principal(user), host, "PLAINTEXT")


def record(key: str, value: float | None, **entity: str | None) -> ClientQuotaRecord:
    parts = (ClientQuotaRecord.EntityData(kind.replace("_", "-"), name) for kind, name in entity.items())
    return ClientQuotaRecord(tuple(parts), key, float(value or 0), remove=value is None)


class Groups(ClientQuotaCallback):
    """Users of a group share: the group is what comes before the dot. All calls are written down."""

    def __init__(self) -> None:
        self.limits: dict[str, float | None] = {}
        self.calls: list[str] = []
        self.has_changed = False
        self.minds_topics = False
        self.fails = False

    def quota_metric_tags(self, quota_type: ClientQuotaType, principal: Principal, client_id: str) -> Mapping[str, str]:
        group, dot, _ = principal.name.partition(".")
        return {"group": group} if dot else {}

    def quota_limit(self, quota_type: ClientQuotaType, metric_tags: Mapping[str, str]) -> float | None:
        self.calls.append(f"limit of {metric_tags['group']}")
        return self.limits.get(metric_tags["group"])

    def update_quota(self, quota_type: ClientQuotaType, quota_entity: ClientQuotaEntity, new_value: float) -> None:
        if self.fails:
            raise KeyError("group")
        self.calls.append(f"{quota_type.name} {_words(quota_entity)} = {new_value}")

    def remove_quota(self, quota_type: ClientQuotaType, quota_entity: ClientQuotaEntity) -> None:
        self.calls.append(f"{quota_type.name} {_words(quota_entity)} removed")

    def quota_reset_required(self, quota_type: ClientQuotaType) -> bool:
        changed, self.has_changed = self.has_changed, False
        return changed

    def update_cluster_metadata(self, cluster: ClusterMetadata) -> bool:
        self.calls.append(f"cluster {cluster.cluster_id}")
        return self.minds_topics

    def close(self) -> None:
        self.calls.append("close")


def _words(entity: ClientQuotaEntity) -> str:
    return ", ".join(f"{part.entity_type.name} {part.name}".strip() for part in entity.config_entities)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def groups() -> Groups:
    return Groups()


@pytest.fixture
def quotas(clock: ManualClock, groups: Groups) -> ClientQuotas:
    return ClientQuotas(clock, callback=groups)


def test_equal_tags_share_a_bucket_and_callback_empty_tags_have_none(quotas: ClientQuotas, groups: Groups) -> None:
    """D3."""
    groups.limits = {"a": 100.0, "b": 100.0}
    assert quotas.produce.record(session("a.x"), "c", 1000) == 0
    assert quotas.produce.record(session("a.y"), "d", 100) == 1000
    assert quotas.produce.record(session("b.x"), "c", 1000) == 0
    assert quotas.produce.record(session("alone"), "c", 1_000_000) == 0
    assert quotas.produce.most(session("alone"), "c") == inf
    assert quotas.fetch.record(session("a.x"), "c", 1000) == 0  # another type has buckets of its own


def test_no_limit_for_tags_means_unlimited(quotas: ClientQuotas, groups: Groups) -> None:
    """D4."""
    assert quotas.produce.record(session("a.x"), "c", 1_000_000) == 0
    assert quotas.produce.most(session("a.x"), "c") == inf
    quotas.mutations.quota_of(Call(19, 7, "c", session("a.x")), strict_since=6).take(1_000_000)
    assert groups.calls == ["limit of a", "limit of a"]


def test_limits_are_looked_up_again_when_the_callback_requires_it(quotas: ClientQuotas, groups: Groups) -> None:
    """D5."""
    groups.limits = {"a": 100.0}
    assert quotas.produce.record(session("a.x"), "c", 1000) == 0
    groups.limits = {"a": 50.0}
    assert quotas.produce.record(session("a.x"), "c", 0) == 0
    groups.has_changed = True
    assert quotas.produce.record(session("a.x"), "c", 0) == 10_000
    assert groups.calls == ["limit of a", "limit of a"]


def test_the_callback_receives_altered_quotas_and_limits_are_looked_up_again(
    quotas: ClientQuotas, groups: Groups
) -> None:
    """D5."""
    groups.limits = {"a": 100.0}
    quotas.produce.record(session("a.x"), "c", 1000)
    groups.calls.clear()
    quotas.apply(record("producer_byte_rate", 5, user="a b", client_id=None))
    quotas.apply(record("request_percentage", 12.5, client_id="c"))
    quotas.apply(record("controller_mutation_rate", 1, user=None))
    quotas.apply(record("consumer_byte_rate", None, user="u", client_id="c"))
    quotas.apply(record("no_such_quota", 1, user="u"))
    quotas.apply(record("connection_creation_rate", 1, ip="10.0.0.1"))
    assert groups.calls == [
        "PRODUCE USER a b, DEFAULT_CLIENT_ID = 5.0",
        "REQUEST CLIENT_ID c = 12.5",
        "CONTROLLER_MUTATION DEFAULT_USER = 1.0",
        "FETCH USER u, CLIENT_ID c removed",
    ]
    groups.limits = {"a": 50.0}
    assert quotas.produce.record(session("a.x"), "c", 0) == 10_000


@pytest.mark.parametrize("minds", [True, False])
def test_limits_are_looked_up_again_if_the_callback_reports_that_the_cluster_affects_them(
    quotas: ClientQuotas, groups: Groups, *, minds: bool
) -> None:
    """D6."""
    groups.limits, groups.minds_topics = {"a": 100.0}, minds
    quotas.produce.record(session("a.x"), "c", 1000)
    groups.limits = {"a": 50.0}
    quotas.update_cluster_metadata(CLUSTER)
    assert "cluster cluster" in groups.calls
    assert quotas.produce.record(session("a.x"), "c", 0) == (10_000 if minds else 0)


def test_a_new_callback_receives_all_quotas_and_the_previous_one_is_closed(
    quotas: ClientQuotas, groups: Groups
) -> None:
    for value in (5, 6, None):
        quotas.apply(record("producer_byte_rate", value, user="gone"))
    quotas.apply(record("producer_byte_rate", 100, user="u"))
    groups.limits = {"a": 100.0}
    quotas.produce.record(session("a.x"), "c", 5000)
    successor = Groups()
    successor.limits = {"a": 1.0}
    quotas.use(successor)
    assert groups.calls[-1] == "close"
    assert successor.calls == ["PRODUCE USER u = 100.0"]
    assert quotas.produce.record(session("a.x"), "c", 10) == 0  # buckets are new
    quotas.use(None)
    assert successor.calls[-1] == "close"
    assert not quotas.wants_cluster_metadata
    assert quotas.produce.record(session("u"), "c", 1100) == 1000
    assert not quotas.fetch.enabled


def test_exceptions_of_callbacks_are_only_logged(
    quotas: ClientQuotas, groups: Groups, caplog: pytest.LogCaptureFixture
) -> None:
    groups.fails = True
    quotas.apply(record("producer_byte_rate", 5, user="u"))
    assert "Groups failed" in caplog.text
    quotas.close()
    assert groups.calls == ["close"]


def test_buckets_that_were_not_used_for_an_hour_are_removed(clock: ManualClock) -> None:
    """D17."""
    quotas = ClientQuotas(clock)
    quotas.apply(record("controller_mutation_rate", 1, user="u"))
    call = Call(19, 5, "c", session("u"))
    quota = quotas.mutations.quota_of(call, strict_since=6)
    quota.take(100_000)
    assert quota.throttle_time_ms > 90_000_000
    clock.advance(3600)
    assert quotas.mutations.quota_of(call, strict_since=6) is not quota
    strict = Call(19, 6, "c", session("u"))
    with pytest.raises(ThrottlingQuotaExceededError):
        quotas.mutations.quota_of(strict, strict_since=6).take(1)
    clock.advance(3600.001)
    quotas.mutations.quota_of(strict, strict_since=6).take(1)


def test_buckets_of_clients_that_are_made_up_are_bounded(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "_MOST_BUCKETS", 4)
    quotas = ClientQuotas(clock)
    quotas.apply(record("producer_byte_rate", 100, client_id=None))
    for number in range(4):
        clock.advance(0.001)
        quotas.produce.record(session("u"), f"c{number}", 1000)
    clock.advance(0.001)
    assert quotas.produce.record(session("u"), "c0", 0) == 0  # used just now
    assert quotas.produce.record(session("u"), "new", 1000) == 0
    assert quotas.produce.record(session("u"), "c0", 100) > 0
    assert quotas.produce.record(session("u"), "c1", 100) == 0  # forgotten


def test_without_quotas_nothing_is_measured_and_a_first_one_begins_it(clock: ManualClock) -> None:
    quotas = ClientQuotas(clock)
    assert quotas.produce.record(session("u"), "c", 1_000_000) == 0
    quotas.apply(record("producer_byte_rate", 100, client_id=None))
    assert quotas.produce.record(session("u"), "c", 1000) == 0
    assert quotas.produce.record(session("v"), "c", 100) == 1000
    assert quotas.produce.record(session("v"), "d", 100) == 0


def test_a_quota_on_request_time_throttles_for_one_sample_at_most(clock: ManualClock) -> None:
    """D13."""
    quotas = ClientQuotas(clock)
    quotas.apply(record("request_percentage", 1, user=None))
    assert quotas.request.record(session("u"), "c", 0.1) == 0
    assert quotas.request.record(session("u"), "c", 0.005) == 500
    assert quotas.request.record(session("u"), "c", 1) == 1000


def test_a_limit_that_is_no_number_limits_nothing(clock: ManualClock) -> None:
    quotas = ClientQuotas(clock)
    quotas.apply(record("request_percentage", nan, user="u"))
    quotas.apply(record("controller_mutation_rate", nan, user="u"))
    assert quotas.request.record(session("u"), "c", 10) == 0
    quotas.mutations.quota_of(Call(19, 6, "c", session("u")), strict_since=6).take(100)


def test_the_connection_rate_of_a_host_name_applies_to_its_addresses(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """D18."""
    quotas = ClientQuotas(clock)
    quotas.apply(record("connection_creation_rate", 1, ip="localhost"))
    quotas.apply(record("connection_creation_rate", 1, ip="no host"))
    assert "no host has no effect" in caplog.text
    assert [quotas.connections.record("127.0.0.1") for _ in range(11)] == [0] * 10 + [1000]
    quotas.apply(record("connection_creation_rate", None, ip="localhost"))
    quotas.apply(record("connection_creation_rate", None, ip="no host"))
    assert [quotas.connections.record("127.0.0.1") for _ in range(11)] == [0] * 11


def test_addresses_have_their_own_connection_rate_or_the_default(clock: ManualClock) -> None:
    """D18."""
    connections = ClientQuotas(clock).connections
    assert [connections.record("10.0.0.1") for _ in range(100)] == [0] * 100
    quotas = ClientQuotas(clock)
    connections = quotas.connections
    quotas.apply(record("connection_creation_rate", 2, ip=None))
    quotas.apply(record("connection_creation_rate", 1, ip="10.0.0.1"))
    assert [connections.record("10.0.0.1") for _ in range(11)] == [0] * 10 + [1000]
    assert [connections.record("127.0.0.1") for _ in range(21)] == [0] * 20 + [500]
    clock.advance(11)
    assert connections.record("10.0.0.1") == 0
    quotas.apply(record("connection_creation_rate", None, ip="10.0.0.1"))
    assert [connections.record("10.0.0.1") for _ in range(20)] == [0] * 19 + [500]
    quotas.apply(record("connection_creation_rate", None, ip=None))
    assert [connections.record("10.0.0.1") for _ in range(100)] == [0] * 100
    clock.advance(4000)
    quotas.apply(record("connection_creation_rate", 1, ip="::1"))
    assert connections.record("::1") == 0
