import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Creates a topic, writes a record to it, and prints what the admin and the producer answer. The argument is a file of
 * properties.
 */
public final class RoundTrip {
    private RoundTrip() {
    }

    public static void main(String[] arguments) throws IOException, InterruptedException, ExecutionException {
        Properties properties = new Properties();
        try (var reader = Files.newBufferedReader(Path.of(arguments[0]))) {
            properties.load(reader);
        }
        try (Admin admin = Admin.create(properties)) {
            admin.createTopics(List.of(new NewTopic("orders", 2, (short) 1))).all().get();
            System.out.println(admin.listTopics().names().get());
            var serializer = new StringSerializer();
            try (var producer = new KafkaProducer<>(properties, serializer, serializer)) {
                System.out.println(producer.send(new ProducerRecord<>("orders", 1, "key", "value")).get().offset());
            }
            TopicPartition partition = new TopicPartition("orders", 1);
            System.out.println(admin.listOffsets(Map.of(partition, OffsetSpec.latest())).partitionResult(partition).get().offset());
            try {
                admin.deleteConsumerGroups(List.of("readers")).all().get();
            } catch (ExecutionException refused) {
                System.out.println(refused.getCause().getClass().getSimpleName());
            }
            System.out.println(admin.describeCluster().clusterId().get());
        }
    }
}
