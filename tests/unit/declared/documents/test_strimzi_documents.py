"""Strimzi's resources mean what its operators make of them."""

from __future__ import annotations

import pytest

from kafkawire.declared.documents.declared import Declared
from kafkawire.declared.documents.reading import read_texts
from kafkawire.declared.state import CredentialState, TopicState
from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism

SHOP = ("shop", ScramMechanism.SCRAM_SHA_512)


def resource(kind: str, spec: str, metadata: str = "name: shop", version: str = "v1") -> str:
    return f"apiVersion: kafka.strimzi.io/{version}\nkind: {kind}\nmetadata: {{{metadata}}}\nspec: {{{spec}}}\n"


def read(text: str) -> Declared:
    declared = read_texts({"resource.yaml": text})
    assert not declared.errors, declared.errors[0]
    return declared


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
def test_topic(version: str) -> None:
    spec = "topicName: Shop_Orders, partitions: 3, replicas: 2, config: {retention.ms: 1000, cleanup.policy: [compact]}"
    declared = read(resource("KafkaTopic", spec, version=version))
    configs = {"retention.ms": "1000", "cleanup.policy": "compact"}
    assert declared.state.topics == {"Shop_Orders": TopicState(partitions=3, replication_factor=2, configs=configs)}
    assert not declared.problems


def test_topic_with_the_defaults_of_brokers() -> None:
    assert read(resource("KafkaTopic", "partitions: -1, replicas: -1")).state.topics == {"shop": TopicState()}


@pytest.mark.parametrize("annotation", ['strimzi.io/managed: "false"', 'strimzi.io/pause-reconciliation: "true"'])
def test_resources_that_operators_leave_alone(annotation: str) -> None:
    declared = read(resource("KafkaTopic", "", f"name: shop, annotations: {{{annotation}}}"))
    assert not declared.state.topics
    assert [each.is_warning for each in declared.problems] == [True]


@pytest.mark.parametrize(
    ("authentication", "user"),
    [
        ("", "shop"),
        ("authentication: {type: tls},", "CN=shop"),
        ("authentication: {type: tls-external},", "CN=shop"),
        ("authentication: {type: scram-sha-512},", "shop"),
    ],
)
def test_principal_and_quota_by_authentication(authentication: str, user: str) -> None:
    acl = "{resource: {type: topic, name: a}, operations: [Read]}"
    spec = (
        f"{authentication} authorization: {{type: simple, acls: [{acl}]}}, quotas: {{producerByteRate: 10, "
        "consumerByteRate: 20, requestPercentage: 30, controllerMutationRate: 0.5}"
    )
    state = read(resource("KafkaUser", spec)).state
    assert {each.principal for each in state.acls} == {f"User:{user}"}
    assert state.quotas == {
        ClientQuotaEntity.of_user(user): {
            "producer_byte_rate": 10.0,
            "consumer_byte_rate": 20.0,
            "request_percentage": 30.0,
            "controller_mutation_rate": 0.5,
        }
    }


def test_acls() -> None:
    rules = [
        "{resource: {type: topic, name: a, patternType: prefix}, operations: [Read, DescribeConfigs], host: 10.0.0.1}",
        "{resource: {type: group, name: '*'}, operation: All, type: deny}",
        "{resource: {type: transactionalId, name: t}, operations: [Write]}",
        "{resource: {type: cluster}, operations: [IdempotentWrite]}",
    ]
    declared = read(resource("KafkaUser", f"authorization: {{type: simple, acls: [{', '.join(rules)}]}}"))
    principal, allow = "User:shop", AclPermissionType.ALLOW
    topic = (ResourceType.TOPIC, "a", principal)
    assert declared.state.acls == {
        AclBinding(*topic, AclOperation.READ, allow, "10.0.0.1", PatternType.PREFIXED),
        AclBinding(*topic, AclOperation.DESCRIBE_CONFIGS, allow, "10.0.0.1", PatternType.PREFIXED),
        AclBinding(ResourceType.GROUP, "*", principal, AclOperation.ALL, AclPermissionType.DENY),
        AclBinding(ResourceType.TRANSACTIONAL_ID, "t", principal, AclOperation.WRITE),
        AclBinding.of_cluster(principal, AclOperation.IDEMPOTENT_WRITE),
    }


