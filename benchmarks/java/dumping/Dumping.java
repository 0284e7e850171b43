import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;

import org.apache.kafka.tools.DumpLogSegments;

/**
 * Runs kafka-dump-log in one process, once for each line of input, and answers with the seconds of processor time that
 * its thread took: what the garbage collector and the compiler do beside it does not count.
 */
public final class Dumping {
    private Dumping() {
    }

    /** The arguments are those of kafka-dump-log. What it prints is thrown away, which costs it least. */
    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(new PrintStream(
            new BufferedOutputStream(OutputStream.nullOutputStream(), 1 << 20), false, StandardCharsets.UTF_8));
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        while (questions.readLine() != null) {
            long begin = clock.getCurrentThreadCpuTime();
            DumpLogSegments.main(arguments);
            answers.println((clock.getCurrentThreadCpuTime() - begin) / 1e9);
            answers.flush();
        }
    }
}
