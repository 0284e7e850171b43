package policies;

import java.util.Map;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.server.policy.CreateTopicPolicy;

/** A policy for new topics that finds in a topic's name what to say about it, and tells what it was shown. */
public final class NamesDecide implements CreateTopicPolicy {

    private int configured;
    private Object partitionsOfNode;

    @Override
    public void configure(Map<String, ?> configs) {
        configured++;
        partitionsOfNode = configs.get("num.partitions");
    }

    @Override
    public void validate(RequestMetadata request) {
        String topic = request.topic();
        if (topic.startsWith("forbidden")) {
            throw new PolicyViolationException("no topic may be called " + topic);
        }
        if (topic.startsWith("misconfigured")) {
            throw new InvalidConfigurationException("the policy does not like the configs of " + topic);
        }
        if (topic.startsWith("broken")) {
            throw new IllegalStateException("a defect of the policy");
        }
        if (topic.startsWith("configured")) {
            throw new PolicyViolationException("configured " + configured + " times, num.partitions "
                + partitionsOfNode);
        }
        if (topic.startsWith("shown")) {
            throw new PolicyViolationException(request.numPartitions() + " partitions, " + request.replicationFactor()
                + " replicas, assigned " + request.replicasAssignments() + ", configs " + request.configs());
        }
    }

    @Override
    public void close() {
    }
}
