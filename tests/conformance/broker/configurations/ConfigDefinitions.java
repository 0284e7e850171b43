package configurations;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

import kafka.server.KafkaConfig;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.ConfigKey;
import org.apache.kafka.common.config.ConfigDef.Validator;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.DynamicConfig;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.server.metrics.ClientMetricsConfigs;
import org.apache.kafka.storage.internals.log.LogConfig;

/**
 * Prints what a release knows about configurations, as one JSON document: for brokers, topics, groups and client
 * metrics the definition of each name, and how they depend on each other. Sentences of the documentation are left out.
 */
public final class ConfigDefinitions {

    public static void main(String[] arguments) throws JsonProcessingException, ReflectiveOperationException {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("broker", definitions(KafkaConfig.configDef().configKeys()));
        all.put("broker_dynamic_only", definitions(DynamicConfig.Broker.configKeys()));
        all.put("topic", definitions(LogConfig.configKeys()));
        all.put("group", definitions(GroupConfig.CONFIG_DEF.configKeys()));
        all.put("client_metrics", definitions(ClientMetricsConfigs.configDef().configKeys()));
        all.put("update_modes", new TreeMap<>(DynamicBrokerConfig.dynamicConfigUpdateModes()));
        all.put("of_listeners_only", new TreeSet<>(DynamicBrokerConfig.DYNAMIC_SECURITY_CONFIGS));
        all.put("topic_synonyms", topicSynonyms());
        all.put("group_synonyms", groupSynonyms());
        all.put("broker_synonyms", brokerSynonyms());
        System.out.println(new ObjectMapper().writeValueAsString(all));
    }

    private static Map<String, Object> definitions(Map<String, ConfigKey> keys) throws ReflectiveOperationException {
        Map<String, Object> definitions = new TreeMap<>();
        for (ConfigKey key : keys.values()) {
            Map<String, Object> definition = new LinkedHashMap<>();
            definition.put("type", key.type.toString().toLowerCase());
            definition.put("importance", key.importance.toString().toLowerCase());
            if (key.hasDefault()) {
                definition.put("default", ConfigDef.convertToString(key.defaultValue, key.type));
            }
            definition.put("required", !key.hasDefault());
            definition.put("internal", key.internalConfig);
            if (key.validator != null) {
                definition.put("validator", validator(key.validator));
            }
            definitions.put(key.name, definition);
        }
        return definitions;
    }

    private static Map<String, Object> validator(Validator validator) throws ReflectiveOperationException {
        Map<String, Object> described = new LinkedHashMap<>();
        String kind = validator.getClass().getSimpleName();
        described.put("kind", kind.contains("$$Lambda") ? "Lambda" : kind);
        described.put("text", kind.contains("$$Lambda") ? "" : validator.toString());
        for (Field field : validator.getClass().getDeclaredFields()) {
            if (kind.contains("$$Lambda") || java.lang.reflect.Modifier.isStatic(field.getModifiers())) {
                continue;
            }
            field.setAccessible(true);
            Object value = field.get(validator);
            if (value instanceof List<?> parts && !parts.isEmpty() && parts.get(0) instanceof Validator) {
                List<Object> inner = new ArrayList<>();
                for (Object part : parts) {
                    inner.add(validator((Validator) part));
                }
                described.put(field.getName(), inner);
            } else if (value instanceof Validator part) {
                described.put(field.getName(), validator(part));
            } else if (value == null || value instanceof Number || value instanceof Boolean) {
                described.put(field.getName(), value);
            } else {
                described.put(field.getName(), value instanceof Iterable ? value : value.toString());
            }
        }
        return described;
    }

    private static Map<String, Object> topicSynonyms() {
        Map<String, Object> synonyms = new TreeMap<>();
        for (Map.Entry<String, List<ConfigSynonym>> entry : ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.entrySet()) {
            Map<String, Object> factors = new LinkedHashMap<>();
            for (ConfigSynonym synonym : entry.getValue()) {
                String converted = synonym.converter().apply("1");
                factors.put(synonym.name(), Long.valueOf(converted));
            }
            synonyms.put(entry.getKey(), factors);
        }
        return synonyms;
    }

    private static Map<String, Object> groupSynonyms() {
        Map<String, Object> synonyms = new TreeMap<>();
        GroupConfig.ALL_GROUP_CONFIG_SYNONYMS.forEach((name, synonym) -> synonyms.put(name, synonym.orElse(null)));
        return synonyms;
    }

    private static Map<String, Object> brokerSynonyms() {
        Map<String, Object> synonyms = new TreeMap<>();
        for (String name : KafkaConfig.configDef().names()) {
            List<String> found = DynamicBrokerConfig.brokerConfigSynonyms(name, true);
            if (!found.equals(List.of(name))) {
                synonyms.put(name, found);
            }
        }
        return synonyms;
    }

    private ConfigDefinitions() {
    }
}
