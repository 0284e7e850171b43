package kafkawire.suites;

import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.errors.InvalidReplicaAssignmentException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.test.ClusterInstance;
import org.apache.kafka.common.test.api.ClusterConfig;
import org.apache.kafka.common.test.api.Type;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.opentest4j.TestAbortedException;

/** One run of a test, with one embedded broker: it starts before the test and is gone after it. */
final class OneBrokerContext implements TestTemplateInvocationContext {
    private final String name;
    private final ClusterConfig config;
    private final Type type;

    OneBrokerContext(String name, ClusterConfig config, Type type) {
        this.name = name;
        this.config = config;
        this.type = type;
    }

    @Override
    public String getDisplayName(int index) {
        return name;
    }

    @Override
    public List<Extension> getAdditionalExtensions() {
        return List.of(new Lifecycle(new OneBroker(config, type)));
    }

    private static final class Lifecycle implements BeforeEachCallback, AfterTestExecutionCallback, AfterEachCallback,
            ParameterResolver, TestExecutionExceptionHandler, LifecycleMethodExecutionExceptionHandler {
        private final OneBroker cluster;

        Lifecycle(OneBroker cluster) {
            this.cluster = cluster;
        }

        @Override
        public void beforeEach(ExtensionContext context) {
            if (cluster.config().isAutoStart()) {
                cluster.start();
            }
        }

        /** Stop the broker; a test that passed although it did not get all that it asked for has not passed. */
        @Override
        public void afterTestExecution(ExtensionContext context) {
            cluster.stop();
            if (context.getExecutionException().isEmpty()) {
                cluster.needs().reason().ifPresent(reason -> {
                    throw new TestAbortedException(reason);
                });
            }
        }

        @Override
        public void afterEach(ExtensionContext context) {
            cluster.stop();
            cluster.remove();
        }

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == ClusterInstance.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return cluster;
        }

        @Override
        public void handleTestExecutionException(ExtensionContext context, Throwable error) throws Throwable {
            throw explained(context, error);
        }

        @Override
        public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable error)
                throws Throwable {
            throw explained(context, error);
        }

        private Throwable explained(ExtensionContext context, Throwable error) {
            Optional<String> reason = cluster.needs().reason()
                .or(() -> Needs.known(context.getRequiredTestClass(), context.getRequiredTestMethod()));
            if (reason.isPresent()) {
                return new TestAbortedException(reason.get(), error);
            }
            if (cluster.lacksOthers()) {
                String others = "needs " + cluster.config().numBrokers() + " brokers, one of which stops";
                return new TestAbortedException(others, error);
            }
            if (cluster.config().numBrokers() > 1 && isOfReplicas(error)) {
                String replicas = "needs replicas on " + cluster.config().numBrokers() + " brokers";
                return new TestAbortedException(replicas, error);
            }
            if (cluster.config().numBrokers() > 1) {
                error.addSuppressed(new FewerBrokers(cluster.config().numBrokers()));
            }
            String warnings = cluster.warnings();
            if (!warnings.isEmpty()) {
                error.addSuppressed(new IllegalStateException("the broker printed:\n" + warnings));
            }
            return error;
        }

        private static boolean isOfReplicas(Throwable error) {
            return error instanceof InvalidReplicaAssignmentException
                || error instanceof InvalidReplicationFactorException
                || error.getCause() != null && isOfReplicas(error.getCause());
        }
    }
}
