package oracle;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.RawTaggedField;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * A filter on JSON lines that says what Apache Kafka's own generated classes make of bytes and of JSON.
 *
 * <pre>
 * {"op": "classes"}                                     {"classes": {"MetadataRequestData": {"lowest": 0, "highest": 13, "json": true}, ...}}
 * {"op": "apis"}                                        {"apis": {"3": {"name": "Metadata", "lowest": 0, ...}, ...}}
 * {"op": "record_types"}                                {"record_types": {"org...metadata": {"20": ["NoOpRecord"], ...}, ...}}
 * {"op": "default", "name": N, "version": V}            {"json": {...}, "hex": "..."}
 * {"op": "decode", "name": N, "version": V, "hex": H}   {"json": {...}, "hex": "...", "read": 12}
 * {"op": "encode", "name": N, "version": V, "json": J}  {"hex": "..."}
 * </pre>
 *
 * "default" may also have "nulls", a list of fields that are set to null, and "unknown_tags", a list of
 * [tag, hex] that are put into the message. "hex" in the answer to "decode" is the value encoded again, "read" how many bytes it took; "json" is missing where
 * Kafka has no JSON form of the message. What fails is told by {"error": {"stage", "kind", "message"}} beside what was
 * done before it, stage being "find", "read", "write", "from_json" or "to_json".
 */
public final class Oracle {
    private static final ObjectMapper JSON =
        JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    private final MessageClasses classes;

    private Oracle(MessageClasses classes) {
        this.classes = classes;
    }

    public static void main(String[] arguments) throws IOException {
        Oracle oracle = new Oracle(MessageClasses.onClassPath());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8), 1 << 16);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.write(JSON.writeValueAsString(oracle.answer(line)));
            out.write('\n');
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }

    private ObjectNode answer(String line) throws JsonProcessingException {
        JsonNode question = JSON.readTree(line);
        ObjectNode answer = JSON.createObjectNode();
        try {
            switch (question.get("op").asText()) {
                case "classes" -> describeClasses(answer);
                case "apis" -> Tables.putApis(answer.putObject("apis"));
                case "record_types" -> Tables.putRecordTypes(classes.recordTypes(), answer.putObject("record_types"));
                case "default" -> encodeDefault(question, answer);
                case "decode" -> decode(question, answer);
                case "encode" -> encode(question, answer);
                default -> throw new OracleException("find", "no such operation: " + question.get("op"));
            }
        } catch (OracleException failure) {
            answer.set("error", failure.toJson(JSON));
        }
        return answer;
    }

    private void describeClasses(ObjectNode answer) throws OracleException {
        ObjectNode described = answer.putObject("classes");
        for (MessageClass messageClass : classes.all()) {
            described.putObject(messageClass.simpleName())
                .put("lowest", messageClass.lowestVersion())
                .put("highest", messageClass.highestVersion())
                .put("json", messageClass.hasJson());
        }
    }

    private void encodeDefault(JsonNode question, ObjectNode answer) throws OracleException {
        MessageClass messageClass = messageClass(question);
        Message message = messageClass.defaultMessage();
        for (JsonNode field : question.path("nulls")) {
            messageClass.setNull(message, field.textValue());
        }
        for (JsonNode entry : question.path("unknown_tags")) {
            byte[] payload = HexFormat.of().parseHex(entry.get(1).textValue());
            message.unknownTaggedFields().add(new RawTaggedField(entry.get(0).intValue(), payload));
        }
        putJsonAndHex(messageClass, message, version(question), answer);
    }

    private void decode(JsonNode question, ObjectNode answer) throws OracleException {
        MessageClass messageClass = messageClass(question);
        byte[] bytes = HexFormat.of().parseHex(question.get("hex").textValue());
        MessageClass.Decoded decoded = messageClass.decode(bytes, version(question));
        putJsonAndHex(messageClass, decoded.message(), version(question), answer);
        answer.put("read", decoded.read());
    }

    private void encode(JsonNode question, ObjectNode answer) throws OracleException {
        MessageClass messageClass = messageClass(question);
        short version = version(question);
        byte[] bytes = messageClass.encode(messageClass.fromJson(question.get("json"), version), version);
        answer.put("hex", HexFormat.of().formatHex(bytes));
    }

    private MessageClass messageClass(JsonNode question) throws OracleException {
        return classes.named(question.get("name").textValue());
    }

    private static short version(JsonNode question) {
        return question.get("version").shortValue();
    }

    private static void putJsonAndHex(
        MessageClass messageClass, Message message, short version, ObjectNode answer
    ) throws OracleException {
        if (messageClass.hasJson()) {
            answer.set("json", messageClass.toJson(message, version));
        }
        answer.put("hex", HexFormat.of().formatHex(messageClass.encode(message, version)));
    }
}
