package policies;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Reconfigurable;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.server.quota.ClientQuotaCallback;
import org.apache.kafka.server.quota.ClientQuotaEntity;
import org.apache.kafka.server.quota.ClientQuotaEntity.ConfigEntityType;
import org.apache.kafka.server.quota.ClientQuotaType;

/** A quota callback that gives each client id twice what is set for it, and accepts other factors. */
public final class Doubled implements ClientQuotaCallback, Reconfigurable {
    private static final String FACTOR = "doubled.factor";
    private final Map<String, Double> limits = new ConcurrentHashMap<>();

    @Override
    public void configure(Map<String, ?> configs) {
    }

    @Override
    public Set<String> reconfigurableConfigs() {
        return Set.of(FACTOR);
    }

    @Override
    public void validateReconfiguration(Map<String, ?> configs) {
        Object factor = configs.get(FACTOR);
        if ("broken".equals(factor)) {
            throw new IllegalStateException("a defect of the callback");
        }
        if (factor != null && !factor.toString().matches("[0-9]+")) {
            throw new ConfigException("the factor is a number, not " + factor);
        }
    }

    @Override
    public void reconfigure(Map<String, ?> configs) {
    }

    @Override
    public Map<String, String> quotaMetricTags(ClientQuotaType type, KafkaPrincipal principal, String clientId) {
        return Map.of("client", clientId);
    }

    @Override
    public Double quotaLimit(ClientQuotaType type, Map<String, String> tags) {
        Double limit = limits.get(type + tags.get("client"));
        return limit == null ? null : limit * 2;
    }

    @Override
    public void updateQuota(ClientQuotaType type, ClientQuotaEntity entity, double value) {
        entity.configEntities().stream().filter(one -> one.entityType() == ConfigEntityType.CLIENT_ID)
            .forEach(one -> limits.put(type + one.name(), value));
    }

    @Override
    public void removeQuota(ClientQuotaType type, ClientQuotaEntity entity) {
        entity.configEntities().forEach(one -> limits.remove(type + one.name()));
    }

    @Override
    public boolean quotaResetRequired(ClientQuotaType type) {
        return false;
    }

    // Kafka 4.4 has deprecated it without another method in its place, and each release before wants it.
    @Override
    @SuppressWarnings("removal")
    public boolean updateClusterMetadata(Cluster cluster) {
        return false;
    }

    @Override
    public void close() {
    }
}
