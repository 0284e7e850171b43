package kafka_tool;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * A filter on JSON lines that runs command lines of Kafka's tools in this process, each as if it were alone: a process
 * of its own takes a second to start.
 *
 * <pre>
 * {"op": "run", "tool": "kafka.admin.ConfigCommand", "words": ["--describe", ...]}
 * {"stdout": "...", "stderr": "...", "exit": 0}
 * {"op": "added", "text": "a=b,c=[d,e]"}       {"pairs": [["a", "b"], ["c", "d,e"]], "error": null}
 * {"op": "orders", "words": ["a", "b"]}        {"hash_map": ["a", "b"], "properties": [...], "scala_map": [...]}
 * </pre>
 *
 * "added" is what kafka-configs makes of a value of --add-config, in the order in which it walks through it; the error
 * is its message. "orders" are those in which Java's and Scala's maps have keys.
 */
public final class KafkaTool {
    private static final ObjectMapper JSON =
        JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    /** Standard output or error, which some classes keep from the time when they are loaded. */
    private static final class Captured extends OutputStream {
        private ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        @Override
        public synchronized void write(int octet) {
            bytes.write(octet);
        }

        @Override
        public synchronized void write(byte[] octets, int from, int count) {
            bytes.write(octets, from, count);
        }

        synchronized String taken() {
            String text = bytes.toString(StandardCharsets.UTF_8);
            bytes = new ByteArrayOutputStream();
            return text;
        }
    }

    /** Thrown where a tool would end the process; a tool that catches it prints what counts no more. */
    private static final class ExitedError extends Error {
        private static final long serialVersionUID = 1L;
    }

    private final Captured out = new Captured();
    private final Captured errors = new Captured();
    private final PrintStream console = System.err;
    private ObjectNode ended;

    private KafkaTool() {
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
    }

    public static void main(String[] arguments) throws IOException {
        BufferedWriter answers = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        KafkaTool driver = new KafkaTool();
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            answers.write(JSON.writeValueAsString(driver.answer(JSON.readTree(line))));
            answers.write('\n');
            answers.flush();
        }
        Runtime.getRuntime().halt(0); // whatever clients still run
    }

    private ObjectNode answer(JsonNode question) {
        try {
            return switch (question.get("op").asText()) {
                case "run" -> run(question.get("tool").asText(), words(question));
                case "added" -> added(question.get("text").asText());
                case "orders" -> orders(words(question));
                default -> throw new IllegalArgumentException("no such operation: " + question);
            };
        } catch (ReflectiveOperationException | RuntimeException failure) {
            failure.printStackTrace(console);
            throw new IllegalStateException(failure);
        }
    }

    private ObjectNode run(String tool, List<String> words) throws ReflectiveOperationException {
        out.taken();
        errors.taken();
        ended = null;
        Class<?> exit = exit();
        Class<?> procedure = Class.forName(exit.getName() + "$Procedure");
        exit.getMethod("setExitProcedure", procedure).invoke(null, Proxy.newProxyInstance(
            procedure.getClassLoader(),
            new Class<?>[] {procedure},
            (proxy, method, statusAndMessage) -> {
                end((Integer) statusAndMessage[0]);
                throw new ExitedError();
            }));
        try {
            Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) words.toArray(new String[0]));
        } catch (InvocationTargetException failure) {
            if (!(failure.getCause() instanceof ExitedError)) {
                throw failure;
            }
        } finally {
            exit.getMethod("resetExitProcedure").invoke(null);
        }
        end(0);
        return ended;
    }

    /** What Kafka's tools end the process with; 4.4 has moved it. */
    private static Class<?> exit() throws ClassNotFoundException {
        try {
            return Class.forName("org.apache.kafka.common.utils.Exit");
        } catch (ClassNotFoundException moved) {
            return Class.forName("org.apache.kafka.common.utils.internals.Exit");
        }
    }

    private void end(int status) {
        if (ended == null) {
            ended = JSON.createObjectNode().put("stdout", out.taken()).put("stderr", errors.taken()).put("exit", status);
        }
    }

    private ObjectNode added(String text) throws ReflectiveOperationException {
        Class<?> kind = Class.forName("kafka.admin.ConfigCommand$ConfigCommandOptions");
        Object options = kind.getConstructor(String[].class)
            .newInstance((Object) new String[] {"--alter", "--add-config", text});
        Class<?> command = Class.forName("kafka.admin.ConfigCommand");
        Method parse = command.getMethod("parseConfigsToBeAdded", kind);
        ObjectNode answer = JSON.createObjectNode();
        try {
            Properties added = (Properties) parse.invoke(null, options);
            var pairs = answer.putArray("pairs");
            added.forEach((key, value) -> pairs.addArray().add((String) key).add((String) value));
        } catch (InvocationTargetException failure) {
            answer.put("error", failure.getCause().getMessage());
        }
        return answer;
    }

    private static ObjectNode orders(List<String> words) {
        Map<String, String> hashMap = new HashMap<>();
        Properties properties = new Properties();
        for (String word : words) {
            hashMap.put(word, "");
            properties.setProperty(word, "");
        }
        ObjectNode answer = JSON.createObjectNode();
        answer.set("hash_map", JSON.valueToTree(hashMap.keySet()));
        answer.set("properties", JSON.valueToTree(properties.keySet()));
        answer.set("scala_map", JSON.valueToTree(scalaKeys(words)));
        return answer;
    }

    @SuppressWarnings("unchecked") // Scala says less to Java than to itself
    private static List<String> scalaKeys(List<String> words) {
        scala.collection.immutable.Map<String, String> map = scala.collection.immutable.Map$.MODULE$.empty();
        for (String word : words) {
            map = map.updated(word, "");
        }
        List<String> keys = new java.util.ArrayList<>();
        for (scala.collection.Iterator<String> each = map.keysIterator(); each.hasNext();) {
            keys.add(each.next());
        }
        return keys;
    }

    private static List<String> words(JsonNode question) {
        List<String> words = new java.util.ArrayList<>();
        for (Iterator<JsonNode> each = question.get("words").elements(); each.hasNext();) {
            words.add(each.next().asText());
        }
        return words;
    }
}
