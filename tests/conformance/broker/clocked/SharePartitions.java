package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;

import clocked.MovedTime;

import kafka.server.KafkaConfig;
import kafka.server.ReplicaManager;

import org.apache.kafka.clients.consumer.internals.ShareAcquireMode;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.FetchResponseData.AbortedTransaction;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;
import org.apache.kafka.server.share.acknowledge.ShareAcknowledgementBatch;
import org.apache.kafka.server.share.fetch.InFlightBatch;
import org.apache.kafka.server.share.fetch.InFlightState;
import org.apache.kafka.server.share.fetch.RecordState;
import org.apache.kafka.server.share.persister.*;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.FetchPartitionData;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Comparator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * What Apache Kafka's own share partition does with the steps of a course, on a clock that the steps move. The argument
 * is a file of JSON lines. Each is answered by one: the outcome of each step and the state after it, first the recorded
 * state. The answer ends before a step at which Kafka fails.
 *
 * <pre>
 * {"most_in_flight": n, "most_deliveries": n, "lock_ms": n, "start": offset, "batches": [[first, last, state, count]],
 *  "steps": [S]}      S is one of
 *     ["acquire", member, strict, batch size, most records, fetch offset, records in Base64,
 *         null, or for a committed reader the aborted transactions [[producer id, first offset]]]
 *     ["acknowledge", member, [[first, last, [type]]], whether the write fails]
 *     ["release", member, whether the write fails]
 *     ["log_start", offset]
 *     ["advance", milliseconds, whether writes fail]
 * </pre>
 */
public final class SharePartitions {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, String> PROPERTIES = Map.of(
        "process.roles", "broker", "node.id", "1", "controller.listener.names", "CONTROLLER",
        "controller.quorum.voters", "2@localhost:9093", "listeners", "PLAINTEXT://localhost:9092");

    private static final class MovedTimer implements Timer {
        private final MovedTime time;
        private final PriorityQueue<TimerTaskEntry> entries =
            new PriorityQueue<>(Comparator.comparingLong((TimerTaskEntry entry) -> entry.expirationMs));

        MovedTimer(MovedTime time) {
            this.time = time;
        }

        @Override
        public void add(TimerTask task) {
            entries.add(new TimerTaskEntry(task, time.milliseconds() + task.delayMs));
        }

        @Override
        public boolean advanceClock(long milliseconds) {
            time.sleep(milliseconds);
            boolean any = false;
            while (!entries.isEmpty() && entries.peek().expirationMs <= time.milliseconds()) {
                TimerTaskEntry entry = entries.poll();
                if (!entry.cancelled()) {
                    entry.timerTask.run();
                    any = true;
                }
            }
            return any;
        }

        @Override
        public int size() {
            return entries.size();
        }

        @Override
        public void close() {
            entries.clear();
        }
    }

    /** Reads the given state, and accepts or refuses all writes. */
    private static final class GivenState implements Persister {
        private final long start;
        private final List<PersisterStateBatch> batches;
        private boolean fails = false;

        GivenState(JsonNode course) {
            start = course.get("start").asLong();
            batches = new ArrayList<>();
            for (JsonNode each : course.get("batches")) {
                batches.add(new PersisterStateBatch(
                    each.get(0).asLong(), each.get(1).asLong(), (byte) each.get(2).asInt(), (short) each.get(3).asInt()));
            }
        }

        @Override
        public CompletableFuture<ReadShareGroupStateResult> readState(ReadShareGroupStateParameters asked) {
            Uuid topic = asked.groupTopicPartitionData().topicsData().get(0).topicId();
            return CompletableFuture.completedFuture(new ReadShareGroupStateResult.Builder().setTopicsData(List.of(
                new TopicData<>(topic, List.of(PartitionFactory.newPartitionAllData(
                    0, 3, start, Errors.NONE.code(), "", batches))))).build());
        }

        @Override
        public CompletableFuture<WriteShareGroupStateResult> writeState(WriteShareGroupStateParameters asked) {
            Uuid topic = asked.groupTopicPartitionData().topicsData().get(0).topicId();
            Errors error = fails ? Errors.UNKNOWN_SERVER_ERROR : Errors.NONE;
            return CompletableFuture.completedFuture(new WriteShareGroupStateResult.Builder().setTopicsData(List.of(
                new TopicData<>(topic, List.of(PartitionFactory.newPartitionErrorData(
                    0, error.code(), ""))))).build());
        }

        @Override
        public CompletableFuture<InitializeShareGroupStateResult> initializeState(InitializeShareGroupStateParameters asked) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<DeleteShareGroupStateResult> deleteState(DeleteShareGroupStateParameters asked) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<ReadShareGroupStateSummaryResult> readSummary(ReadShareGroupStateSummaryParameters asked) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void stop() {
        }
    }

