import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;

/**
 * Counts words with Kafka Streams while instances of the application come and go, and prints each word with its count,
 * and how many counts were written. The argument is a file of properties of the application.
 *
 * <p>Words go through a repartition topic, and counts are in memory with a changelog, from which an instance restores
 * those of the partitions that it takes over.
 */
public final class WordCount {
    private static final int ROUNDS = 4;
    private static final int LINES = 200;
    private static final int WORDS = 17;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private WordCount() {
    }

    public static void main(String[] arguments) throws IOException, InterruptedException, ExecutionException {
        Properties properties = new Properties();
        try (var reader = Files.newBufferedReader(Path.of(arguments[0]))) {
            properties.load(reader);
        }
        Map<String, Long> expected = new TreeMap<>();
        KafkaStreams first = started(properties, "first");
        KafkaStreams second = null;
        for (int round = 0; round < ROUNDS; round++) {
            write(properties, round, expected);
            waitForCounts(properties, expected);
            if (round == 0) {
                second = started(properties, "second");
            } else if (round == 1) {
                first.close(PATIENCE);
            } else if (round == 2) {
                first = started(properties, "first");
            }
        }
        List<ConsumerRecord<String, Long>> counts = committed(properties);
        latest(counts).forEach((word, count) -> System.out.println(word + " " + count));
        System.out.println(counts.size());
        second.close(PATIENCE);
        first.close(PATIENCE);
    }

    private static Topology topology() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("lines", Consumed.with(Serdes.String(), Serdes.String()))
            .flatMapValues(line -> List.of(line.split(" ")))
            .groupBy((key, word) -> word, Grouped.with("words", Serdes.String(), Serdes.String()))
            .count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("counts"))
                .withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()).withCachingDisabled())
            .toStream()
            .to("counts", Produced.with(Serdes.String(), Serdes.Long()));
        return builder.build();
    }

    private static KafkaStreams started(Properties properties, String name) throws InterruptedException {
        Properties own = new Properties();
        own.putAll(properties);
        own.put("client.id", name);
        own.put("state.dir", Path.of(properties.getProperty("state.dir"), name).toString());
        KafkaStreams streams = new KafkaStreams(topology(), own);
        streams.start();
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (streams.state() != KafkaStreams.State.RUNNING) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException(name + " is " + streams.state());
            }
            Thread.sleep(20);
        }
        return streams;
    }

    private static void write(Properties properties, int round, Map<String, Long> expected) {
        var serializer = new StringSerializer();
        try (var producer = new KafkaProducer<>(clientOf(properties), serializer, serializer)) {
            for (int number = round * LINES; number < (round + 1) * LINES; number++) {
                String[] words = {"w" + number % WORDS, "w" + number / 3 % WORDS};
                for (String word : words) {
                    expected.merge(word, 1L, Long::sum);
                }
                producer.send(new ProducerRecord<>("lines", "key" + number, String.join(" ", words)));
            }
        }
    }

    private static void waitForCounts(Properties properties, Map<String, Long> expected) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        Map<String, Long> found = latest(committed(properties));
        while (!found.equals(expected)) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("counts are " + found + ", not " + expected);
            }
            Thread.sleep(100);
            found = latest(committed(properties));
        }
    }

    private static Map<String, Long> latest(List<ConsumerRecord<String, Long>> records) {
        Map<String, Long> latest = new TreeMap<>();
        records.forEach(each -> latest.put(each.key(), each.value()));
        return latest;
    }

    private static List<ConsumerRecord<String, Long>> committed(Properties properties) {
        Properties own = clientOf(properties);
        own.put("isolation.level", "read_committed");
        List<ConsumerRecord<String, Long>> records = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(own, new StringDeserializer(), new LongDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor("counts").stream()
                .map(each -> new TopicPartition("counts", each.partition())).toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
                consumer.poll(Duration.ofMillis(100)).forEach(records::add);
            }
        }
        return records;
    }

    private static Properties clientOf(Properties properties) {
        Properties own = new Properties();
        own.put("bootstrap.servers", properties.getProperty("bootstrap.servers"));
        return own;
    }
}
