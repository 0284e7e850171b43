package admin;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.utils.internals.Exit;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Kafka's command line tools, run in this process: a process of its own takes a second to start. */
final class Tools {
    /** Thrown where a tool would end the process. */
    private static final class ExitedException extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final int status;

        ExitedException(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    /** What a tool prints; it fails if the tool ends with another status than 0. */
    record RunTool(String tool, List<String> arguments) implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            PrintStream before = System.out;
            ByteArrayOutputStream printed = new ByteArrayOutputStream();
            Exit.setExitProcedure((status, message) -> {
                throw new ExitedException(status, message);
            });
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            try {
                Class.forName(tool).getMethod("main", String[].class)
                    .invoke(null, (Object) arguments.toArray(new String[0]));
            } catch (InvocationTargetException failure) {
                if (!(failure.getCause() instanceof ExitedException exited) || exited.status != 0) {
                    throw new IllegalStateException(printed.toString(StandardCharsets.UTF_8), failure.getCause());
                }
            } finally {
                System.setOut(before);
                Exit.resetExitProcedure();
            }
            return printed.toString(StandardCharsets.UTF_8);
        }
    }

    private Tools() {
    }
}
