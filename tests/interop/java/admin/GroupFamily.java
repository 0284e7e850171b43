package admin;

import admin.Plain.Partition;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ClassicGroupDescription;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.MemberAssignment;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.ShareGroupDescription;
import org.apache.kafka.clients.admin.ShareMemberDescription;
import org.apache.kafka.clients.admin.SharePartitionOffsetInfo;
import org.apache.kafka.clients.admin.StreamsGroupDescription;
import org.apache.kafka.clients.admin.StreamsGroupMemberDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Groups of every kind, and their offsets. */
final class GroupFamily {
    record Member(
        String memberId, String instanceId, String rackId, String clientId, String host, Integer epoch,
        List<Partition> assignment, List<Partition> targetAssignment
    ) {
        static Member of(MemberDescription member) {
            return new Member(
                member.consumerId(), member.groupInstanceId().orElse(null), member.rackId().orElse(null),
                member.clientId(), member.host(), member.memberEpoch().orElse(null),
                Plain.partitions(member.assignment().topicPartitions()),
                member.targetAssignment().map(MemberAssignment::topicPartitions).map(Plain::partitions).orElse(null)
            );
        }

        static Member of(ShareMemberDescription member) {
            return new Member(
                member.consumerId(), null, member.rackId().orElse(null), member.clientId(), member.host(),
                member.memberEpoch(), Plain.partitions(member.assignment().topicPartitions()), null
            );
        }

        static Member of(StreamsGroupMemberDescription member) {
            return new Member(
                member.memberId(), member.instanceId().orElse(null), member.rackId().orElse(null), member.clientId(),
                member.clientHost(), member.memberEpoch(), null, null
            );
        }
    }

    /** What a kind of group does not have is null. */
    record Described(
        String groupId, String type, String state, String protocol, String assignor, Boolean simple, Integer epoch,
        Integer assignmentEpoch, Integer topologyEpoch, Integer coordinator, List<String> authorizedOperations,
        List<Member> members
    ) {
        static Described of(ConsumerGroupDescription group) {
            return new Described(
                group.groupId(), group.type().name(), group.groupState().name(), null, group.partitionAssignor(),
                group.isSimpleConsumerGroup(), group.groupEpoch().orElse(null),
                group.targetAssignmentEpoch().orElse(null), null, Plain.id(group.coordinator()),
                Plain.names(group.authorizedOperations()), sorted(group.members().stream().map(Member::of).toList())
            );
        }

        static Described of(ClassicGroupDescription group) {
            return new Described(
                group.groupId(), "CLASSIC", group.state().name(), group.protocol(), group.protocolData(),
                group.isSimpleConsumerGroup(), null, null, null, Plain.id(group.coordinator()),
                Plain.names(group.authorizedOperations()), sorted(group.members().stream().map(Member::of).toList())
            );
        }

        static Described of(ShareGroupDescription group) {
            return new Described(
                group.groupId(), "SHARE", group.groupState().name(), null, null, null, group.groupEpoch(),
                group.targetAssignmentEpoch(), null, Plain.id(group.coordinator()),
                Plain.names(group.authorizedOperations()), sorted(group.members().stream().map(Member::of).toList())
            );
        }

        static Described of(StreamsGroupDescription group) {
            return new Described(
                group.groupId(), "STREAMS", group.groupState().name(), null, null, null, group.groupEpoch(),
                group.targetAssignmentEpoch(), group.topologyEpoch(), Plain.id(group.coordinator()),
                Plain.names(group.authorizedOperations()), sorted(group.members().stream().map(Member::of).toList())
            );
        }

        private static List<Member> sorted(List<Member> members) {
            return members.stream().sorted(Comparator.comparing(Member::memberId)).toList();
        }
    }

    record ListGroups() implements Operation {
        record Listed(String groupId, String type, String protocol, String state, boolean simple) {
            static Listed of(GroupListing group) {
                return new Listed(
                    group.groupId(), group.type().map(Enum::name).orElse(null), group.protocol(),
                    group.groupState().map(Enum::name).orElse(null), group.isSimpleConsumerGroup()
                );
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            return admin.listGroups().all().get().stream()
                .map(Listed::of).sorted(Comparator.comparing(Listed::groupId)).toList();
        }
    }

    record DescribeGroups(List<String> groups, String kind) implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            Collection<Described> described = switch (kind) {
                case "classic" -> admin.describeClassicGroups(groups).all().get().values().stream()
                    .map(Described::of).toList();
                case "consumer" -> admin.describeConsumerGroups(groups).all().get().values().stream()
                    .map(Described::of).toList();
                case "share" -> admin.describeShareGroups(groups).all().get().values().stream()
                    .map(Described::of).toList();
                case "streams" -> admin.describeStreamsGroups(groups).all().get().values().stream()
                    .map(Described::of).toList();
                default -> throw new IllegalArgumentException("no kind of group " + kind);
            };
            return described.stream().sorted(Comparator.comparing(Described::groupId)).toList();
        }
    }

    record ListGroupOffsets(String group) implements Operation {
        record Listed(Partition partition, long offset, Integer leaderEpoch, String metadata) {
            static Listed of(TopicPartition partition, OffsetAndMetadata offset) {
                return new Listed(
                    Partition.of(partition), offset.offset(), offset.leaderEpoch().orElse(null), offset.metadata()
                );
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            Map<TopicPartition, OffsetAndMetadata> offsets =
                admin.listConsumerGroupOffsets(Map.of(group, new ListConsumerGroupOffsetsSpec()))
                    .partitionsToOffsetAndMetadata(group).get();
            List<Listed> listed = new ArrayList<>();
            offsets.entrySet().stream().filter(entry -> Objects.nonNull(entry.getValue()))
                .forEach(entry -> listed.add(Listed.of(entry.getKey(), entry.getValue())));
            listed.sort(Comparator.comparing(Listed::partition, Partition.ORDER));
            return listed;
        }
    }

    record ListShareGroupOffsets(String group) implements Operation {
        record Listed(Partition partition, long startOffset, Integer leaderEpoch, Long lag) {
            static Listed of(TopicPartition partition, SharePartitionOffsetInfo offset) {
                return new Listed(
                    Partition.of(partition), offset.startOffset(), offset.leaderEpoch().orElse(null),
                    offset.lag().orElse(null)
                );
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            Map<TopicPartition, SharePartitionOffsetInfo> offsets =
                admin.listShareGroupOffsets(Map.of(group, new ListShareGroupOffsetsSpec()))
                    .partitionsToOffsetInfo(group).get();
            List<Listed> listed = new ArrayList<>();
            offsets.entrySet().stream().filter(entry -> Objects.nonNull(entry.getValue()))
                .forEach(entry -> listed.add(Listed.of(entry.getKey(), entry.getValue())));
            listed.sort(Comparator.comparing(Listed::partition, Partition.ORDER));
            return listed;
        }
    }

    private GroupFamily() {
    }
}
