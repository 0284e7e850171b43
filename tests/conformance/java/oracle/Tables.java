package oracle;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.message.ApiMessageType;

import java.util.List;
import java.util.Locale;

/** What Kafka's enumerations say about messages: its APIs with their header versions, and its record types. */
final class Tables {
    private static final List<String> FACTORIES = List.of("newMetadataRecord", "newRecordKey", "newRecordValue");

    private Tables() {
    }

    /** By API key: name, stable and all versions, header version of each version, listeners; retired APIs left out. */
    static void putApis(ObjectNode answer) {
        for (ApiMessageType api : ApiMessageType.values()) {
            short highest = api.highestSupportedVersion(true);
            if (highest < 0) {
                continue;
            }
            ObjectNode described = answer.putObject(String.valueOf(api.apiKey()))
                .put("name", api.name)
                .put("lowest", api.lowestSupportedVersion())
                .put("highest", highest)
                .put("highest_stable", api.highestSupportedVersion(false));
            ObjectNode requestHeaders = described.putObject("request_headers");
            ObjectNode responseHeaders = described.putObject("response_headers");
            for (short version = api.lowestSupportedVersion(); version <= highest; version++) {
                requestHeaders.put(String.valueOf(version), api.requestHeaderVersion(version));
                responseHeaders.put(String.valueOf(version), api.responseHeaderVersion(version));
            }
            ArrayNode listeners = described.putArray("listeners");
            api.listeners().forEach(listener -> listeners.add(listener.name().toLowerCase(Locale.ROOT)));
        }
    }

    /** By package and number of the record type: the classes of its messages. */
    static void putRecordTypes(List<Class<?>> enumerations, ObjectNode answer) throws OracleException {
        for (Class<?> enumeration : enumerations) {
            ObjectNode described = answer.putObject(enumeration.getPackageName());
            for (Object recordType : enumeration.getEnumConstants()) {
                ArrayNode messages = described.putArray(String.valueOf(call(recordType, "id")));
                for (String factory : FACTORIES) {
                    if (has(enumeration, factory)) {
                        messages.add(call(recordType, factory).getClass().getSimpleName());
                    }
                }
            }
        }
    }

    static boolean isRecordTypes(Class<?> type) {
        return type.isEnum() && FACTORIES.stream().anyMatch(factory -> has(type, factory));
    }

    private static boolean has(Class<?> type, String method) {
        return List.of(type.getMethods()).stream().anyMatch(known -> known.getName().equals(method));
    }

    private static Object call(Object target, String method) throws OracleException {
        try {
            return target.getClass().getMethod(method).invoke(target);
        } catch (ReflectiveOperationException failure) {
            throw new OracleException("find", failure);
        }
    }
}
