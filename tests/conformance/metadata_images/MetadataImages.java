import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.writer.ImageWriterOptions;
import org.apache.kafka.image.writer.RecordListWriter;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * The state that Apache Kafka's own classes make of metadata records. The argument is a file of JSON lines.
 *
 * <pre>
 * {"records": [H], "step": N}   {"records": [H]}, those of a snapshot of the state; N records at a time are applied
 * </pre>
 *
 * Records are hexadecimal. What fails is answered with {"error": "..."}.
 */
public final class MetadataImages {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final MetadataRecordSerde SERDE = new MetadataRecordSerde();

    public static void main(String[] arguments) throws IOException {
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            JsonNode question = JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode();
            try {
                written(imageOf(question.get("records"), question.get("step").asInt()), answer.putArray("records"));
            } catch (RuntimeException | Error failure) {
                answer = JSON.createObjectNode().put("error", failure.toString());
            }
            System.out.println(JSON.writeValueAsString(answer));
        }
    }

    private static MetadataImage imageOf(JsonNode records, int step) {
        MetadataImage image = MetadataImage.EMPTY;
        for (int first = 0; first < records.size(); first += step) {
            MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
            for (int at = first; at < Math.min(first + step, records.size()); at++) {
                byte[] octets = HexFormat.of().parseHex(records.get(at).asText());
                delta.replay(SERDE.read(new ByteBufferAccessor(ByteBuffer.wrap(octets)), octets.length).message());
            }
            image = delta.apply(new MetadataProvenance(first, 1, 1L, true));
        }
        return image;
    }

    private static void written(MetadataImage image, ArrayNode out) {
        RecordListWriter writer = new RecordListWriter();
        image.write(writer, new ImageWriterOptions.Builder(image).setEligibleLeaderReplicasEnabled(true).build());
        for (ApiMessageAndVersion record : writer.records()) {
            ObjectSerializationCache cache = new ObjectSerializationCache();
            ByteBuffer buffer = ByteBuffer.allocate(SERDE.recordSize(record, cache));
            SERDE.write(record, cache, new ByteBufferAccessor(buffer));
            out.add(HexFormat.of().formatHex(buffer.array()));
        }
    }
}
