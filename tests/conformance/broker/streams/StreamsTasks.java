import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.generated.StreamsGroupTopologyValue;
import org.apache.kafka.coordinator.group.streams.StreamsTopology;
import org.apache.kafka.coordinator.group.streams.assignor.AssignmentMemberSpec;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpecImpl;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;
import org.apache.kafka.coordinator.group.streams.assignor.TopologyDescriber;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredInternalTopic;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredTopology;
import org.apache.kafka.coordinator.group.streams.topics.InternalTopicManager;
import org.slf4j.helpers.NOPLogger;

/**
 * Answers JSON lines with what Kafka's group coordinator computes of streams groups: {@code "op": "assign"} the tasks
 * of each member, {@code "configure"} the tasks and internal topics of a topology, or the error.
 */
public final class StreamsTasks {
    private static final ObjectMapper JSON = new ObjectMapper();

    private StreamsTasks() {
    }

    public static void main(String[] arguments) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode question = JSON.readTree(line);
            JsonNode answer = question.get("op").asText().equals("assign") ? assigned(question) : configured(question);
            System.out.println(JSON.writeValueAsString(answer));
            System.out.flush();
        }
    }

    private static JsonNode assigned(JsonNode question) {
        Map<String, AssignmentMemberSpec> members = new HashMap<>();
        question.get("members").properties().forEach(member -> {
            JsonNode target = member.getValue().get("previous");
            members.put(member.getKey(), new AssignmentMemberSpec(
                Optional.empty(),
                Optional.empty(),
                tasks(target.get(0)),
                tasks(target.get(1)),
                tasks(target.get(2)),
                member.getValue().get("process").asText(),
                Map.of(),
                Map.of(),
                Map.of()));
        });
        Map<String, String> configs = Map.of("num.standby.replicas", question.get("replicas").asText());
        ObjectNode answer = JSON.createObjectNode();
        new StickyTaskAssignor()
            .assign(new GroupSpecImpl(Collections.unmodifiableMap(members), configs), new Described(question.get("subtopologies")))
            .members()
            .forEach((memberId, given) -> answer.putArray(memberId)
                .add(sorted(given.activeTasks())).add(sorted(given.standbyTasks())).add(sorted(given.warmupTasks())));
        return answer;
    }

    private static Map<String, Set<Integer>> tasks(JsonNode subtopologies) {
        Map<String, Set<Integer>> tasks = new HashMap<>();
        subtopologies.properties().forEach(each -> {
            Set<Integer> partitions = new HashSet<>();
            each.getValue().forEach(partition -> partitions.add(partition.asInt()));
            tasks.put(each.getKey(), partitions);
        });
        return tasks;
    }

    private static JsonNode sorted(Map<String, Set<Integer>> tasks) {
        ObjectNode node = JSON.createObjectNode();
        new TreeMap<>(tasks).forEach((subtopology, partitions) -> {
            ArrayNode each = node.putArray(subtopology);
            new TreeSet<>(partitions).forEach(each::add);
        });
        return node;
    }

    private static JsonNode configured(JsonNode question) {
        Map<String, Integer> topics = new HashMap<>();
        question.get("topics").properties().forEach(topic -> topics.put(topic.getKey(), topic.getValue().asInt()));
        byte[] octets = Base64.getDecoder().decode(question.get("topology").asText());
        try {
            return shown(InternalTopicManager.configureTopics(
                NOPLogger.NOP_LOGGER,
                "group",
                "member",
                0,
                StreamsTopology.fromRecord(
                    new StreamsGroupTopologyValue(new ByteBufferAccessor(ByteBuffer.wrap(octets)), (short) 0)),
                new Topics(topics),
                Time.SYSTEM));
        } catch (RuntimeException error) {
            ApiError refused = ApiError.fromThrowable(error);
            return JSON.createObjectNode()
                .put("error", refused.error().code())
                .put("message", refused.error() == Errors.UNKNOWN_SERVER_ERROR ? null : refused.message());
        }
    }

    private static JsonNode shown(ConfiguredTopology topology) {
        ObjectNode answer = JSON.createObjectNode();
        ArrayNode subtopologies = answer.putArray("subtopologies");
        topology.subtopologies().ifPresent(all -> all.forEach((id, each) -> subtopologies.addArray()
            .add(id)
            .add(each.numberOfTasks())
            .add(names(each.sourceTopics()))
            .add(shown(each.repartitionSourceTopics()))
            .add(names(each.repartitionSinkTopics()))
            .add(shown(each.stateChangelogTopics()))));
        ArrayNode internal = answer.putArray("internal");
        topology.internalTopicsToBeCreated().values().forEach(topic -> {
            ArrayNode configs = internal.addArray()
                .add(topic.name()).add(topic.numPartitions()).add(topic.replicationFactor()).addArray();
            topic.configs().forEach(config -> configs.addArray().add(config.name()).add(config.value()));
        });
        topology.topicConfigurationException().ifPresentOrElse(
            problem -> answer.putArray("problem").add(problem.status().code()).add(problem.getMessage()),
            () -> answer.putNull("problem"));
        return answer;
    }

    private static ArrayNode names(Set<String> names) {
        ArrayNode answer = JSON.createArrayNode();
        new TreeSet<>(names).forEach(answer::add);
        return answer;
    }

    private static ArrayNode shown(Map<String, ConfiguredInternalTopic> topics) {
        ArrayNode answer = JSON.createArrayNode();
        topics.values().forEach(topic -> {
            ArrayNode configs = answer.addArray()
                .add(topic.name())
                .add(topic.numberOfPartitions())
                .add(topic.replicationFactor().orElse((short) 0))
                .addArray();
            topic.topicConfigs().forEach((key, value) -> configs.addArray().add(key).add(value));
        });
        return answer;
    }

    private record Described(JsonNode described) implements TopologyDescriber {
        @Override
        public List<String> subtopologies() {
            TreeSet<String> ids = new TreeSet<>();
            described.fieldNames().forEachRemaining(ids::add);
            return new ArrayList<>(ids);
        }

        @Override
        public int maxNumInputPartitions(String subtopologyId) {
            return described.get(subtopologyId).get("tasks").asInt();
        }

        @Override
        public boolean isStateful(String subtopologyId) {
            return described.get(subtopologyId).get("is_stateful").asBoolean();
        }
    }

    private record Topics(Map<String, Integer> partitions) implements CoordinatorMetadataImage {
        @Override
        public Set<Uuid> topicIds() {
            return Set.of();
        }

        @Override
        public Set<String> topicNames() {
            return partitions.keySet();
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(String name) {
            return Optional.ofNullable(partitions.get(name)).map(count -> new Topic(name, count));
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(Uuid id) {
            return Optional.empty();
        }

        @Override
        public CoordinatorMetadataDelta emptyDelta() {
            return null;
        }

        @Override
        public long version() {
            return 1;
        }

        @Override
        public boolean isEmpty() {
            return partitions.isEmpty();
        }
    }

    private record Topic(String name, int partitionCount) implements CoordinatorMetadataImage.TopicMetadata {
        @Override
        public Uuid id() {
            return Uuid.ZERO_UUID;
        }

        @Override
        public List<String> partitionRacks(int partition) {
            return List.of();
        }
    }
}
