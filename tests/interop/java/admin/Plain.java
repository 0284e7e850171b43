package admin;

import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/** Parts that several operations have, as they are written: in an order that is always the same. */
final class Plain {
    record Partition(String topic, int partition) {
        static final Comparator<Partition> ORDER =
            Comparator.comparing(Partition::topic).thenComparingInt(Partition::partition);

        static Partition of(TopicPartition partition) {
            return new Partition(partition.topic(), partition.partition());
        }

        TopicPartition toKafka() {
            return new TopicPartition(topic, partition);
        }
    }

    record Broker(int id, String host, int port, String rack, boolean fenced) {
        static Broker of(Node node) {
            return new Broker(node.id(), node.host(), node.port(), node.rack(), node.isFenced());
        }
    }

    private Plain() {
    }

    static List<Partition> partitions(Collection<TopicPartition> partitions) {
        return partitions.stream().map(Partition::of).sorted(Partition.ORDER).toList();
    }

    static List<TopicPartition> kafka(List<Partition> partitions) {
        return partitions.stream().map(Partition::toKafka).toList();
    }

    static List<Integer> ids(List<Node> nodes) {
        return nodes == null ? null : nodes.stream().map(Node::id).toList();
    }

    static Integer id(Node node) {
        return node == null || node.isEmpty() ? null : node.id();
    }

    static List<String> names(Set<AclOperation> operations) {
        return operations == null ? null : operations.stream().map(Enum::name).sorted().toList();
    }
}
