package admin;

import admin.Plain.Partition;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.common.TopicPartition;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Transactions and producers. */
final class TransactionFamily {
    record ListTransactions() implements Operation {
        record Listed(String transactionalId, long producerId, String state) {
        }

        @Override
        public Object run(Admin admin) throws Exception {
            return admin.listTransactions().all().get().stream()
                .map(found -> new Listed(found.transactionalId(), found.producerId(), found.state().name()))
                .sorted(Comparator.comparing(Listed::transactionalId)).toList();
        }
    }

    record DescribeTransactions(List<String> ids) implements Operation {
        record Described(
            String transactionalId, int coordinator, String state, long producerId, int producerEpoch, long timeoutMs,
            Long startTimestamp, List<Partition> partitions
        ) {
            static Described of(String id, TransactionDescription transaction) {
                return new Described(
                    id, transaction.coordinatorId(), transaction.state().name(), transaction.producerId(),
                    transaction.producerEpoch(), transaction.transactionTimeoutMs(),
                    transaction.transactionStartTimeMs().isPresent()
                        ? transaction.transactionStartTimeMs().getAsLong() : null,
                    Plain.partitions(transaction.topicPartitions())
                );
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            List<Described> described = new ArrayList<>();
            admin.describeTransactions(ids).all().get()
                .forEach((id, transaction) -> described.add(Described.of(id, transaction)));
            described.sort(Comparator.comparing(Described::transactionalId));
            return described;
        }
    }

    record DescribeProducers(Partition partition) implements Operation {
        record Described(
            long producerId, int producerEpoch, int lastSequence, long lastTimestamp, Integer coordinatorEpoch,
            Long transactionStartOffset
        ) {
            static Described of(ProducerState producer) {
                return new Described(
                    producer.producerId(), producer.producerEpoch(), producer.lastSequence(), producer.lastTimestamp(),
                    producer.coordinatorEpoch().isPresent() ? producer.coordinatorEpoch().getAsInt() : null,
                    producer.currentTransactionStartOffset().isPresent()
                        ? producer.currentTransactionStartOffset().getAsLong() : null
                );
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            TopicPartition asked = partition.toKafka();
            return admin.describeProducers(List.of(asked)).partitionResult(asked).get().activeProducers().stream()
                .map(Described::of).sorted(Comparator.comparingLong(Described::producerId)).toList();
        }
    }

    private TransactionFamily() {
    }
}
