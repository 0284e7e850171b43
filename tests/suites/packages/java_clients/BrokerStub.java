package kafkawire.suites;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import kafka.server.KafkaBroker;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.Node;
import org.apache.kafka.metadata.BrokerState;
import org.apache.kafka.metadata.MetadataCache;

/** What tests get as the object of a broker: it starts and stops the process, and has no parts that could be read. */
final class BrokerStub implements InvocationHandler {
    private final OneBroker cluster;

    private BrokerStub(OneBroker cluster) {
        this.cluster = cluster;
    }

    static KafkaBroker of(OneBroker cluster) {
        ClassLoader loader = KafkaBroker.class.getClassLoader();
        Class<?>[] interfaces = {KafkaBroker.class};
        return (KafkaBroker) Proxy.newProxyInstance(loader, interfaces, new BrokerStub(cluster));
    }

    @Override
    public Object invoke(Object stub, Method method, Object[] arguments) {
        switch (method.getName()) {
            case "startup":
                cluster.startBroker(0);
                return null;
            case "shutdown":
                cluster.shutdownBroker(0);
                return null;
            case "awaitShutdown": // stopping waits for the end of the process
                return null;
            case "isShutdown":
                return !cluster.isRunning();
            case "brokerState":
                return cluster.isRunning() ? BrokerState.RUNNING : BrokerState.NOT_RUNNING;
            case "boundPort":
                return cluster.brokerBoundPorts().get(0);
            case "clusterId":
                return cluster.clusterId();
            case "config":
                return config();
            case "metadataCache":
                return metadataCache();
            case "hashCode":
                return System.identityHashCode(stub);
            case "equals":
                return stub == arguments[0];
            case "toString":
                return "broker 0 at " + cluster.bootstrapServers();
            default:
                throw cluster.needs().missing("the objects of a broker (" + method.getName() + ")");
        }
    }

    /** What the broker has read of the cluster: that it is alive. */
    private MetadataCache metadataCache() {
        ClassLoader loader = MetadataCache.class.getClassLoader();
        Class<?>[] interfaces = {MetadataCache.class};
        return (MetadataCache) Proxy.newProxyInstance(loader, interfaces, (cache, method, arguments) -> {
            if (method.getName().equals("getAliveBrokerNodes")) {
                Node node = new Node(0, "localhost", cluster.brokerBoundPorts().get(0));
                return cluster.isRunning() ? List.of(node) : List.of();
            }
            throw cluster.needs().missing("the objects of a broker (metadataCache." + method.getName() + ")");
        });
    }

    /** The configuration that it was started with; one as broker and controller, as the class demands. */
    private KafkaConfig config() {
        Map<String, Object> properties = new HashMap<>(cluster.properties());
        properties.put("process.roles", "broker,controller");
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put("controller.quorum.voters", "0@localhost:1");
        properties.merge("listeners", ",CONTROLLER://localhost:1", (old, added) -> old + (String) added);
        properties.merge(
            "listener.security.protocol.map", ",CONTROLLER:PLAINTEXT", (old, added) -> old + (String) added);
        return new KafkaConfig(properties, false);
    }
}
