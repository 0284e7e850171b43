package admin;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.resource.ResourcePatternFilter;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** How long the Admin takes, from the call until all futures are done; the first rounds only make it warm. */
final class Timings {
    /** The seconds of each round, and how many items the last one had. */
    record Timing(List<Double> seconds, int items) {
    }

    private interface Round {
        int run(int number) throws Exception;
    }

    record TimeAlterClientQuotas(List<String> users, List<String> keys, long first, int warmUps, int rounds)
        implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            return time(warmUps, rounds, number -> {
                admin.alterClientQuotas(alterations(first + number)).all().get();
                return users.size();
            });
        }

        private Collection<ClientQuotaAlteration> alterations(double value) {
            List<ClientQuotaAlteration.Op> operations =
                keys.stream().map(key -> new ClientQuotaAlteration.Op(key, value)).toList();
            return users.stream()
                .map(user -> new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, user)))
                .map(entity -> new ClientQuotaAlteration(entity, operations)).toList();
        }
    }

    record TimeDescribeAclsOfPrincipals(List<String> principals, int warmUps, int rounds) implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            return time(warmUps, rounds, number -> {
                List<KafkaFuture<Collection<AclBinding>>> asked = new ArrayList<>();
                for (String principal : principals) {
                    asked.add(admin.describeAcls(filter(principal)).values());
                }
                int found = 0;
                for (KafkaFuture<Collection<AclBinding>> acls : asked) {
                    found += acls.get().size();
                }
                return found;
            });
        }

        private static AclBindingFilter filter(String principal) {
            return new AclBindingFilter(
                ResourcePatternFilter.ANY,
                new AccessControlEntryFilter(principal, null, AclOperation.ANY, AclPermissionType.ANY)
            );
        }
    }

    record TimeDescribeAllAcls(int warmUps, int rounds) implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            return time(warmUps, rounds, number -> admin.describeAcls(AclBindingFilter.ANY).values().get().size());
        }
    }

    private Timings() {
    }

    private static Timing time(int warmUps, int rounds, Round round) throws Exception {
        List<Double> seconds = new ArrayList<>();
        int items = 0;
        for (int number = 0; number < warmUps + rounds; number++) {
            long start = System.nanoTime();
            items = round.run(number);
            if (number >= warmUps) {
                seconds.add((System.nanoTime() - start) / 1e9);
            }
        }
        return new Timing(seconds, items);
    }
}
