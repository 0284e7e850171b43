package kafkawire.suites;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** An embedded broker as a process; it can be stopped and started again with its port and its data. */
final class BrokerProcess {
    private static final int SECONDS_TO_START = 60;
    private static final int SECONDS_TO_STOP = 60;

    private final Path folder;
    private final int port;
    private Process process;

    BrokerProcess() {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
            folder = Files.createTempDirectory(Path.of(System.getenv("KAFKAWIRE_SUITE_FOLDER")), "broker-");
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    int port() {
        return port;
    }

    /** Start the process, and wait until clients can connect. */
    void start(Map<String, String> properties) {
        Path ready = folder.resolve("ready");
        Path output = folder.resolve("output");
        try {
            Files.write(folder.resolve("properties"), lines(properties));
            process = command(ready).redirectErrorStream(true).redirectOutput(appended(output)).start();
            for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS_TO_START); !Files.exists(ready); ) {
                if (process.waitFor(10, TimeUnit.MILLISECONDS) || System.nanoTime() > end) {
                    throw new IllegalStateException("the broker did not start: " + Files.readString(output));
                }
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            throw interrupted(error);
        }
    }

    boolean isRunning() {
        return process != null && process.isAlive();
    }

    /** End the process as an operator does. */
    void stop() {
        if (process == null) {
            return;
        }
        process.destroy();
        try {
            if (!process.waitFor(SECONDS_TO_STOP, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
                throw new IllegalStateException("the broker did not stop within " + SECONDS_TO_STOP + " s");
            }
        } catch (InterruptedException error) {
            process.destroyForcibly();
            throw interrupted(error);
        }
    }

    /** What the process printed besides its address. */
    String warnings() {
        try (Stream<String> lines = Files.lines(folder.resolve("output"))) {
            return lines.filter(line -> !line.startsWith("kafkawire broker listens")).collect(Collectors.joining("\n"));
        } catch (IOException error) {
            return "";
        }
    }

    /** Remove the data. */
    void remove() {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private ProcessBuilder command(Path ready) {
        ProcessBuilder command = new ProcessBuilder(
            System.getenv("KAFKAWIRE_SUITE_PYTHON"), "-m", "kafkawire", "broker",
            "--properties", folder.resolve("properties").toString(),
            "--data-dir", folder.resolve("data").toString(),
            "--ready-file", ready.toString());
        command.environment().put("PYTHONPATH", System.getenv("KAFKAWIRE_SUITE_IMPORTS"));
        return command.directory(new File(System.getenv("KAFKAWIRE_SUITE_ROOT")));
    }

    private static ProcessBuilder.Redirect appended(Path file) {
        return ProcessBuilder.Redirect.appendTo(file.toFile());
    }

    private static List<String> lines(Map<String, String> properties) {
        return properties.entrySet().stream().map(each -> each.getKey() + "=" + each.getValue()).sorted().toList();
    }

    private static IllegalStateException interrupted(InterruptedException error) {
        Thread.currentThread().interrupt();
        return new IllegalStateException("interrupted", error);
    }
}
