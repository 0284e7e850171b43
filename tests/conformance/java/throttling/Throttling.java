import java.lang.reflect.Field;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.AbstractResponse;
import sun.misc.Unsafe;

/**
 * Prints for each API and version whether Kafka's own client waits when it is throttled: lines of key, version,
 * "true" or "false". APIs whose class does not say are left out.
 */
public final class Throttling {
    private static final String PACKAGE = "org.apache.kafka.common.requests.";

    public static void main(String[] arguments) throws ReflectiveOperationException {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        for (ApiKeys key : ApiKeys.values()) {
            Class<?> type;
            try {
                type = Class.forName(PACKAGE + key.name + "Response");
                type.getDeclaredMethod("shouldClientThrottle", short.class);
            } catch (ClassNotFoundException | NoSuchMethodException e) {
                continue;
            }
            // The method looks at the version only, so an object without data will do.
            AbstractResponse response = (AbstractResponse) unsafe.allocateInstance(type);
            for (short version = key.oldestVersion(); version <= key.latestVersion(); version++) {
                System.out.println(key.id + " " + version + " " + response.shouldClientThrottle(version));
            }
        }
    }
}
