import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;

import org.apache.kafka.coordinator.share.PersisterStateBatchCombiner;
import org.apache.kafka.server.share.persister.PersisterStateBatch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How Apache Kafka's share coordinator combines deliveries. The argument is a file of JSON lines; each is answered by one.
 *
 * <pre>
 * {"before": [[first, last, state, count]], "now": [...], "start_offset": S}   the combined batches, in the same form
 * </pre>
 */
public final class ShareDeliveries {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws IOException {
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            JsonNode question = JSON.readTree(line);
            ArrayNode answer = JSON.createArrayNode();
            for (PersisterStateBatch batch : new PersisterStateBatchCombiner(
                    batches(question.get("before")), batches(question.get("now")), question.get("start_offset").asLong()
                ).combineStateBatches()) {
                answer.addArray().add(batch.firstOffset()).add(batch.lastOffset()).add(batch.deliveryState()).add(batch.deliveryCount());
            }
            System.out.println(JSON.writeValueAsString(answer));
        }
    }

    private static List<PersisterStateBatch> batches(JsonNode listed) {
        List<PersisterStateBatch> batches = new ArrayList<>();
        for (JsonNode each : listed) {
            batches.add(new PersisterStateBatch(
                each.get(0).asLong(), each.get(1).asLong(), (byte) each.get(2).asInt(), (short) each.get(3).asInt()));
        }
        return batches;
    }
}
