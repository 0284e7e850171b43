import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;

import clocked.MovedTime;

import kafka.server.ClientRequestQuotaManager;

import org.apache.kafka.common.errors.ThrottlingQuotaExceededException;
import org.apache.kafka.common.internals.Plugin;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Quota;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.network.Session;
import org.apache.kafka.server.config.ClientQuotaManagerConfig;
import org.apache.kafka.server.quota.ClientQuotaCallback;
import org.apache.kafka.server.quota.ClientQuotaEntity.ConfigEntity;
import org.apache.kafka.server.quota.ClientQuotaManager;
import org.apache.kafka.server.quota.ControllerMutationQuota;
import org.apache.kafka.server.quota.ControllerMutationQuotaManager;
import org.apache.kafka.server.quota.QuotaType;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How long Apache Kafka's own quota managers throttle, on a clock that the questions move. The argument is a file of
 * JSON lines; each is answered by one.
 *
 * <pre>
 * {"kind": "PRODUCE" | "FETCH" | "REQUEST" | "CONTROLLER_MUTATION", "samples": n, "window": seconds, "steps": [S]}
 *     S is [milliseconds to wait before, what, user, client id, number]; for each, the answer is a number:
 *     quota       a limit, or null to remove it; a user or client is "" for the default and null for none   0
 *     record      so much is used                              milliseconds of throttling
 *     unrecord    it is taken back                             0
 *     most        what fits into the windows                   the value, or null
 *     strict, permissive      so many partitions are changed   milliseconds of throttling, negative if refused
 * </pre>
 */
public final class ThrottleTimes {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            System.out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
        }
        System.exit(0);
    }

    private static JsonNode answer(JsonNode question) throws Exception {
        MovedTime time = new MovedTime();
        ArrayNode answers = JSON.createArrayNode();
        try (Metrics metrics = new Metrics(time)) {
            ClientQuotaManager manager = manager(question, metrics, time);
            for (JsonNode step : question.get("steps")) {
                time.sleep(step.get(0).asLong());
                answers.addPOJO(done(manager, step, time));
            }
            manager.shutdown();
        }
        return answers;
    }

    private static ClientQuotaManager manager(JsonNode question, Metrics metrics, Time time) {
        ClientQuotaManagerConfig config =
            new ClientQuotaManagerConfig(question.get("samples").asInt(), question.get("window").asInt());
        Optional<Plugin<ClientQuotaCallback>> callback = Optional.empty();
        QuotaType kind = QuotaType.valueOf(question.get("kind").asText());
        return switch (kind) {
            case REQUEST -> new ClientRequestQuotaManager(config, metrics, time, "", callback);
            case CONTROLLER_MUTATION -> new ControllerMutationQuotaManager(config, metrics, time, "", callback);
            default -> new ClientQuotaManager(config, metrics, kind, time, "");
        };
    }

    private static Number done(ClientQuotaManager manager, JsonNode step, Time time) throws Exception {
        String user = text(step.get(2));
        String client = text(step.get(3));
        double number = step.get(4).asDouble();
        if (step.get(1).asText().equals("quota")) {
            Quota quota = step.get(4).isNull() ? null : Quota.upperBound(number);
            manager.updateQuota(user(user), client(client), Optional.ofNullable(quota));
            return 0;
        }
        Session session =
            new Session(new KafkaPrincipal(KafkaPrincipal.USER_TYPE, user), InetAddress.getLoopbackAddress());
        switch (step.get(1).asText()) {
            case "record":
                return manager.maybeRecordAndGetThrottleTimeMs(session, client, number, time.milliseconds());
            case "unrecord":
                manager.unrecordQuotaSensor(session, client, number, time.milliseconds());
                return 0;
            case "most":
                double most = manager.maxValueInQuotaWindow(session, client);
                return most == Double.MAX_VALUE ? null : most;
            case "strict":
                return changed(((ControllerMutationQuotaManager) manager).newStrictQuotaFor(session, client), number);
            default:
                return changed(
                    ((ControllerMutationQuotaManager) manager).newPermissiveQuotaFor(session, client), number);
        }
    }

    private static int changed(ControllerMutationQuota quota, double partitions) {
        try {
            quota.record(partitions);
            return quota.throttleTime();
        } catch (ThrottlingQuotaExceededException refused) {
            return -quota.throttleTime();
        }
    }

    private static Optional<ConfigEntity> user(String name) {
        return Optional.ofNullable(name).map(
            given -> given.isEmpty() ? ClientQuotaManager.DEFAULT_USER_ENTITY : new ClientQuotaManager.UserEntity(given));
    }

    private static Optional<ConfigEntity> client(String name) {
        return Optional.ofNullable(name).map(
            given -> given.isEmpty() ? ClientQuotaManager.DEFAULT_USER_CLIENT_ID : new ClientQuotaManager.ClientIdEntity(given));
    }

    private static String text(JsonNode node) {
        return node.isNull() ? null : node.asText();
    }
}
