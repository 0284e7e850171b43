package policies;

import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.server.policy.AlterConfigPolicy;

/** A policy for altered configs that finds in a value of theirs what to say, and tells what it was shown. */
public final class AlterationsDecide implements AlterConfigPolicy {

    /** The key whose value says what to do; brokers and topics have their own. */
    private static final String[] KEYS = {"flush.messages", "log.flush.interval.messages"};

    @Override
    public void configure(Map<String, ?> configs) {
    }

    @Override
    public void validate(RequestMetadata request) {
        String shown = request.resource().type() + " " + request.resource().name() + " "
            + new TreeMap<>(request.configs());
        if (request.configs().isEmpty()) {
            throw new PolicyViolationException(shown);
        }
        for (String key : KEYS) {
            String asked = request.configs().getOrDefault(key, "");
            switch (asked == null ? "" : asked) {
                case "44" -> throw new PolicyViolationException(shown);
                case "40" -> throw new InvalidConfigurationException("the policy does not like it");
                case "666" -> throw new IllegalStateException("a defect of the policy");
                default -> {
                }
            }
        }
    }

    @Override
    public void close() {
    }
}
