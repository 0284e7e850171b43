package kafkawire.suites;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import org.apache.kafka.common.test.ClusterInstance;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;

/** One run of a test with one broker of Apache Kafka, for which topics get one replica, as with ours. */
final class ApacheNodeContext implements TestTemplateInvocationContext {
    private final TestTemplateInvocationContext theirs;

    ApacheNodeContext(TestTemplateInvocationContext theirs) {
        this.theirs = theirs;
    }

    @Override
    public String getDisplayName(int index) {
        return theirs.getDisplayName(index);
    }

    @Override
    public List<Extension> getAdditionalExtensions() {
        return theirs.getAdditionalExtensions().stream().map(ApacheNodeContext::withOneReplica).toList();
    }

    private static Extension withOneReplica(Extension extension) {
        return extension instanceof ParameterResolver resolver ? new Resolver(resolver) : extension;
    }

    private record Resolver(ParameterResolver theirs) implements ParameterResolver {
        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return theirs.supportsParameter(parameter, context);
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            Object cluster = theirs.resolveParameter(parameter, context);
            Class<?>[] interfaces = {ClusterInstance.class};
            return Proxy.newProxyInstance(ClusterInstance.class.getClassLoader(), interfaces,
                (proxy, method, arguments) -> invoked(cluster, method, arguments));
        }

        private static Object invoked(Object cluster, Method method, Object[] arguments) throws Throwable {
            if (method.getName().equals("createTopic")) {
                arguments[2] = (short) Math.min((Short) arguments[2], 1);
            }
            try {
                method.setAccessible(true);
                return method.invoke(cluster, arguments);
            } catch (InvocationTargetException error) {
                throw error.getCause();
            }
        }
    }
}
