package kafkawire.suites;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import org.opentest4j.TestAbortedException;

/** What a test asks for that one broker at an address cannot give; the first one is the reason why it is aborted. */
final class Needs {
    private static final Properties KNOWN = known();

    private final AtomicReference<String> first = new AtomicReference<>();

    /** Remember the reason, also if the test catches the exception. */
    TestAbortedException missing(String what) {
        first.compareAndSet(null, "needs " + what);
        return new TestAbortedException("needs " + what);
    }

    Optional<String> reason() {
        return Optional.ofNullable(first.get());
    }

    /** What a test needs of which it fails without another sign. */
    static Optional<String> known(Class<?> tests, Method test) {
        String ofClass = KNOWN.getProperty(tests.getSimpleName());
        String found = KNOWN.getProperty(tests.getSimpleName() + "." + test.getName(), ofClass);
        return Optional.ofNullable(found).map(what -> "needs " + what);
    }

    private static Properties known() {
        Properties properties = new Properties();
        try (InputStream file = Needs.class.getResourceAsStream("/known_needs.properties")) {
            properties.load(file);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return properties;
    }
}
