package admin;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.UserScramCredentialsDescription;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.quota.ClientQuotaFilterComponent;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.token.delegation.TokenInformation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** ACLs, client quotas, SCRAM users and delegation tokens. */
final class SecurityFamily {
    record DescribeAcls(
        String resourceType, String resourceName, String patternType, String principal, String host, String operation,
        String permissionType
    ) implements Operation {
        record Described(
            String resourceType, String resourceName, String patternType, String principal, String host,
            String operation, String permissionType
        ) {
            static Described of(AclBinding acl) {
                return new Described(
                    acl.pattern().resourceType().name(), acl.pattern().name(), acl.pattern().patternType().name(),
                    acl.entry().principal(), acl.entry().host(), acl.entry().operation().name(),
                    acl.entry().permissionType().name()
                );
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            return admin.describeAcls(filter()).values().get().stream()
                .map(Described::of).sorted(Comparator.comparing(Described::toString)).toList();
        }

        private AclBindingFilter filter() {
            return new AclBindingFilter(
                new ResourcePatternFilter(
                    ResourceType.valueOf(resourceType), resourceName, PatternType.valueOf(patternType)
                ),
                new AccessControlEntryFilter(
                    principal, host, AclOperation.valueOf(operation), AclPermissionType.valueOf(permissionType)
                )
            );
        }
    }

    record DescribeClientQuotas(Map<String, String> named, List<String> defaults, List<String> any, boolean strict)
        implements Operation {
        record Described(Map<String, String> entity, Map<String, Double> quotas) {
            static Described of(ClientQuotaEntity entity, Map<String, Double> quotas) {
                return new Described(new TreeMap<>(entity.entries()), new TreeMap<>(quotas));
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            List<Described> described = new ArrayList<>();
            admin.describeClientQuotas(filter()).entities().get()
                .forEach((entity, quotas) -> described.add(Described.of(entity, quotas)));
            described.sort(Comparator.comparing(quota -> quota.entity().toString()));
            return described;
        }

        private ClientQuotaFilter filter() {
            Collection<ClientQuotaFilterComponent> components = new ArrayList<>();
            named.forEach((type, name) -> components.add(ClientQuotaFilterComponent.ofEntity(type, name)));
            defaults.forEach(type -> components.add(ClientQuotaFilterComponent.ofDefaultEntity(type)));
            any.forEach(type -> components.add(ClientQuotaFilterComponent.ofEntityType(type)));
            return strict ? ClientQuotaFilter.containsOnly(components) : ClientQuotaFilter.contains(components);
        }
    }

    record DescribeScramUsers(List<String> users) implements Operation {
        record Credential(String mechanism, int iterations) {
        }

        record Described(String user, List<Credential> credentials) {
            static Described of(UserScramCredentialsDescription user) {
                List<Credential> credentials = user.credentialInfos().stream()
                    .map(found -> new Credential(found.mechanism().name(), found.iterations()))
                    .sorted(Comparator.comparing(Credential::mechanism)).toList();
                return new Described(user.name(), credentials);
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            return admin.describeUserScramCredentials(users).all().get().values().stream()
                .map(Described::of).sorted(Comparator.comparing(Described::user)).toList();
        }
    }

    record DescribeDelegationTokens() implements Operation {
        record Described(
            String tokenId, String owner, String requester, List<String> renewers, long issueTimestamp,
            long expiryTimestamp, long maxTimestamp
        ) {
            static Described of(TokenInformation token) {
                return new Described(
                    token.tokenId(), token.ownerAsString(), token.tokenRequesterAsString(),
                    token.renewers().stream().map(KafkaPrincipal::toString).sorted().toList(),
                    token.issueTimestamp(), token.expiryTimestamp(), token.maxTimestamp()
                );
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            return admin.describeDelegationToken().delegationTokens().get().stream()
                .map(token -> Described.of(token.tokenInfo()))
                .sorted(Comparator.comparing(Described::tokenId)).toList();
        }
    }

    private SecurityFamily() {
    }
}
