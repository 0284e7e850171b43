import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.message.MessageGenerator;
import org.apache.kafka.message.MessageSpec;
import org.apache.kafka.message.checker.EvolutionVerifier;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What Apache Kafka's own schema checker says. The argument is a file of JSON lines; each is answered by one.
 *
 * <pre>
 * {"definition": TEXT}          a definition, which gets the next number from 0; {"unreadable": "..."} if it is none
 * {"older": N, "newer": M}      {"refusal": "...", "messages": "...", "own_older": "...", "own_newer": "...",
 *                                "structs": "...", "fields": "..."}
 * </pre>
 *
 * "refusal" is what the checker says as a whole, the others are its stages, each asked by itself. What is accepted is
 * null. The stages are not public, hence the reflection.
 */
public final class SchemaChecker {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PACKAGE = "org.apache.kafka.message.checker.";

    private interface Step {
        void run() throws Exception;
    }

    private final List<MessageSpec> definitions = new ArrayList<>();
    private final Method messages;
    private final Method ownVersions;
    private final Constructor<?> unifier;
    private final Method unify;

    private SchemaChecker() throws ReflectiveOperationException {
        messages = EvolutionVerifier.class.getDeclaredMethod(
            "verifyTopLevelMessages", MessageSpec.class, MessageSpec.class);
        ownVersions = EvolutionVerifier.class.getDeclaredMethod(
            "verifyVersionsMatchTopLevelMessage", String.class, MessageSpec.class);
        Class<?> unifierClass = Class.forName(PACKAGE + "Unifier");
        unifier = unifierClass.getDeclaredConstructor(MessageSpec.class, MessageSpec.class);
        unify = unifierClass.getDeclaredMethod("unify");
        messages.setAccessible(true);
        ownVersions.setAccessible(true);
        unifier.setAccessible(true);
        unify.setAccessible(true);
    }

    public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
        SchemaChecker checker = new SchemaChecker();
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            JsonNode question = JSON.readTree(line);
            ObjectNode answer = question.has("definition")
                ? checker.read(question.get("definition").asText())
                : checker.compare(question.get("older").asInt(), question.get("newer").asInt());
            out.println(JSON.writeValueAsString(answer));
        }
        out.flush();
    }

    private ObjectNode read(String text) {
        ObjectNode answer = JSON.createObjectNode();
        definitions.add(null);
        return answer.put("unreadable", failure(() -> definitions.set(
            definitions.size() - 1, MessageGenerator.JSON_SERDE.readValue(text, MessageSpec.class))));
    }

    private ObjectNode compare(int olderNumber, int newerNumber) {
        MessageSpec older = definitions.get(olderNumber);
        MessageSpec newer = definitions.get(newerNumber);
        return JSON.createObjectNode()
            .put("refusal", failure(() -> new EvolutionVerifier(older, newer).verify()))
            .put("messages", failure(() -> messages.invoke(null, older, newer)))
            .put("own_older", failure(() -> ownVersions.invoke(null, "message1", older)))
            .put("own_newer", failure(() -> ownVersions.invoke(null, "message2", newer)))
            .put("structs", failure(() -> unifier.newInstance(older, newer)))
            .put("fields", failure(() -> unify.invoke(unifier.newInstance(older, newer))));
    }

    private static String failure(Step step) {
        try {
            step.run();
            return null;
        } catch (InvocationTargetException thrown) {
            return text(thrown.getCause());
        } catch (Exception | StackOverflowError thrown) {
            return text(thrown);
        }
    }

    private static String text(Throwable thrown) {
        return thrown.getMessage() == null ? thrown.getClass().getSimpleName() : thrown.getMessage();
    }
}
