package admin;

import admin.Plain.Partition;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateDelegationTokenOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.token.delegation.DelegationToken;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Makes state that there is something to describe; each is back when the broker has said that it is done. */
final class Changes {
    record CreateTopic(String name, int partitions, short replicationFactor, Map<String, String> configs)
        implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            NewTopic topic = new NewTopic(name, partitions, replicationFactor).configs(configs);
            return admin.createTopics(List.of(topic)).topicId(name).get().toString();
        }
    }

    record CreateAcl(
        String resourceType, String resourceName, String patternType, String principal, String host, String operation,
        String permissionType
    ) implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            AclBinding acl = new AclBinding(
                new ResourcePattern(ResourceType.valueOf(resourceType), resourceName, PatternType.valueOf(patternType)),
                new AccessControlEntry(
                    principal, host, AclOperation.valueOf(operation), AclPermissionType.valueOf(permissionType)
                )
            );
            admin.createAcls(List.of(acl)).all().get();
            return true;
        }
    }

    record AlterConfig(String type, String name, String key, String value) implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.valueOf(type), name);
            AlterConfigOp set = new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET);
            admin.incrementalAlterConfigs(Map.of(resource, List.of(set))).all().get();
            return true;
        }
    }

    record AlterClientQuota(Map<String, String> entity, Map<String, Double> quotas) implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            Collection<ClientQuotaAlteration.Op> operations = new ArrayList<>();
            quotas.forEach((key, value) -> operations.add(new ClientQuotaAlteration.Op(key, value)));
            ClientQuotaAlteration alteration =
                new ClientQuotaAlteration(new ClientQuotaEntity(entity), operations);
            admin.alterClientQuotas(List.of(alteration)).all().get();
            return true;
        }
    }

    record UpsertScramUser(String user, String mechanism, int iterations, String password) implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            ScramCredentialInfo credential = new ScramCredentialInfo(ScramMechanism.valueOf(mechanism), iterations);
            admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(user, credential, password)))
                .all().get();
            return true;
        }
    }

    record CreateDelegationToken(long maxLifetimeMs) implements Operation {
        record Created(String tokenId, String hmac) {
        }

        @Override
        public Object run(Admin admin) throws Exception {
            CreateDelegationTokenOptions options = new CreateDelegationTokenOptions().maxLifetimeMs(maxLifetimeMs);
            DelegationToken token = admin.createDelegationToken(options).delegationToken().get();
            return new Created(token.tokenInfo().tokenId(), token.hmacAsBase64String());
        }
    }

    record AlterGroupOffset(String group, Partition partition, long offset) implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            Map<TopicPartition, OffsetAndMetadata> offsets =
                Map.of(partition.toKafka(), new OffsetAndMetadata(offset));
            admin.alterConsumerGroupOffsets(group, offsets).all().get();
            return true;
        }
    }

    private Changes() {
    }
}