def test_password_is_elsewhere_and_a_warning_says_how_to_set_it() -> None:
    spec = "authentication: {type: scram-sha-512, password: {valueFrom: {secretKeyRef: {name: words, key: shop}}}}"
    declared = read(resource("KafkaUser", spec))
    assert declared.state.credentials == {SHOP: CredentialState(iterations=4096)}
    assert ["kubectl get secret words" in each.remedy for each in declared.problems] == [True]


def test_password_of_another_document() -> None:
    users = "users: {shop: {SCRAM-SHA-512: {iterations: 8192, password: {env: SHOP}}}}"
    declared = read(f"{resource('KafkaUser', 'authentication: {type: scram-sha-512}')}---\n{users}")
    assert declared.state.credentials == {SHOP: CredentialState(iterations=8192)}
    assert list(declared.secrets) == [SHOP]
    assert not declared.problems


def test_list_as_kubectl_prints_it() -> None:
    item = "{apiVersion: kafka.strimzi.io/v1, kind: KafkaTopic, metadata: {name: %s}, spec: {partitions: 1}}"
    declared = read(f"apiVersion: v1\nkind: List\nitems: [{item % 'a'}, {item % 'b'}]")
    assert list(declared.state.topics) == ["a", "b"]


EVERY_FIELD_OF_A_USER = """
authentication:
  type: scram-sha-512
  password: {valueFrom: {secretKeyRef: {name: words, key: word, optional: false}}}
  validityDays: 30
  renewalDays: 10
authorization:
  type: simple
  acls:
    - type: allow
      resource: {type: transactionalId, name: shop-, patternType: prefix}
      host: 10.0.0.1
      operations: [Describe, Write]
quotas: {producerByteRate: 3, consumerByteRate: 1, requestPercentage: 2, controllerMutationRate: 0.5}
template: {secret: {metadata: {labels: {team: shop}}}}
"""
"""All that the definition of Strimzi 1.2 has below ``spec``."""


def test_every_field_of_a_user_is_read() -> None:
    spec = "\n".join(f"  {line}" for line in EVERY_FIELD_OF_A_USER.splitlines())
    head = "apiVersion: kafka.strimzi.io/v1\nkind: KafkaUser\nmetadata: {name: shop}\nspec:"
    declared = read(f"{head}{spec}\n")
    acls = {
        AclBinding(
            ResourceType.TRANSACTIONAL_ID, "shop-", "User:shop", operation, AclPermissionType.ALLOW, "10.0.0.1",
            PatternType.PREFIXED,
        )
        for operation in (AclOperation.DESCRIBE, AclOperation.WRITE)
    }  # fmt: skip
    assert set(declared.state.acls) == acls
    assert [*declared.state.credentials] == [SHOP]
    assert len(declared.state.quotas[ClientQuotaEntity.of_user("shop")]) == 4
    (problem,) = declared.problems
    assert "the key word of the Secret words" in str(problem)


MISSPELT_ACL = "{resource: {type: topic, name: a, patterntype: prefix}, operations: [Read]}"


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        ("authentication: {type: tls, passwrod: {}}", "passwrod"),
        ("authorization: {type: simple, acls: [], acl: []}", "acl"),
        (f"authorization: {{type: simple, acls: [{MISSPELT_ACL}]}}", "patterntype"),
    ],
)
def test_a_key_that_strimzi_does_not_have_is_an_error(spec: str, key: str) -> None:
    """Kubernetes drops it, and the resource means something else than was written."""
    declared = read_texts({"resource.yaml": resource("KafkaUser", spec)})
    assert [f"{key}" in str(each) for each in declared.errors] == [True]
    assert not declared.state.acls
