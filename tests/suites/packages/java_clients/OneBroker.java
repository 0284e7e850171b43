package kafkawire.suites;

import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import kafka.server.ControllerServer;
import kafka.server.KafkaBroker;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.FinalizedVersionRange;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.test.ClusterInstance;
import org.apache.kafka.common.test.api.ClusterConfig;
import org.apache.kafka.common.test.api.Type;
import org.apache.kafka.server.common.Feature;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.fault.FaultHandlerException;

/** A cluster of one embedded broker, which is a process with an address. */
final class OneBroker implements ClusterInstance {
    private static final String CONTROLLER_OBJECTS = "the objects of a controller";
    private static final int SECONDS_TO_WAIT = 15;

    private final ClusterConfig config;
    private final Type type;
    private final Needs needs = new Needs();
    private final BrokerProcess process = new BrokerProcess();
    private final Map<Integer, KafkaBroker> brokers;
    private boolean started;
    private boolean stopped;
    private boolean lacksOthers;

    OneBroker(ClusterConfig config, Type type) {
        this.config = config;
        this.type = type;
        this.brokers = new Brokers(config.numBrokers(), needs);
        brokers.put(0, BrokerStub.of(this));
    }

    Needs needs() {
        return needs;
    }

    boolean isRunning() {
        return process.isRunning();
    }

    Map<String, String> properties() {
        return OneNodeProperties.at(process.port(), config);
    }

    /** What the broker printed; for the report of a failure. */
    String warnings() {
        return process.warnings();
    }

    @Override
    public void start() {
        if (started) {
            return;
        }
        OneNodeProperties.classOfTests(config).ifPresent(name -> {
            throw needs.missing("the Java class " + name.substring(name.lastIndexOf('.') + 1) + " in the broker");
        });
        process.start(properties());
        started = true;
        setFeatures();
    }

    @Override
    public boolean started() {
        return started;
    }

    @Override
    public void stop() {
        if (!stopped) {
            stopped = true;
            process.stop();
        }
    }

    /** Remove the data of the broker. */
    void remove() {
        process.remove();
    }

    @Override
    public boolean stopped() {
        return stopped;
    }

    /** Stop the only broker; if the test asks for more and fails, it expects that these go on. */
    @Override
    public void shutdownBroker(int id) {
        brokers.get(id);
        lacksOthers = config.numBrokers() > 1;
        process.stop();
    }

    /** Whether the test has stopped a broker whose work others were to take over. */
    boolean lacksOthers() {
        return lacksOthers;
    }

    @Override
    public void startBroker(int id) {
        brokers.get(id);
        process.start(properties());
    }

    @Override
    public Type type() {
        return type;
    }

    @Override
    public ClusterConfig config() {
        return config;
    }

    @Override
    public Map<Integer, KafkaBroker> brokers() {
        return brokers;
    }

    @Override
    public Map<Integer, ControllerServer> controllers() {
        throw needs.missing(CONTROLLER_OBJECTS);
    }

    @Override
    public Set<Integer> controllerIds() {
        return Set.of(0);
    }

    @Override
    public ListenerName clientListener() {
        return config.brokerListenerName();
    }

    @Override
    public ListenerName controllerListenerName() {
        return config.controllerListenerName();
    }

    @Override
    public String bootstrapServers() {
        return "localhost:" + process.port();
    }

    @Override
    public String bootstrapControllers() {
        throw needs.missing("a controller with an address of its own");
    }

    @Override
    public List<Integer> controllerBoundPorts() {
        throw needs.missing("a controller with an address of its own");
    }

    @Override
    public List<Integer> brokerBoundPorts() {
        return List.of(process.port());
    }

    @Override
    public String clusterId() {
        try (Admin admin = admin()) {
            return done(() -> admin.describeCluster().clusterId().get());
        }
    }

    @Override
    public Set<GroupProtocol> supportedGroupProtocols() {
        boolean classicOnly = Short.valueOf((short) 0).equals(config.features().get(Feature.GROUP_VERSION));
        return classicOnly ? EnumSet.of(GroupProtocol.CLASSIC) : EnumSet.allOf(GroupProtocol.class);
    }

