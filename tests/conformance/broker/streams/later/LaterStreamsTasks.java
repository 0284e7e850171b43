import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.coordinator.group.api.streams.assignor.TopologyDescriber;
import org.apache.kafka.coordinator.group.streams.assignor.AssignmentConfigsImpl;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpecImpl;
import org.apache.kafka.coordinator.group.streams.assignor.MemberMetadataAndStateImpl;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;

/** Answers JSON lines with the tasks that the assignor of Kafka 4.4 gives to each member of a streams group. */
public final class LaterStreamsTasks {
    private static final ObjectMapper JSON = new ObjectMapper();

    private LaterStreamsTasks() {
    }

    public static void main(String[] arguments) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(JSON.writeValueAsString(assigned(JSON.readTree(line))));
            System.out.flush();
        }
    }

    private static JsonNode assigned(JsonNode question) {
        Map<String, MemberMetadataAndStateImpl> members = new HashMap<>();
        question.get("members").properties().forEach(member -> {
            JsonNode previous = member.getValue().get("previous");
            Map<String, Map<Integer, Long>> offsets = new HashMap<>();
            member.getValue().get("offsets").forEach(each -> offsets
                .computeIfAbsent(each.get(0).asText(), name -> new HashMap<>())
                .put(each.get(1).asInt(), each.get(2).asLong()));
            members.put(member.getKey(), new MemberMetadataAndStateImpl(
                Optional.empty(),
                Optional.empty(),
                member.getValue().get("process").asText(),
                Map.of(),
                tasks(previous.get(0)),
                tasks(previous.get(1)),
                tasks(previous.get(2)),
                offsets,
                Map.of()));
        });
        var configs = AssignmentConfigsImpl.fromMap(Map.of("num.standby.replicas", question.get("replicas").asText()));
        ObjectNode answer = JSON.createObjectNode();
        new StickyTaskAssignor()
            .assign(new GroupSpecImpl(members, configs), new Described(question.get("subtopologies")))
            .members()
            .forEach((memberId, given) -> answer.putArray(memberId)
                .add(sorted(given.activeTasks())).add(sorted(given.standbyTasks())).add(JSON.createObjectNode()));
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
}
