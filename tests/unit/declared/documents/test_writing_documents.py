"""A state is written for people: grouped, without needless quotes, and with comments for what is left out."""

from __future__ import annotations

from kafkawire.declared.documents.reading import read_texts
from kafkawire.declared.documents.writing import write_documents
from kafkawire.declared.state import ClusterState, CredentialState, TopicState
from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism

STATE = ClusterState(
    topics={
        "orders": TopicState(
            partitions=2,
            replication_factor=1,
            assignments={0: (1,), 1: (2,)},
            configs={"retention.ms": "604800000", "cleanup.policy": "compact,delete"},
        ),
        "audit": TopicState(),
        "__consumer_offsets": TopicState(partitions=50, is_internal=True),
    },
    configs={
        ConfigResource.broker_default(): {"log.cleaner.threads": "2", "plug.in": None},
        ConfigResource.broker(1): {"ssl.keystore.password": None},
    },
    acls=frozenset(
        (
            *AclBinding.consumer("User:billing", ["orders", "audit"], ["billing"]),
            AclBinding(
                ResourceType.TOPIC,
                "shop-",
                "User:*",
                AclOperation.DELETE,
                AclPermissionType.DENY,
                "10.0.0.1",
                PatternType.PREFIXED,
            ),
            AclBinding(ResourceType.TOPIC, "a", "User:a", AclOperation(99)),
        )
    ),
    quotas={
        ClientQuotaEntity.of_user_and_client("shop", None): {"producer_byte_rate": 1048576.0, "new_rate": 1.0},
        ClientQuotaEntity({"tenant": "a"}): {"producer_byte_rate": 1.0},
    },
    credentials={
        ("shop", ScramMechanism.SCRAM_SHA_512): CredentialState(iterations=4096),
        ("shop", ScramMechanism(9)): CredentialState(iterations=4096),
        ("other", ScramMechanism(9)): CredentialState(iterations=4096),
    },
)

TEXT = """
# of a test

topics:
  audit: {}
  orders:
    partitions: 2
    replication_factor: 1
    configs:
      cleanup.policy: "compact,delete"
      retention.ms: 604800000

configs:
  brokers:
    default:
      log.cleaner.threads: 2
      # plug.in: brokers do not return sensitive values
    1: {}
      # ssl.keystore.password: brokers do not return sensitive values

acls:
  - principal: User:*
    permission: DENY
    operation: DELETE
    topic: {prefix: shop-}
    host: "10.0.0.1"
  - principal: User:billing
    operation: READ
    group: billing
  - principal: User:billing
    operation: [READ, DESCRIBE]
    topic:
      - audit
      - orders
  # User:a may UNKNOWN_99 topic a: a newer broker has this ACL, which cannot be declared

quotas:
  # tenant a: a newer broker has this quota, which cannot be declared
  - user: shop
    client_id: {default: true}
    # of a newer broker: new_rate: 1
    producer_byte_rate: 1048576

users:
  # Passwords cannot be read back. To set one, write password: {env: NAME} below the mechanism.
  # other:
    # UNKNOWN_9: a newer broker has this mechanism, which cannot be declared
  shop:
    SCRAM-SHA-512: {iterations: 4096}
    # UNKNOWN_9: a newer broker has this mechanism, which cannot be declared
"""


def test_document_is_readable() -> None:
    _, _, text = write_documents(STATE, heading=["of a test"]).partition("\n")
    assert text == TEXT.removeprefix("\n")


def test_assignments_are_written_if_wanted() -> None:
    text = write_documents(STATE, with_assignments=True)
    assert "    assignments:\n      0: [1]\n      1: [2]\n" in text
    assert read_texts({"a": text}).state.topics["orders"] == STATE.topics["orders"]


def test_what_is_left_out_does_not_hinder_reading() -> None:
    declared = read_texts({"a": write_documents(STATE)})
    assert not declared.errors
    assert set(declared.state.topics) == {"orders", "audit"}


def test_empty_state() -> None:
    assert read_texts({"a": write_documents(ClusterState())}).state == ClusterState()
