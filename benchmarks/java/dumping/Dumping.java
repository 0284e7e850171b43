import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

import org.apache.kafka.tools.DumpLogSegments;

/** Runs kafka-dump-log in one process, once for each line of input, and answers with the seconds that it took. */
public final class Dumping {
    private Dumping() {
    }

    /** The arguments are those of kafka-dump-log. What it prints is thrown away, which costs it least. */
    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(new PrintStream(
            new BufferedOutputStream(OutputStream.nullOutputStream(), 1 << 20), false, StandardCharsets.UTF_8));
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (questions.readLine() != null) {
            long begin = System.nanoTime();
            DumpLogSegments.main(arguments);
            answers.println((System.nanoTime() - begin) / 1e9);
            answers.flush();
        }
    }
}