    @Override
    public <K, V> Consumer<K, V> consumer(Map<String, Object> configs) {
        Map<String, Object> whole = new HashMap<>(configs);
        whole.putIfAbsent(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
        whole.putIfAbsent(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
        whole.putIfAbsent(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        whole.putIfAbsent(ConsumerConfig.GROUP_ID_CONFIG, "group_" + UUID.randomUUID());
        whole.putIfAbsent(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers());
        return new KafkaConsumer<>(setClientSaslConfig(whole));
    }

    @Override
    public Optional<FaultHandlerException> firstFatalException() {
        return Optional.empty();
    }

    @Override
    public Optional<FaultHandlerException> firstNonFatalException() {
        return Optional.empty();
    }

    @Override
    public void createTopic(String name, int partitions, short replicas) throws InterruptedException {
        createTopic(name, partitions, replicas, Map.of());
    }

    /** Create a topic with one replica: a test seldom depends on the others. */
    @Override
    public void createTopic(String name, int partitions, short replicas, Map<String, String> configs)
            throws InterruptedException {
        ClusterInstance.super.createTopic(name, partitions, (short) Math.min(replicas, 1), configs);
    }

    @Override
    public void createTopicWithAssignment(String name, Map<Integer, List<Integer>> assignment)
            throws InterruptedException {
        assignment.values().forEach(replicas -> replicas.forEach(brokers::get));
        ClusterInstance.super.createTopicWithAssignment(name, assignment);
    }

    @Override
    public void waitForReadyBrokers() {
        clusterId();
    }

    @Override
    public void waitTopicCreation(String topic, int partitions) throws InterruptedException {
        waitForPartitions(topic, partitions);
    }

    @Override
    public void waitTopicDeletion(String topic) throws InterruptedException {
        waitForPartitions(topic, 0);
    }

    /** The answers of one node are those of all. */
    @Override
    public void ensureConsistentMetadata() {
    }

    @Override
    public void ensureConsistentMetadata(Collection<KafkaBroker> some, Collection<ControllerServer> controllers) {
    }

    @Override
    public void waitAcls(AclBindingFilter filter, Collection<AccessControlEntry> entries)
            throws InterruptedException {
        try (Admin admin = admin()) {
            waitUntil(() -> {
                Collection<AclBinding> found = admin.describeAcls(filter).values().get();
                return found.stream().map(AclBinding::entry).collect(Collectors.toSet()).equals(new HashSet<>(entries));
            }, "the ACLs are not " + entries);
        }
    }

    private void waitForPartitions(String topic, int partitions) throws InterruptedException {
        try (Admin admin = admin()) {
            waitUntil(
                () -> partitionsOf(admin, topic) == partitions, topic + " has not " + partitions + " partitions");
        } catch (AssertionError error) {
            if (config.numBrokers() > 1) { // tests do not read why their topics were refused
                throw needs.missing("replicas on " + config.numBrokers() + " brokers, or topics that were refused");
            }
            throw error;
        }
    }

    private static void waitUntil(Callable<Boolean> condition, String otherwise) throws InterruptedException {
        for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS_TO_WAIT); !done(condition); ) {
            if (System.nanoTime() > end) {
                throw new AssertionError(otherwise);
            }
            Thread.sleep(20);
        }
    }

    private static int partitionsOf(Admin admin, String topic) throws InterruptedException, ExecutionException {
        try {
            return admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size();
        } catch (ExecutionException error) {
            if (error.getCause() instanceof UnknownTopicOrPartitionException) {
                return 0;
            }
            throw error;
        }
    }

    /** Bring the features to the levels that the test asks for: the broker begins with those of its release. */
    private void setFeatures() {
        Map<String, Short> wanted = new HashMap<>();
        config.features().forEach((feature, level) -> wanted.put(feature.featureName(), level));
        if (config.metadataVersion() != MetadataVersion.latestTesting()) {
            wanted.put(MetadataVersion.FEATURE_NAME, config.metadataVersion().featureLevel());
        }
        if (wanted.isEmpty()) {
            return;
        }
        try (Admin admin = admin()) {
            Map<String, FinalizedVersionRange> now =
                done(() -> admin.describeFeatures().featureMetadata().get().finalizedFeatures());
            Map<String, FeatureUpdate> updates = new HashMap<>();
            wanted.forEach((name, level) -> {
                short current = now.containsKey(name) ? now.get(name).maxVersionLevel() : 0;
                if (current != level) {
                    updates.put(name, new FeatureUpdate(level, level > current
                        ? FeatureUpdate.UpgradeType.UPGRADE : FeatureUpdate.UpgradeType.SAFE_DOWNGRADE));
                }
            });
            if (!updates.isEmpty()) {
                admin.updateFeatures(updates).all().get();
            }
        } catch (ExecutionException error) {
            throw needs.missing("a broker formatted with " + wanted);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(error);
        }
    }

    private static <T> T done(Callable<T> question) {
        try {
            return question.call();
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    /** One broker; a test that asks for the second one is aborted. */
    private static final class Brokers extends HashMap<Integer, KafkaBroker> {
        private static final long serialVersionUID = 1L;

        private final int wanted;
        private final transient Needs needs;

        Brokers(int wanted, Needs needs) {
            this.wanted = wanted;
            this.needs = needs;
        }

        @Override
        public KafkaBroker get(Object id) {
            if (id instanceof Integer && (Integer) id > 0 && (Integer) id < wanted) {
                throw needs.missing(wanted + " brokers");
            }
            if (!containsKey(id)) {
                throw new IllegalArgumentException("Unknown brokerId " + id);
            }
            return super.get(id);
        }
    }
}
