package admin;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.ShareConsumer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;

import java.nio.file.Files;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A member of a group: it polls in a thread of its own until it is told to leave. */
final class MemberActor implements Actors.Actor {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long SECONDS_TO_JOIN = 30;

    /** What a member does again and again; true once it belongs to the group. */
    private interface Poll {
        boolean run();
    }

    private final CountDownLatch joined = new CountDownLatch(1);
    private final Thread thread;
    private volatile boolean leaving;
    private volatile Exception failure;

    private MemberActor(Poll poll, AutoCloseable client) throws Exception {
        thread = new Thread(() -> {
            try (client) {
                while (!leaving) {
                    if (poll.run()) {
                        joined.countDown();
                    }
                }
            } catch (Exception failure) {
                this.failure = failure;
                joined.countDown();
                throw new IllegalStateException(failure);
            }
        });
        thread.start();
        if (!joined.await(SECONDS_TO_JOIN, TimeUnit.SECONDS)) {
            String where = Arrays.toString(thread.getStackTrace());
            leaving = true;
            throw new TimeoutException("not in the group after " + SECONDS_TO_JOIN + " s; its thread is at " + where);
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** A member that has joined; kind is "classic", "consumer", "share" or "streams". */
    static Actors.Actor joined(Map<String, String> client, String group, List<String> topics, String kind)
        throws Exception {
        Map<String, Object> properties = new HashMap<>(client);
        properties.put("group.id", group);
        switch (kind) {
            case "classic", "consumer" -> {
                properties.put("group.protocol", kind);
                return consumer(properties, topics);
            }
            case "share" -> {
                return shareConsumer(properties, topics);
            }
            case "streams" -> {
                return streams(client, group, topics);
            }
            default -> throw new IllegalArgumentException("no kind of group " + kind);
        }
    }

    @Override
    public void end(boolean inGoodOrder) throws InterruptedException {
        leaving = true;
        thread.join();
    }

    private static MemberActor consumer(Map<String, Object> properties, List<String> topics) throws Exception {
        Consumer<String, String> consumer =
            new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(topics);
        return new MemberActor(() -> {
            consumer.poll(POLL);
            return !consumer.assignment().isEmpty();
        }, consumer);
    }

    private static MemberActor shareConsumer(Map<String, Object> properties, List<String> topics) throws Exception {
        ShareConsumer<String, String> consumer =
            new KafkaShareConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(topics);
        return new MemberActor(() -> {
            consumer.poll(POLL);
            return true; // a share consumer does not tell what it was assigned
        }, consumer);
    }

    private static Actors.Actor streams(Map<String, String> client, String group, List<String> topics)
        throws Exception {
        StreamsBuilder topology = new StreamsBuilder();
        topology.stream(topics, Consumed.with(Serdes.String(), Serdes.String())).foreach((key, value) -> { });
        Properties properties = new Properties();
        properties.putAll(client);
        properties.put("application.id", group);
        properties.put("group.protocol", "streams");
        properties.put("state.dir", Files.createTempDirectory("streams").toString());
        KafkaStreams streams = new KafkaStreams(topology.build(), properties);
        CountDownLatch running = new CountDownLatch(1);
        streams.setStateListener((state, before) -> {
            if (state == KafkaStreams.State.RUNNING) {
                running.countDown();
            }
        });
        streams.start();
        if (!running.await(SECONDS_TO_JOIN, TimeUnit.SECONDS)) {
            end(streams);
            throw new TimeoutException("not running after " + SECONDS_TO_JOIN + " s");
        }
        return inGoodOrder -> end(streams);
    }

    private static void end(KafkaStreams streams) {
        streams.close();
        streams.cleanUp();
    }
}
