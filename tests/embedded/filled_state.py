"""A cluster that has something of each kind that documents can declare."""

from __future__ import annotations

from kafkawire.admin import (
    AclBinding,
    BlockingAdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ConfigChange,
    ConfigResource,
    NewTopic,
    ScramMechanism,
    ScramUpsertion,
)

AUTHORIZER = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
PROPERTIES = {**AUTHORIZER, "super.users": "User:ANONYMOUS"}

BILLING = AclBinding.consumer("User:billing", ["orders"], ["billing"])
ALICE = ClientQuotaEntity(user="alice")
DEFAULT_CLIENT = ClientQuotaEntity(client_id=None)
GROUP = ConfigResource.group("invoicing")
METRICS = ConfigResource.client_metrics("slow-clients")


def fill(admin: BlockingAdminClient, *, groups: bool = True) -> None:
    """Topics, configs of every kind of resource, ACLs, quotas and credentials; Kafka 3 has no configs of groups."""
    node = admin.describe_cluster().nodes[0].node.id
    admin.create_topics(
        [
            NewTopic("orders", 3, 1, configs={"retention.ms": "604800000", "cleanup.policy": "delete"}),
            NewTopic("orders-dead", replica_assignments={0: [node], 1: [node]}),
            NewTopic("payments", 1, 1),
        ]
    ).all()
    admin.incremental_alter_configs(
        {
            ConfigResource.broker_default(): [ConfigChange.set("log.retention.ms", "86400000")],
            ConfigResource.broker(node): [ConfigChange.set("log.cleaner.threads", "2")],
            **({GROUP: [ConfigChange.set("consumer.session.timeout.ms", "50000")]} if groups else {}),
            METRICS: [ConfigChange.set("interval.ms", "60000")],
        }
    ).all()
    admin.create_acls(BILLING).all()
    admin.alter_client_quotas(
        [
            ClientQuotaAlteration(ALICE, {"producer_byte_rate": 1024.0}),
            ClientQuotaAlteration(DEFAULT_CLIENT, {"consumer_byte_rate": 2048.0}),
        ]
    ).all()
    admin.alter_user_scram_credentials(
        [ScramUpsertion(user, ScramMechanism.SCRAM_SHA_512, "secret", 8192) for user in ("alice", "bob")]
    ).all()
