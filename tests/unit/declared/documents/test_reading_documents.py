"""Documents are read as they are written: files, folders, standard input; values as texts; roles expanded."""

from __future__ import annotations

import gc
from io import BytesIO
from pathlib import Path

import pytest

from kafkawire.declared.documents.declared import Declared
from kafkawire.declared.documents.problems import Rule
from kafkawire.declared.documents.reading import read_documents, read_texts
from kafkawire.declared.planned import Kind
from kafkawire.declared.state import CredentialState, TopicState
from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism


def read(text: str) -> Declared:
    """A document without problems."""
    declared = read_texts({"state.yaml": text})
    assert not declared.problems, declared.problems[0]
    return declared


def test_topics_whose_names_collide_in_metrics_may_exist() -> None:
    declared = read_texts({"state.yaml": "topics: {a.b: , a_b: }"})
    assert list(declared.state.topics) == ["a.b", "a_b"]
    (problem,) = declared.problems
    assert (problem.rule, problem.is_warning) == (Rule.VALUE, True)


def test_topics() -> None:
    declared = read("""
topics:
  orders:
    partitions: 12
    replication_factor: 3
    configs: {retention.ms: 604800000, cleanup.policy: [compact, delete], preallocate: true, flush.ms: null}
  audit:
  assigned: {assignments: {0: [1, 2], 1: [2, 1]}}
""")
    configs = {"retention.ms": "604800000", "cleanup.policy": "compact,delete", "preallocate": "true", "flush.ms": None}
    assert declared.state.topics == {
        "orders": TopicState(partitions=12, replication_factor=3, configs=configs),
        "audit": TopicState(),
        "assigned": TopicState(assignments={0: (1, 2), 1: (2, 1)}),
    }
    assert str(declared.position(Kind.TOPICS, "audit")) == "state.yaml:7:3"


@pytest.mark.parametrize("name", ["on", "no", "null", "12", "012", "1e3", "2026-11-23"])
def test_plain_names_are_texts(name: str) -> None:
    assert list(read(f"topics: {{{name}: {{}}}}").state.topics) == [name]


def test_values_of_configs_are_texts_as_written() -> None:
    text = "topics: {a: {configs: {min.cleanable.dirty.ratio: 1e-3, retention.ms: 012}}}"
    assert read(text).state.topics["a"].configs == {"min.cleanable.dirty.ratio": "1e-3", "retention.ms": "012"}


def test_configs() -> None:
    declared = read("""
configs:
  brokers:
    default: {log.cleaner.threads: 2}
    1: {listener.name.external.ssl.keystore.password: {env: PASSWORD}}
  groups: {billing: {consumer.session.timeout.ms: 50000}}
  client_metrics: {all: {interval.ms: 60000, metrics: [a, b]}}
""")
    assert declared.state.configs == {
        ConfigResource.broker_default(): {"log.cleaner.threads": "2"},
        ConfigResource.broker(1): {"listener.name.external.ssl.keystore.password": None},
        ConfigResource.group("billing"): {"consumer.session.timeout.ms": "50000"},
        ConfigResource.client_metrics("all"): {"interval.ms": "60000", "metrics": "a,b"},
    }
    assert list(declared.secrets) == [(ConfigResource.broker(1), "listener.name.external.ssl.keystore.password")]


def test_entry_is_the_product_of_its_parts() -> None:
    declared = read("""
acls:
  - principal: [User:a, User:b]
    operation: [READ, describe]
    topic: [orders, {prefix: shop-}, {name: shop-*}]
    permission: DENY
    host: [10.0.0.1, 10.0.0.2]
""")
    patterns = {
        ("orders", PatternType.LITERAL),
        ("shop-", PatternType.PREFIXED),
        ("shop-*", PatternType.LITERAL),
    }
    assert declared.state.acls == {
        AclBinding(ResourceType.TOPIC, name, principal, operation, AclPermissionType.DENY, host, pattern_type)
        for name, pattern_type in patterns
        for principal in ("User:a", "User:b")
        for operation in (AclOperation.READ, AclOperation.DESCRIBE)
        for host in ("10.0.0.1", "10.0.0.2")
    }


def test_roles_are_those_of_kafka_acls() -> None:
    declared = read("""
acls:
  - {principal: User:a, role: [producer, idempotent], topic: orders, transactional_id: a-1}
  - {principal: User:b, role: consumer, topic: {prefix: shop-}, group: {prefix: shop-}}
""")
    assert declared.state.acls == {
        *AclBinding.producer("User:a", ["orders"], transactional_ids=["a-1"], idempotent=True),
        *AclBinding.consumer("User:b", ["shop-"], ["shop-"], pattern_type=PatternType.PREFIXED),
    }


def test_role_admin_may_do_everything() -> None:
    declared = read("acls: [{principal: User:a, role: admin, topic: '*', cluster: true}]")
    assert declared.state.acls == {
        AclBinding(ResourceType.TOPIC, "*", "User:a", AclOperation.ALL),
        AclBinding.of_cluster("User:a", AclOperation.ALL),
    }


def test_role_idempotent_needs_no_resource() -> None:
    declared = read("acls: [{principal: User:a, role: idempotent}]")
    assert declared.state.acls == {AclBinding.of_cluster("User:a", AclOperation.IDEMPOTENT_WRITE)}


def test_an_acl_of_two_entries_is_one() -> None:
    text = "{principal: User:a, operation: READ, topic: orders}"
    assert len(read(f"acls: [{text}, {text}]").state.acls) == 1


