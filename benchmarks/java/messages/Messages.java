import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;

/**
 * Decodes or encodes a message as often as each line of input says, with Kafka's own classes, and answers with the
 * seconds of processor time that a call took in its thread.
 */
public final class Messages {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    private static Object last;

    private Messages() {
    }

    public static void main(String[] arguments) throws Throwable {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        ObjectMapper json = new ObjectMapper();
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonNode asked = json.readTree(line);
            System.out.println(seconds(asked));
            System.out.flush();
        }
    }

    private static double seconds(JsonNode asked) throws Throwable {
        Class<?> type = Class.forName("org.apache.kafka.common.message." + asked.get("message").asText() + "Data");
        MethodHandle read = MethodHandles.lookup()
            .findConstructor(type, MethodType.methodType(void.class, Readable.class, short.class))
            .asType(MethodType.methodType(Message.class, Readable.class, short.class));
        byte[] octets = asked.get("octets").binaryValue();
        short version = (short) asked.get("version").asInt();
        int calls = asked.get("calls").asInt();
        return asked.get("encodes").asBoolean() ? encoding(decoded(read, octets, version), version, calls)
            : decoding(read, octets, version, calls);
    }

    private static Message decoded(MethodHandle read, byte[] octets, short version) throws Throwable {
        return (Message) read.invokeExact((Readable) new ByteBufferAccessor(ByteBuffer.wrap(octets)), version);
    }

    private static double decoding(MethodHandle read, byte[] octets, short version, int calls) throws Throwable {
        long begin = CLOCK.getCurrentThreadCpuTime();
        for (int call = 0; call < calls; call++) {
            last = decoded(read, octets, version);
        }
        return (CLOCK.getCurrentThreadCpuTime() - begin) / 1e9 / calls;
    }

    private static double encoding(Message message, short version, int calls) {
        long begin = CLOCK.getCurrentThreadCpuTime();
        for (int call = 0; call < calls; call++) {
            ObjectSerializationCache sizes = new ObjectSerializationCache();
            ByteBufferAccessor to = new ByteBufferAccessor(ByteBuffer.allocate(message.size(sizes, version)));
            message.write(to, sizes, version);
            last = to;
        }
        return (CLOCK.getCurrentThreadCpuTime() - begin) / 1e9 / calls;
    }
}
