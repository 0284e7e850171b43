package kafkawire.suites;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs the tests of a jar: all, or those named as {@code Class} or {@code Class#method}.
 *
 * <p>The first argument is the artifact of the jar, which is on the class path. A line of each test has its result, its seconds and its name; those that did not
 * pass have the reason as well, and the traces of failures are in {@code failures.txt}. The exit code is 1 if tests
 * failed or there were none.
 */
public final class RunTests implements TestExecutionListener {
    private static final String EXCLUDED = "org.apache.kafka.common.test.junit.ClusterTestExtensions";
    private static final String LONGEST = "180 s";

    private final Map<String, Long> began = new HashMap<>();
    private final Map<String, Integer> counts = new TreeMap<>();
    private final Map<String, Integer> reasons = new HashMap<>();
    private final PrintWriter traces;

    private RunTests(PrintWriter traces) {
        this.traces = traces;
    }

    public static void main(String[] arguments) throws IOException {
        List<String> classes = classesOf(jarOf(arguments[0]));
        List<DiscoverySelector> selectors = new ArrayList<>();
        for (String named : List.of(arguments).subList(1, arguments.length)) {
            selectors.add(selected(classes, named));
        }
        if (selectors.isEmpty()) {
            classes.stream().filter(name -> name.endsWith("Test")).forEach(name -> selectors.add(selectClass(name)));
        }
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request().selectors(selectors)
            .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
            .configurationParameter("junit.jupiter.extensions.autodetection.exclude", EXCLUDED)
            .configurationParameter("junit.jupiter.execution.timeout.testable.method.default", LONGEST)
            .configurationParameter("junit.jupiter.execution.timeout.beforeeach.method.default", LONGEST)
            .build();
        boolean failed;
        try (PrintWriter traces = new PrintWriter(Files.newBufferedWriter(Path.of("failures.txt")), true)) {
            RunTests run = new RunTests(traces);
            LauncherFactory.create().execute(request, run);
            failed = run.summarize();
        }
        System.exit(failed ? 1 : 0); // also if threads of a test go on
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        began.put(test.getUniqueId(), System.nanoTime());
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        boolean passed = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
        if (test.isTest() || !passed) {
            report(test, word(result.getStatus()), result.getThrowable().orElse(null));
        }
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        report(test, "skipped", new IllegalStateException(reason));
    }

    private void report(TestIdentifier test, String word, Throwable error) {
        double seconds = (System.nanoTime() - began.getOrDefault(test.getUniqueId(), System.nanoTime())) / 1e9;
        String name = nameOf(test);
        String reason = error == null ? "" : firstLine(error);
        reason = word.equals("aborted") ? reason.substring(reason.indexOf(": ") + 2) : reason;
        counts.merge(word, 1, Integer::sum);
        System.out.printf("%-7s %6.1f %s%s%n", word, seconds, name, reason.isEmpty() ? "" : ": " + reason);
        System.out.flush();
        if (word.equals("aborted")) {
            reasons.merge(reason, 1, Integer::sum);
        }
        if (error != null) {
            StringWriter trace = new StringWriter();
            error.printStackTrace(new PrintWriter(trace, true));
            traces.printf("%s %s%n%s%n", word, name, trace);
        }
    }

    private boolean summarize() {
        reasons.entrySet().stream().sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder()))
            .forEach(each -> System.out.printf("%4d aborted: %s%n", each.getValue(), each.getKey()));
        System.out.println(counts);
        return counts.containsKey("failed") || !counts.containsKey("passed");
    }

    private static String word(TestExecutionResult.Status status) {
        return switch (status) {
            case SUCCESSFUL -> "passed";
            case ABORTED -> "aborted";
            case FAILED -> "failed";
        };
    }

    /** The class, the method and, of a test with several runs, which one. */
    private static String nameOf(TestIdentifier test) {
        String run = test.getUniqueIdObject().getLastSegment().getValue();
        return test.getSource().filter(MethodSource.class::isInstance).map(MethodSource.class::cast)
            .map(source -> simple(source.getClassName()) + "#" + source.getMethodName())
            .map(name -> run.startsWith("#") ? name + "/" + run.substring(1) : name)
            .orElse(test.getDisplayName());
    }

    private static String firstLine(Throwable error) {
        String text = String.valueOf(error.getMessage());
        String line = (error.getClass().getSimpleName() + ": " + text).lines().findFirst().orElse("");
        return Stream.of(error.getSuppressed()).filter(FewerBrokers.class::isInstance)
            .map(fewer -> line + " [" + fewer.getMessage() + "]").findFirst().orElse(line);
    }

    private static DiscoverySelector selected(List<String> classes, String named) {
        String[] parts = named.split("#", 2);
        String found = classes.stream().filter(name -> simple(name).equals(parts[0])).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("the jar has no class " + parts[0]));
        if (parts.length == 1) {
            return selectClass(found);
        }
        return Stream.of(loaded(found).getDeclaredMethods()).filter(method -> method.getName().equals(parts[1]))
            .map(method -> selectMethod(loaded(found), method)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException(parts[0] + " has no test " + parts[1]));
    }

    private static Class<?> loaded(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException error) {
            throw new IllegalArgumentException(name, error);
        }
    }

    private static String simple(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private static Path jarOf(String artifact) {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of)
            .filter(path -> path.getFileName().toString().matches(artifact + "-[0-9.]+-test[.]jar")).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no tests of " + artifact + " are on the class path"));
    }

    private static List<String> classesOf(Path jar) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream().map(entry -> entry.getName())
                .filter(name -> name.endsWith(".class") && !name.contains("$"))
                .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.')).sorted().toList();
        }
    }
}