    public static void main(String[] arguments) throws Exception {
        ReplicaManager replicas = replicaManager();
        KafkaConfig config = KafkaConfig.fromProps(properties());
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            GroupConfigManager groups =
                new GroupConfigManager(Map.of(), config.groupCoordinatorConfig(), config.shareGroupConfig());
            System.out.println(JSON.writeValueAsString(answer(JSON.readTree(line), replicas, groups)));
        }
    }

    private static java.util.Properties properties() {
        java.util.Properties properties = new java.util.Properties();
        properties.putAll(PROPERTIES);
        return properties;
    }

    /** One without its constructor's work: only the waiting fetches are asked for. */
    private static ReplicaManager replicaManager() throws Exception {
        Class<?> allocator = Class.forName("sun.misc.Unsafe");
        Field only = allocator.getDeclaredField("theUnsafe");
        only.setAccessible(true);
        Object made = allocator.getMethod("allocateInstance", Class.class).invoke(only.get(null), ReplicaManager.class);
        Field waiting = ReplicaManager.class.getDeclaredField("delayedShareFetchPurgatory");
        waiting.setAccessible(true);
        waiting.set(made, new DelayedOperationPurgatory<DelayedShareFetch>(
            "ShareFetch", new MovedTimer(new MovedTime()), 1, 1000, false, false));
        return (ReplicaManager) made;
    }

    private static JsonNode answer(JsonNode course, ReplicaManager replicas, GroupConfigManager groups) throws Exception {
        MovedTime time = new MovedTime();
        GivenState state = new GivenState(course);
        MovedTimer timer = new MovedTimer(time);
        SharePartition partition = new SharePartition(
            "group", new TopicIdPartition(Uuid.randomUuid(), 0, "topic"), 7, course.get("most_in_flight").asInt(),
            course.get("most_deliveries").asInt(), course.get("lock_ms").asInt(), timer, time, state, replicas, groups,
            null);
        partition.maybeInitialize().get();
        ArrayNode answers = JSON.createArrayNode();
        answers.add(JSON.valueToTree(List.of(0, seen(partition))));
        for (JsonNode step : course.get("steps")) {
            try {
                answers.add(JSON.valueToTree(List.of(done(partition, state, timer, step), seen(partition))));
            } catch (NullPointerException | IllegalArgumentException | IllegalStateException broken) {
                break; // its state is not defined any more
            }
        }
        return answers;
    }

    private static Object done(SharePartition partition, GivenState state, MovedTimer timer, JsonNode step) throws Exception {
        state.fails = step.get(step.size() - 1).asBoolean(false);
        switch (step.get(0).asText()) {
            case "acquire":
                state.fails = false;
                List<List<Long>> acquired = new ArrayList<>();
                partition.acquire(
                    step.get(1).asText(),
                    step.get(2).asBoolean() ? ShareAcquireMode.RECORD_LIMIT : ShareAcquireMode.BATCH_OPTIMIZED,
                    step.get(3).asInt(), step.get(4).asInt(), step.get(5).asLong(), read(step.get(6), step.get(7)),
                    step.get(7).isNull() ? FetchIsolation.HIGH_WATERMARK : FetchIsolation.TXN_COMMITTED
                ).acquiredRecords().forEach(each ->
                    acquired.add(List.of(each.firstOffset(), each.lastOffset(), (long) each.deliveryCount())));
                return acquired;
            case "acknowledge":
                List<ShareAcknowledgementBatch> batches = new ArrayList<>();
                for (JsonNode each : step.get(2)) {
                    List<Byte> types = new ArrayList<>();
                    each.get(2).forEach(type -> types.add((byte) type.asInt()));
                    batches.add(new ShareAcknowledgementBatch(each.get(0).asLong(), each.get(1).asLong(), types));
                }
                return error(partition.acknowledge(step.get(1).asText(), batches));
            case "release":
                return error(partition.releaseAcquiredRecords(step.get(1).asText()));
            case "log_start":
                state.fails = false;
                partition.updateCacheAndOffsets(step.get(1).asLong());
                return 0;
            default:
                timer.advanceClock(step.get(1).asLong());
                return 0;
        }
    }

    private static FetchPartitionData read(JsonNode records, JsonNode transactions) throws Exception {
        List<AbortedTransaction> aborted = new ArrayList<>();
        transactions.forEach(each ->
            aborted.add(new AbortedTransaction().setProducerId(each.get(0).asLong()).setFirstOffset(each.get(1).asLong())));
        return new FetchPartitionData(
            Errors.NONE, 1_000_000, 0, MemoryRecords.readableRecords(ByteBuffer.wrap(records.binaryValue())),
            Optional.empty(), OptionalLong.empty(), transactions.isNull() ? Optional.empty() : Optional.of(aborted),
            OptionalInt.empty(), false);
    }

    private static int error(CompletableFuture<Void> result) throws InterruptedException {
        try {
            result.get();
            return 0;
        } catch (ExecutionException refused) {
            return Errors.forException(refused.getCause()).code();
        }
    }

    /** First and last offset in flight, what is done with, what comes next, and each record. */
    private static Object seen(SharePartition partition) {
        List<Object> batches = new ArrayList<>();
        for (InFlightBatch batch : partition.cachedState().values()) {
            List<Object> records = new ArrayList<>();
            if (batch.offsetState() == null) {
                records.add(List.of(
                    batch.batchState().id(), batch.batchDeliveryCount(), member(batch.batchMemberId())));
            } else {
                for (InFlightState each : batch.offsetState().values()) {
                    records.add(List.of(each.state().id(), each.deliveryCount(), member(each.memberId())));
                }
            }
            batches.add(List.of(batch.firstOffset(), batch.lastOffset(), records));
        }
        return List.of(
            partition.startOffset(), partition.endOffset(), partition.deliveryCompleteCount(),
            partition.nextFetchOffset(), partition.canAcquireRecords(), batches);
    }

    private static String member(String id) {
        return id.equals(InFlightState.EMPTY_MEMBER_ID) ? "" : id;
    }
}
