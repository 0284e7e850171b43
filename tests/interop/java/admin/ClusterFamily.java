package admin;

import admin.Plain.Broker;
import admin.Plain.Partition;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.FeatureMetadata;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.common.protocol.Errors;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/** Nodes, features, the quorum and log directories. */
final class ClusterFamily {
    record DescribeCluster(boolean authorizedOperations, boolean fencedBrokers) implements Operation {
        record Described(String clusterId, Integer controller, List<Broker> nodes, List<String> authorizedOperations) {
        }

        @Override
        public Object run(Admin admin) throws Exception {
            DescribeClusterOptions options = new DescribeClusterOptions()
                .includeAuthorizedOperations(authorizedOperations).includeFencedBrokers(fencedBrokers);
            DescribeClusterResult result = admin.describeCluster(options);
            List<Broker> nodes = result.nodes().get().stream()
                .map(Broker::of).sorted(Comparator.comparingInt(Broker::id)).toList();
            return new Described(
                result.clusterId().get(), Plain.id(result.controller().get()), nodes,
                Plain.names(result.authorizedOperations().get())
            );
        }
    }

    record DescribeFeatures() implements Operation {
        record Range(int lowest, int highest) {
        }

        record Described(Map<String, Range> supported, Map<String, Range> finalized, Long epoch) {
        }

        @Override
        public Object run(Admin admin) throws Exception {
            FeatureMetadata features = admin.describeFeatures().featureMetadata().get();
            Map<String, Range> supported = new TreeMap<>();
            features.supportedFeatures().forEach(
                (name, range) -> supported.put(name, new Range(range.minVersion(), range.maxVersion()))
            );
            Map<String, Range> finalized = new TreeMap<>();
            features.finalizedFeatures().forEach(
                (name, range) -> finalized.put(name, new Range(range.minVersionLevel(), range.maxVersionLevel()))
            );
            return new Described(supported, finalized, features.finalizedFeaturesEpoch().orElse(null));
        }
    }

    record DescribeQuorum() implements Operation {
        record Replica(
            int id, String directoryId, long logEndOffset, Long lastFetchTimestamp, Long lastCaughtUpTimestamp
        ) {
            static List<Replica> of(List<QuorumInfo.ReplicaState> states) {
                return states.stream().map(
                    state -> new Replica(
                        state.replicaId(), state.replicaDirectoryId().toString(), state.logEndOffset(),
                        orNull(state.lastFetchTimestamp()), orNull(state.lastCaughtUpTimestamp())
                    )
                ).sorted(Comparator.comparingInt(Replica::id)).toList();
            }
        }

        record Described(
            int leaderId, long leaderEpoch, long highWatermark, List<Replica> voters, List<Replica> observers
        ) {
        }

        @Override
        public Object run(Admin admin) throws Exception {
            QuorumInfo quorum = admin.describeMetadataQuorum().quorumInfo().get();
            return new Described(
                quorum.leaderId(), quorum.leaderEpoch(), quorum.highWatermark(),
                Replica.of(quorum.voters()), Replica.of(quorum.observers())
            );
        }
    }

    record DescribeLogDirs(List<Integer> brokers) implements Operation {
        record Replica(Partition partition, long size, long offsetLag, boolean future) {
        }

        record LogDir(
            int broker, String path, String error, Long totalBytes, Long usableBytes, boolean cordoned,
            List<Replica> replicas
        ) {
            static LogDir of(int broker, String path, LogDirDescription described) {
                List<Replica> replicas = new ArrayList<>();
                described.replicaInfos().forEach(
                    (partition, replica) -> replicas.add(
                        new Replica(Partition.of(partition), replica.size(), replica.offsetLag(), replica.isFuture())
                    )
                );
                replicas.sort(Comparator.comparing(Replica::partition, Partition.ORDER));
                return new LogDir(
                    broker, path, described.error() == null ? null : Errors.forException(described.error()).name(),
                    orNull(described.totalBytes()), orNull(described.usableBytes()), described.isCordoned(), replicas
                );
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            Collection<LogDir> described = new ArrayList<>();
            admin.describeLogDirs(brokers).allDescriptions().get().forEach(
                (broker, logDirs) -> logDirs.forEach((path, logDir) -> described.add(LogDir.of(broker, path, logDir)))
            );
            return described.stream()
                .sorted(Comparator.comparingInt(LogDir::broker).thenComparing(LogDir::path)).toList();
        }
    }

    private ClusterFamily() {
    }

    private static Long orNull(OptionalLong number) {
        return number.isPresent() ? number.getAsLong() : null;
    }
}
