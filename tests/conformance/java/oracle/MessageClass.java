package oracle;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;

/** One generated class of Apache Kafka and, where there is one, its JSON converter. */
final class MessageClass {
    private static final MethodHandles.Lookup LOOKUP = MethodHandles.publicLookup();

    private final Class<? extends Message> type;
    private final MethodHandle constructor;
    private final MethodHandle jsonReader;
    private final MethodHandle jsonWriter;

    /** A decoded message and how many bytes it took. */
    record Decoded(Message message, int read) {
    }

    private MessageClass(
        Class<? extends Message> type, MethodHandle constructor, MethodHandle jsonReader, MethodHandle jsonWriter
    ) {
        this.type = type;
        this.constructor = constructor;
        this.jsonReader = jsonReader;
        this.jsonWriter = jsonWriter;
    }

    static MessageClass of(Class<? extends Message> type) throws OracleException {
        try {
            MethodHandle constructor = LOOKUP.findConstructor(type, MethodType.methodType(void.class))
                .asType(MethodType.methodType(Message.class));
            Class<?> converter = converterOf(type);
            if (converter == null) {
                return new MessageClass(type, constructor, null, null);
            }
            MethodHandle reader =
                LOOKUP.findStatic(converter, "read", MethodType.methodType(type, JsonNode.class, short.class))
                    .asType(MethodType.methodType(Message.class, JsonNode.class, short.class));
            MethodHandle writer =
                LOOKUP.findStatic(converter, "write", MethodType.methodType(JsonNode.class, type, short.class))
                    .asType(MethodType.methodType(JsonNode.class, Message.class, short.class));
            return new MessageClass(type, constructor, reader, writer);
        } catch (ReflectiveOperationException failure) {
            throw new OracleException("find", failure);
        }
    }

    /** The JSON converter of a message class, or null: Kafka Streams is built without any. */
    private static Class<?> converterOf(Class<?> type) {
        try {
            return Class.forName(type.getName() + "JsonConverter");
        } catch (ClassNotFoundException none) {
            return null;
        }
    }

    String simpleName() {
        return type.getSimpleName();
    }

    boolean hasJson() {
        return jsonReader != null;
    }

    short lowestVersion() throws OracleException {
        return defaultMessage().lowestSupportedVersion();
    }

    short highestVersion() throws OracleException {
        return defaultMessage().highestSupportedVersion();
    }

    Message defaultMessage() throws OracleException {
        try {
            return (Message) constructor.invokeExact();
        } catch (Throwable failure) {
            throw new OracleException("find", failure);
        }
    }

    /** Set a field to null, whether that makes sense or not. */
    void setNull(Message message, String field) throws OracleException {
        String setter = "set" + Character.toUpperCase(field.charAt(0)) + field.substring(1);
        for (Method method : type.getMethods()) {
            if (method.getName().equals(setter)) {
                try {
                    method.invoke(message, (Object) null);
                    return;
                } catch (ReflectiveOperationException failure) {
                    throw new OracleException("find", failure);
                }
            }
        }
        throw new OracleException("find", simpleName() + " has no " + setter);
    }

    Decoded decode(byte[] bytes, short version) throws OracleException {
        Message message = defaultMessage();
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        try {
            message.read(new ByteBufferAccessor(buffer), version);
        } catch (RuntimeException failure) {
            throw new OracleException("read", failure);
        }
        return new Decoded(message, buffer.position());
    }

    byte[] encode(Message message, short version) throws OracleException {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer;
        try {
            buffer = ByteBuffer.allocate(message.size(cache, version));
            message.write(new ByteBufferAccessor(buffer), cache, version);
        } catch (RuntimeException failure) {
            throw new OracleException("write", failure);
        }
        if (buffer.hasRemaining()) {
            throw new OracleException("write", "fewer bytes were written than size() said: " + buffer);
        }
        return buffer.array();
    }

    JsonNode toJson(Message message, short version) throws OracleException {
        try {
            return (JsonNode) jsonWriter.invokeExact(message, version);
        } catch (Throwable failure) {
            throw new OracleException("to_json", failure);
        }
    }

    Message fromJson(JsonNode json, short version) throws OracleException {
        if (!hasJson()) {
            throw new OracleException("from_json", "Kafka has no JSON form of " + simpleName());
        }
        try {
            return (Message) jsonReader.invokeExact(json, version);
        } catch (Throwable failure) {
            throw new OracleException("from_json", failure);
        }
    }
}
