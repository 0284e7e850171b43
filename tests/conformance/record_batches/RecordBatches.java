import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.internals.ByteBufferOutputStream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * What Apache Kafka's own record classes write and read. The argument is a file of JSON lines; each is answered by one.
 *
 * <pre>
 * {"hex": H}                                     a list of batches, each with its fields and "records"
 * {"magic": M, "codec": C, ..., "records": [R]}  {"hex": "..."}, see {@link #write}
 * </pre>
 *
 * What fails is answered with {"error": "..."}. Keys, values and header values are hexadecimal or null.
 */
public final class RecordBatches {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws IOException {
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            JsonNode question = JSON.readTree(line);
            JsonNode answer;
            try {
                answer = question.has("hex") ? read(question) : write(question);
            } catch (RuntimeException | Error failure) {
                answer = JSON.createObjectNode().put("error", failure.toString());
            }
            System.out.println(JSON.writeValueAsString(answer));
        }
    }

    private static JsonNode write(JsonNode question) {
        ByteBufferOutputStream out = new ByteBufferOutputStream(1024);
        Compression compression = Compression.of(CompressionType.forId(question.get("codec").asInt())).build();
        boolean appendTime = question.hasNonNull("log_append_time");
        boolean control = question.get("control").asBoolean();
        try (MemoryRecordsBuilder builder = new MemoryRecordsBuilder(
                out,
                (byte) question.get("magic").asInt(),
                compression,
                question.get("magic").asInt() == 0 ? TimestampType.NO_TIMESTAMP_TYPE
                    : appendTime ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME,
                question.get("base_offset").asLong(),
                appendTime ? question.get("log_append_time").asLong() : -1L,
                question.get("producer_id").asLong(),
                (short) question.get("producer_epoch").asInt(),
                question.get("base_sequence").asInt(),
                question.get("transactional").asBoolean(),
                control,
                question.get("partition_leader_epoch").asInt(),
                Integer.MAX_VALUE,
                question.hasNonNull("delete_horizon_ms") ? question.get("delete_horizon_ms").asLong() : -1L)) {
            for (JsonNode record : question.get("records")) {
                SimpleRecord simple = new SimpleRecord(
                    record.get("timestamp").asLong(), bytes(record.get("key")), bytes(record.get("value")), headers(record));
                if (control) {
                    builder.appendControlRecordWithOffset(record.get("offset").asLong(), simple);
                } else {
                    builder.appendWithOffset(record.get("offset").asLong(), simple);
                }
            }
            ByteBuffer buffer = builder.build().buffer();
            return JSON.createObjectNode().put("hex", hex(buffer));
        }
    }

    private static JsonNode read(JsonNode question) {
        ByteBuffer buffer = ByteBuffer.wrap(HexFormat.of().parseHex(question.get("hex").asText()));
        ArrayNode batches = JSON.createArrayNode();
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(buffer).batches()) {
            batch.ensureValid();
            ObjectNode fields = batches.addObject();
            fields.put("magic", batch.magic());
            fields.put("codec", batch.compressionType().id);
            fields.put("size", batch.sizeInBytes());
            fields.put("crc", batch.checksum());
            fields.put("base_offset", batch.baseOffset());
            fields.put("last_offset", batch.lastOffset());
            fields.put("max_timestamp", batch.maxTimestamp());
            fields.put("timestamp_type", batch.timestampType().id);
            fields.put("producer_id", batch.producerId());
            fields.put("producer_epoch", batch.producerEpoch());
            fields.put("base_sequence", batch.baseSequence());
            fields.put("last_sequence", batch.lastSequence());
            fields.put("partition_leader_epoch", batch.partitionLeaderEpoch());
            fields.put("transactional", batch.isTransactional());
            fields.put("control", batch.isControlBatch());
            if (batch.deleteHorizonMs().isPresent()) {
                fields.put("delete_horizon_ms", batch.deleteHorizonMs().getAsLong());
            } else {
                fields.putNull("delete_horizon_ms");
            }
            ArrayNode records = fields.putArray("records");
            for (Record record : batch) {
                record.ensureValid();
                ObjectNode entry = records.addObject();
                entry.put("offset", record.offset());
                entry.put("timestamp", record.timestamp());
                entry.put("sequence", record.sequence());
                entry.put("key", record.hasKey() ? hex(record.key()) : null);
                entry.put("value", record.hasValue() ? hex(record.value()) : null);
                ArrayNode headers = entry.putArray("headers");
                for (Header header : record.headers()) {
                    ArrayNode pair = headers.addArray();
                    pair.add(header.key());
                    pair.add(header.value() == null ? null : HexFormat.of().formatHex(header.value()));
                }
            }
        }
        return batches;
    }

    private static Header[] headers(JsonNode record) {
        Header[] headers = new Header[record.get("headers").size()];
        for (int i = 0; i < headers.length; i++) {
            JsonNode pair = record.get("headers").get(i);
            headers[i] = new RecordHeader(pair.get(0).asText(), bytes(pair.get(1)));
        }
        return headers;
    }

    private static byte[] bytes(JsonNode hex) {
        return hex.isNull() ? null : HexFormat.of().parseHex(hex.asText());
    }

    private static String hex(ByteBuffer buffer) {
        byte[] copy = new byte[buffer.remaining()];
        buffer.duplicate().get(copy);
        return HexFormat.of().formatHex(copy);
    }
}
