package kafkawire.suites;

import java.util.Collection;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.internals.Topic;

/** A consumer that says at once that it gets no records of internal topics, in place of waiting for them. */
final class ReadingConsumer<K, V> extends KafkaConsumer<K, V> {
    private final Needs needs;

    ReadingConsumer(Map<String, Object> configs, Needs needs) {
        super(configs);
        this.needs = needs;
    }

    @Override
    public void assign(Collection<TopicPartition> partitions) {
        partitions.stream().map(TopicPartition::topic).filter(Topic::isInternal).findFirst().ifPresent(topic -> {
            throw needs.missing("a broker whose Fetch returns the records of " + topic);
        });
        super.assign(partitions);
    }
}
