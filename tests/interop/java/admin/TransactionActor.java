package admin;

import admin.Plain.Partition;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A transaction that has begun and has written one record. */
final class TransactionActor implements Actors.Actor {
    private final KafkaProducer<String, String> producer;

    TransactionActor(Map<String, String> client, String transactionalId, Partition partition) throws Exception {
        Map<String, Object> properties = new HashMap<>(client);
        properties.put("transactional.id", transactionalId);
        producer = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        producer.beginTransaction();
        producer.send(new ProducerRecord<>(partition.topic(), partition.partition(), null, "open")).get();
    }

    /** Write records; the offset of the last one. */
    static long produce(Map<String, String> client, Partition partition, List<String> values) throws Exception {
        Map<String, Object> properties = new HashMap<>(client);
        long offset = -1;
        try (var producer = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
            for (String value : values) {
                offset = producer.send(new ProducerRecord<>(partition.topic(), partition.partition(), null, value))
                    .get().offset();
            }
        }
        return offset;
    }

    @Override
    public void end(boolean inGoodOrder) {
        try (producer) {
            if (inGoodOrder) {
                producer.commitTransaction();
            } else {
                producer.abortTransaction();
            }
        }
    }
}
