package admin;

import admin.Plain.Partition;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeReplicaLogDirsResult.ReplicaLogDirInfo;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.PartitionReassignment;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionReplica;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Topics, partitions, replicas and offsets. */
final class TopicFamily {
    record ListTopics(boolean internal) implements Operation {
        record Listed(String name, String topicId, boolean internal) {
        }

        @Override
        public Object run(Admin admin) throws Exception {
            return admin.listTopics(new ListTopicsOptions().listInternal(internal)).listings().get().stream()
                .map(topic -> new Listed(topic.name(), topic.topicId().toString(), topic.isInternal()))
                .sorted(Comparator.comparing(Listed::name)).toList();
        }
    }

    record DescribeTopics(List<String> names, boolean authorizedOperations) implements Operation {
        record DescribedPartition(
            int partition, Integer leader, List<Integer> replicas, List<Integer> isr, List<Integer> elr,
            List<Integer> lastKnownElr
        ) {
        }

        record Described(
            String name, String topicId, boolean internal, List<DescribedPartition> partitions,
            List<String> authorizedOperations
        ) {
            static Described of(TopicDescription topic) {
                List<DescribedPartition> partitions = topic.partitions().stream().map(
                    partition -> new DescribedPartition(
                        partition.partition(), Plain.id(partition.leader()), Plain.ids(partition.replicas()),
                        Plain.ids(partition.isr()), Plain.ids(partition.elr()), Plain.ids(partition.lastKnownElr())
                    )
                ).toList();
                return new Described(
                    topic.name(), topic.topicId().toString(), topic.isInternal(), partitions,
                    Plain.names(topic.authorizedOperations())
                );
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            DescribeTopicsOptions options =
                new DescribeTopicsOptions().includeAuthorizedOperations(authorizedOperations);
            return admin.describeTopics(names, options).allTopicNames().get().values().stream()
                .map(Described::of).sorted(Comparator.comparing(Described::name)).toList();
        }
    }

    record ListOffsets(List<Partition> partitions, long spec) implements Operation {
        record Listed(Partition partition, long offset, long timestamp, Integer leaderEpoch) {
            static Listed of(TopicPartition partition, ListOffsetsResultInfo found) {
                return new Listed(
                    Partition.of(partition), found.offset(), found.timestamp(), found.leaderEpoch().orElse(null)
                );
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
            Plain.kafka(partitions).forEach(partition -> asked.put(partition, offsetSpec()));
            List<Listed> listed = new ArrayList<>();
            admin.listOffsets(asked).all().get()
                .forEach((partition, found) -> listed.add(Listed.of(partition, found)));
            listed.sort(Comparator.comparing(Listed::partition, Partition.ORDER));
            return listed;
        }

        private OffsetSpec offsetSpec() {
            if (spec >= 0) {
                return OffsetSpec.forTimestamp(spec);
            }
            return switch ((int) spec) {
                case -1 -> OffsetSpec.latest();
                case -2 -> OffsetSpec.earliest();
                case -3 -> OffsetSpec.maxTimestamp();
                case -4 -> OffsetSpec.earliestLocal();
                case -5 -> OffsetSpec.latestTiered();
                default -> throw new IllegalArgumentException("no offset spec " + spec);
            };
        }
    }

    record ListReassignments() implements Operation {
        record Listed(Partition partition, List<Integer> replicas, List<Integer> adding, List<Integer> removing) {
            static Listed of(TopicPartition partition, PartitionReassignment reassignment) {
                return new Listed(
                    Partition.of(partition), reassignment.replicas(), reassignment.addingReplicas(),
                    reassignment.removingReplicas()
                );
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            List<Listed> listed = new ArrayList<>();
            admin.listPartitionReassignments().reassignments().get()
                .forEach((partition, reassignment) -> listed.add(Listed.of(partition, reassignment)));
            listed.sort(Comparator.comparing(Listed::partition, Partition.ORDER));
            return listed;
        }
    }

    record DescribeReplicaLogDirs(List<Partition> partitions, int broker) implements Operation {
        record Described(
            Partition partition, String currentPath, long currentOffsetLag, String futurePath, long futureOffsetLag
        ) {
            static Described of(TopicPartitionReplica replica, ReplicaLogDirInfo found) {
                return new Described(
                    new Partition(replica.topic(), replica.partition()),
                    found.getCurrentReplicaLogDir(), found.getCurrentReplicaOffsetLag(),
                    found.getFutureReplicaLogDir(), found.getFutureReplicaOffsetLag()
                );
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            List<TopicPartitionReplica> asked = partitions.stream()
                .map(partition -> new TopicPartitionReplica(partition.topic(), partition.partition(), broker)).toList();
            List<Described> described = new ArrayList<>();
            admin.describeReplicaLogDirs(asked).all().get()
                .forEach((replica, found) -> described.add(Described.of(replica, found)));
            described.sort(Comparator.comparing(Described::partition, Partition.ORDER));
            return described;
        }
    }

    private TopicFamily() {
    }
}
