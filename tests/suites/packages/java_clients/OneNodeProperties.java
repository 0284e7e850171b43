package kafkawire.suites;

import java.security.CodeSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.test.JaasUtils;
import org.apache.kafka.common.test.api.ClusterConfig;
import org.apache.kafka.common.test.api.TestKitDefaults;

/** The properties of one broker in place of the cluster that a test asks for. */
final class OneNodeProperties {
    /** Those that count replicas: one broker has one of each partition. */
    private static final Set<String> COUNT_REPLICAS = Set.of(
        "default.replication.factor",
        "min.insync.replicas",
        "offsets.topic.replication.factor",
        "share.coordinator.state.topic.min.isr",
        "share.coordinator.state.topic.replication.factor",
        "transaction.state.log.min.isr",
        "transaction.state.log.replication.factor");

    /** Those of internal topics, whose defaults are 3 or 2. */
    private static final Set<String> OF_INTERNAL_TOPICS = COUNT_REPLICAS.stream()
        .filter(name -> name.contains("topic.") || name.contains("transaction.")).collect(Collectors.toSet());

    private OneNodeProperties() {
    }

    /** The properties that the test gives the first controller and broker, with counts that fit to one broker. */
    static Map<String, String> of(ClusterConfig config) {
        Map<String, String> properties = new HashMap<>(config.serverProperties());
        for (int node : List.of(TestKitDefaults.CONTROLLER_ID_OFFSET, TestKitDefaults.BROKER_ID_OFFSET)) {
            properties.putAll(config.perServerOverrideProperties().getOrDefault(node, Map.of()));
        }
        COUNT_REPLICAS.forEach(name -> properties.computeIfPresent(name, (key, value) -> "1"));
        OF_INTERNAL_TOPICS.forEach(name -> properties.putIfAbsent(name, "1"));
        return properties;
    }

    /** The same with a listener on a port, and what its security protocol needs. */
    static Map<String, String> at(int port, ClusterConfig config) {
        String listener = config.brokerListenerName().value();
        SecurityProtocol protocol = config.brokerSecurityProtocol();
        Map<String, String> properties = of(config);
        properties.put("node.id", "0");
        properties.put("listeners", listener + "://localhost:" + port);
        properties.put("listener.security.protocol.map", listener + ":" + protocol.name);
        properties.put("inter.broker.listener.name", listener);
        if (protocol == SecurityProtocol.SASL_PLAINTEXT) {
            properties.put("sasl.enabled.mechanisms", "PLAIN");
            properties.put("listener.name." + listener.toLowerCase() + ".plain.sasl.jaas.config", logins());
            properties.putIfAbsent(
                "authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer");
            properties.putIfAbsent("allow.everyone.if.no.acl.found", "false");
            properties.putIfAbsent("super.users", "User:" + JaasUtils.KAFKA_PLAIN_ADMIN);
        }
        return properties;
    }

    /** The name of a class of the tests that a broker would have to load. */
    static Optional<String> classOfTests(ClusterConfig config) {
        Stream<Map<String, String>> ofNodes = config.perServerOverrideProperties().values().stream();
        return Stream.concat(Stream.of(config.serverProperties()), ofNodes).flatMap(each -> each.values().stream())
            .flatMap(value -> Stream.of(value.split(","))).map(String::trim)
            .filter(OneNodeProperties::isOfTests).findFirst();
    }

    private static boolean isOfTests(String name) {
        try {
            CodeSource source = Class.forName(name, false, OneNodeProperties.class.getClassLoader())
                .getProtectionDomain().getCodeSource();
            return source != null && source.getLocation().getPath().endsWith("-test.jar");
        } catch (ClassNotFoundException | LinkageError error) {
            return false;
        }
    }

    private static String logins() {
        Map<String, String> users = Map.of(
            JaasUtils.KAFKA_PLAIN_USER1, JaasUtils.KAFKA_PLAIN_USER1_PASSWORD,
            JaasUtils.KAFKA_PLAIN_ADMIN, JaasUtils.KAFKA_PLAIN_ADMIN_PASSWORD);
        Function<Map.Entry<String, String>, String> option =
            user -> " user_" + user.getKey() + "=\"" + user.getValue() + "\"";
        return "org.apache.kafka.common.security.plain.PlainLoginModule required"
            + users.entrySet().stream().map(option).sorted().collect(Collectors.joining()) + ";";
    }
}
