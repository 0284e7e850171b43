package policies;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.server.policy.AlterConfigPolicy;

/** A policy for changes of configurations that finds in the names that change what to say, and tells what it is shown. */
public final class ConfigsDecide implements AlterConfigPolicy {

    private static final Set<String> SHOWN = Set.of(
        "flush.messages", "log.flush.interval.messages", "consumer.session.timeout.ms", "interval.ms");

    @Override
    public void configure(Map<String, ?> configs) {
    }

    @Override
    public void validate(RequestMetadata request) {
        Map<String, String> configs = new TreeMap<>(request.configs());
        if (configs.containsKey("index.interval.bytes")) {
            throw new InvalidConfigurationException("the policy does not like index.interval.bytes");
        }
        if (configs.containsKey("file.delete.delay.ms")) {
            throw new IllegalStateException("a defect of the policy");
        }
        if (configs.keySet().stream().anyMatch(SHOWN::contains)) {
            String resource = request.resource().type() + " " + request.resource().name();
            throw new PolicyViolationException(resource + " " + configs);
        }
    }

    @Override
    public void close() {
    }
}
