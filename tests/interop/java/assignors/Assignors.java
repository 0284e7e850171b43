import com.dynatrace.hash4j.hashing.Hashing;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordHelpers;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.apache.kafka.coordinator.group.modern.TopicIds;

/**
 * Answers JSON lines with what Kafka's group coordinator computes: {@code "op": "assign"} the assignment of a group,
 * member id to a list of topic id and partitions; {@code "hash"} the XXH3 hash of bytes in hexadecimal;
 * {@code "match"} which names match a regular expression, or null if it is refused.
 */
public final class Assignors {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Assignors() {
    }

    public static void main(String[] arguments) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode question = JSON.readTree(line);
            System.out.println(JSON.writeValueAsString(switch (question.get("op").asText()) {
                case "assign" -> assigned(question);
                case "hash" -> Hashing.xxh3_64().hashBytesToLong(HexFormat.of().parseHex(question.get("hex").asText()));
                default -> matching(question);
            }));
            System.out.flush();
        }
    }

    private static ObjectNode assigned(JsonNode question) {
        Map<String, Uuid> ids = new HashMap<>();
        Map<Uuid, Integer> partitions = new HashMap<>();
        for (JsonNode topic : question.get("topics")) {
            Uuid id = Uuid.fromString(topic.get("id").asText());
            ids.put(topic.get("name").asText(), id);
            partitions.put(id, topic.get("partitions").asInt());
        }
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        for (JsonNode member : question.get("members")) {
            String memberId = member.get("id").asText();
            Assignment target = Assignment.fromRecord(record(member.get("target")));
            target.partitions().forEach((topic, each) -> each.forEach(partition ->
                inverted.computeIfAbsent(topic, __ -> new HashMap<>()).put(partition, memberId)));
            List<String> names = new ArrayList<>();
            member.get("topics").forEach(name -> names.add(name.asText()));
            members.put(memberId, new MemberSubscriptionAndAssignmentImpl(
                Optional.empty(),
                Optional.ofNullable(member.get("instance").textValue()),
                new TopicIds(new HashSet<>(names), new Resolver(ids)),
                target));
        }
        PartitionAssignor assignor = switch (question.get("assignor").asText()) {
            case "range" -> new RangeAssignor();
            case "uniform" -> new UniformAssignor();
            default -> new SimpleAssignor();
        };
        GroupAssignment result = assignor.assign(
            new GroupSpecImpl(
                Collections.unmodifiableMap(members),
                question.get("homogeneous").asBoolean() ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS,
                inverted,
                assignable(question.get("assignable"))),
            new Describer(partitions));
        ObjectNode answer = JSON.createObjectNode();
        result.members().forEach((memberId, assignment) -> {
            var value = (ConsumerGroupTargetAssignmentMemberValue) GroupCoordinatorRecordHelpers
                .newConsumerGroupTargetAssignmentRecord("g", memberId, assignment.partitions()).value().message();
            ArrayNode topics = answer.putArray(memberId);
            value.topicPartitions().forEach(topic -> {
                ArrayNode pair = topics.addArray().add(topic.topicId().toString());
                ArrayNode given = pair.addArray();
                topic.partitions().forEach(given::add);
            });
        });
        return answer;
    }

    private static Optional<Map<Uuid, Set<Integer>>> assignable(JsonNode topics) {
        if (topics.isNull()) {
            return Optional.empty();
        }
        Map<Uuid, Set<Integer>> partitions = new HashMap<>();
        for (JsonNode topic : topics) {
            Set<Integer> each = new HashSet<>();
            topic.get(1).forEach(partition -> each.add(partition.asInt()));
            partitions.put(Uuid.fromString(topic.get(0).asText()), each);
        }
        return Optional.of(partitions);
    }

    private static ConsumerGroupTargetAssignmentMemberValue record(JsonNode topics) {
        var value = new ConsumerGroupTargetAssignmentMemberValue();
        for (JsonNode topic : topics) {
            List<Integer> partitions = new ArrayList<>();
            topic.get(1).forEach(partition -> partitions.add(partition.asInt()));
            value.topicPartitions().add(new ConsumerGroupTargetAssignmentMemberValue.TopicPartition()
                .setTopicId(Uuid.fromString(topic.get(0).asText())).setPartitions(partitions));
        }
        return value;
    }

    private static JsonNode matching(JsonNode question) {
        try {
            Pattern pattern = Pattern.compile(question.get("pattern").asText());
            ArrayNode names = JSON.createArrayNode();
            question.get("names").forEach(name -> {
                if (pattern.matcher(name.asText()).matches()) {
                    names.add(name.asText());
                }
            });
            return names;
        } catch (PatternSyntaxException refused) {
            return JSON.nullNode();
        }
    }

    private record Resolver(Map<String, Uuid> ids) implements TopicIds.TopicResolver {
        @Override
        public CoordinatorMetadataImage image() {
            return CoordinatorMetadataImage.EMPTY;
        }

        @Override
        public String name(Uuid id) {
            return ids.entrySet().stream().filter(each -> each.getValue().equals(id)).map(Map.Entry::getKey)
                .findFirst().orElse(null);
        }

        @Override
        public Uuid id(String name) {
            return ids.get(name);
        }

        @Override
        public void clear() {
        }
    }

    private record Describer(Map<Uuid, Integer> partitions) implements SubscribedTopicDescriber {
        @Override
        public int numPartitions(Uuid topicId) {
            return partitions.getOrDefault(topicId, -1);
        }

        @Override
        public Set<String> racksForPartition(Uuid topicId, int partition) {
            return Set.of();
        }
    }
}
