package kafkawire.suites;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.common.test.api.ClusterConfig;
import org.apache.kafka.common.test.api.Type;
import org.apache.kafka.common.test.junit.ClusterTestExtensions;
import org.apache.kafka.common.test.junit.RaftClusterInvocationContext;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.opentest4j.TestAbortedException;

/** Takes the place of Apache Kafka's extension: that one reads the annotations, and this one chooses the cluster. */
public final class OneNodeExtension
        implements TestTemplateInvocationContextProvider, BeforeEachCallback, AfterEachCallback {
    private static final boolean APACHE = "apache".equals(System.getenv("KAFKAWIRE_SUITE_BROKER"));
    private static final boolean ONE_BROKER = "1".equals(System.getenv("KAFKAWIRE_SUITE_BROKERS"));

    private final ClusterTestExtensions theirs = new ClusterTestExtensions();

    @Override
    public boolean supportsTestTemplate(ExtensionContext context) {
        return theirs.supportsTestTemplate(context);
    }

    @Override
    public boolean mayReturnZeroTestTemplateInvocationContexts(ExtensionContext context) {
        return theirs.mayReturnZeroTestTemplateInvocationContexts(context);
    }

    @Override
    public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
        Stream<TestTemplateInvocationContext> asked = theirs.provideTestTemplateInvocationContexts(context);
        return APACHE && !ONE_BROKER ? asked : asked.map(OneNodeExtension::onOneNode);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        theirs.beforeEach(context);
    }

    /** Look for threads that a test has left, unless it was given up. */
    @Override
    public void afterEach(ExtensionContext context) {
        if (context.getExecutionException().filter(TestAbortedException.class::isInstance).isEmpty()) {
            theirs.afterEach(context);
        }
    }

    private static TestTemplateInvocationContext onOneNode(TestTemplateInvocationContext asked) {
        ClusterConfig config = (ClusterConfig) valueOf("clusterConfig", asked);
        boolean combined = (Boolean) valueOf("isCombined", asked);
        if (!APACHE) {
            return new OneBrokerContext(asked.getDisplayName(0), config, combined ? Type.CO_KRAFT : Type.KRAFT);
        }
        ClusterConfig smaller = ClusterConfig.builder(config)
            .setBrokers(1).setServerProperties(OneNodeProperties.of(config)).setPerServerProperties(Map.of()).build();
        return new ApacheNodeContext(new RaftClusterInvocationContext(asked.getDisplayName(0), smaller, combined));
    }

    private static Object valueOf(String name, TestTemplateInvocationContext context) {
        try {
            Field field = RaftClusterInvocationContext.class.getDeclaredField(name);
            field.setAccessible(true);
            return field.get(context);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException("this release of Apache Kafka has other test classes", error);
        }
    }
}