def test_quotas() -> None:
    declared = read("""
quotas:
  - {user: [alice, bob], producer_byte_rate: 1000}
  - {user: carol, producer_byte_rate: null}
  - {user: {default: true}, client_id: app, request_percentage: 12.5}
  - {ip: {default: true}, connection_creation_rate: 10}
""")
    assert declared.state.quotas == {
        ClientQuotaEntity.of_user("alice"): {"producer_byte_rate": 1000.0},
        ClientQuotaEntity.of_user("bob"): {"producer_byte_rate": 1000.0},
        ClientQuotaEntity.of_user("carol"): {"producer_byte_rate": None},
        ClientQuotaEntity.of_user_and_client(None, "app"): {"request_percentage": 12.5},
        ClientQuotaEntity.of_ip(None): {"connection_creation_rate": 10.0},
    }


def test_users() -> None:
    declared = read("users: {alice: {SCRAM-SHA-256: {iterations: 8192, password: {env: A}}, SCRAM-SHA-512: }}")
    assert declared.state.credentials == {
        ("alice", ScramMechanism.SCRAM_SHA_256): CredentialState(iterations=8192),
        ("alice", ScramMechanism.SCRAM_SHA_512): CredentialState(),
    }


def test_anchors_and_merged_tables() -> None:
    declared = read("""
x-defaults: &defaults {retention.ms: 1000, preallocate: true}
x-more: &more {flush.ms: 5}
topics:
  a: {configs: {<<: *defaults, retention.ms: 2000}}
  b: {configs: {<<: [*more, *defaults]}}
""")
    assert declared.state.topics["a"].configs == {"retention.ms": "2000", "preallocate": "true"}
    assert declared.state.topics["b"].configs == {"flush.ms": "5", "retention.ms": "1000", "preallocate": "true"}


def test_scope_of_deletions_needs_every_condition() -> None:
    declared = read("""
prune: {kinds: [topics, acls, quotas, users], topic_prefix: shop-, principal: User:shop}
---
prune: {kinds: topics, topic_prefix: old-}
""")
    mine = AclBinding(ResourceType.TOPIC, "x", "User:shop", AclOperation.READ)
    other = AclBinding(ResourceType.TOPIC, "x", "User:other", AclOperation.READ)
    assert declared.may_delete(Kind.TOPICS, "shop-a")
    assert declared.may_delete(Kind.TOPICS, "old-a")
    assert not declared.may_delete(Kind.TOPICS, "orders")
    assert declared.may_delete(Kind.ACLS, mine)
    assert not declared.may_delete(Kind.ACLS, other)
    assert declared.may_delete(Kind.QUOTAS, ClientQuotaEntity.of_user("shop"))
    assert not declared.may_delete(Kind.QUOTAS, ClientQuotaEntity.of_user(None))
    assert not declared.may_delete(Kind.QUOTAS, ClientQuotaEntity.of_client("shop"))
    assert declared.may_delete(Kind.USERS, ("shop", ScramMechanism.SCRAM_SHA_256))
    assert not declared.may_delete(Kind.CONFIGS, ConfigResource.broker(1))


def test_scope_of_everything() -> None:
    declared = read('prune: {kinds: [topics, quotas, configs], topic_prefix: "*", principal: "*"}')
    assert declared.may_delete(Kind.TOPICS, "orders")
    assert declared.may_delete(Kind.QUOTAS, ClientQuotaEntity.of_ip(None))
    assert declared.may_delete(Kind.CONFIGS, ConfigResource.broker(1))
    assert not declared.may_delete(Kind.USERS, ("shop", ScramMechanism.SCRAM_SHA_256))


def test_folders_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "b.yml").write_text("topics: {b: }")
    (tmp_path / "a.yaml").write_text("topics: {a: }\n--- # nothing\n---\ntopics: {a2: }")
    (tmp_path / "c.json").write_text('{"topics": {"c": {"partitions": 3}}}')
    (tmp_path / ".hidden.yaml").write_text("topics: {hidden: }")
    (tmp_path / "README.md").write_text("not read")
    declared = read_documents([str(tmp_path), tmp_path / "a.yaml", "-"], stdin=BytesIO(b"\xef\xbb\xbftopics: {d: }"))
    assert not declared.problems
    assert list(declared.state.topics) == ["a", "a2", "c", "b", "d"]
    assert str(declared.position(Kind.TOPICS, "d")) == "<stdin>:1:10"


@pytest.mark.parametrize("path", ["missing.yaml", "empty", "a\0b"])
def test_files_that_cannot_be_read_are_named(path: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    problems = read_documents([str(tmp_path / path)]).problems
    assert [(each.rule, each.position.file) for each in problems] == [(Rule.FILE, str(tmp_path / path))]


def test_duplicates_of_files_name_both_places() -> None:
    declared = read_texts({"a.yaml": "topics: {a: }", "b.yaml": "\ntopics: {a: }"})
    assert [str(each) for each in declared.problems] == [
        "b.yaml:2:10: error[duplicate]: the topic a is declared twice; first at a.yaml:1:10; keep one of the two"
    ]


def test_product_that_is_too_large_is_refused() -> None:
    names = ", ".join(f"n{number}" for number in range(1500))
    text = f"x-a: &names [{names}]\nacls: [{{principal: User:a, operation: READ, topic: *names, host: *names}}]"
    declared = read_texts({"a.yaml": text})
    assert any("more than 2000000 ACLs" in each.message for each in declared.errors)
    assert not declared.state.acls


def test_collection_of_garbage_is_as_before() -> None:
    assert gc.isenabled()
    read("topics: {a: }")
    assert gc.isenabled()
