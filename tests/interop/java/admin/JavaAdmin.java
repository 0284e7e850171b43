package admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.protocol.Errors;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;

/**
 * A filter on JSON lines that does with Java's Admin what it is told.
 *
 * <pre>
 * {"client": {"bootstrap.servers": "127.0.0.1:9092"}, "op": "describe_acls", "options": {"principal": "User:alice"}}
 * {"result": [{"resource_type": "TOPIC", ...}, ...]}
 * {"error": {"kind": "TimeoutException", "code": 7, "name": "REQUEST_TIMED_OUT", "message": "..."}}
 * </pre>
 *
 * Operations are the records nested in the classes of FAMILIES, named in snake case, with their fields as options.
 * There is one Admin for each set of client properties. It stays open, so that it is warm when it is asked again, until
 * others were asked since: an Admin whose broker was stopped never gives up, and many of them keep a processor busy.
 */
public final class JavaAdmin {
    private static final ObjectMapper JSON = JsonMapper.builder()
        .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
        .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
        .build();
    private static final int OPEN = 4;
    private static final TypeReference<Map<String, Object>> PROPERTIES = new TypeReference<>() { };
    private static final List<Class<?>> FAMILIES = List.of(
        Changes.class, ClusterFamily.class, ConfigFamily.class, GroupFamily.class, SecurityFamily.class, Timings.class,
        TopicFamily.class, Tools.class, TransactionFamily.class, Actors.class
    );

    private final Map<String, Class<? extends Operation>> operations = new TreeMap<>();
    private final Map<Map<String, Object>, Admin> admins = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Map<String, Object>, Admin> eldest) {
            boolean tooMany = size() > OPEN;
            if (tooMany) {
                eldest.getValue().close(Duration.ZERO);
            }
            return tooMany;
        }
    };

    private JavaAdmin() {
        PropertyNamingStrategies.SnakeCaseStrategy snakeCase = new PropertyNamingStrategies.SnakeCaseStrategy();
        for (Class<?> family : FAMILIES) {
            for (Class<?> nested : family.getDeclaredClasses()) {
                if (Operation.class.isAssignableFrom(nested)) {
                    operations.put(snakeCase.translate(nested.getSimpleName()), nested.asSubclass(Operation.class));
                }
            }
        }
    }

    public static void main(String[] arguments) throws IOException {
        JavaAdmin driver = new JavaAdmin();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.write(JSON.writeValueAsString(driver.answer(JSON.readTree(line))));
            out.write('\n');
            out.flush();
        }
        System.exit(0); // whatever clients still run
    }

    private ObjectNode answer(JsonNode question) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            answer.set("result", JSON.valueToTree(operation(question).run(admin(question.get("client")))));
        } catch (ExecutionException failure) {
            putError(answer, failure.getCause());
        } catch (Exception failure) {
            putError(answer, failure);
        }
        return answer;
    }

    private Operation operation(JsonNode question) throws JsonProcessingException {
        Class<? extends Operation> operation = operations.get(question.get("op").textValue());
        if (operation == null) {
            throw new IllegalArgumentException(question.get("op") + " is none of " + operations.keySet());
        }
        return JSON.treeToValue(question.get("options"), operation);
    }

    private Admin admin(JsonNode client) throws JsonProcessingException {
        return admins.computeIfAbsent(JSON.treeToValue(client, PROPERTIES), Admin::create);
    }

    private static void putError(ObjectNode answer, Throwable failure) {
        Errors error = Errors.forException(failure);
        answer.putObject("error")
            .put("kind", failure.getClass().getSimpleName())
            .put("code", error.code())
            .put("name", error.name())
            .put("message", failure.getMessage());
    }
}
