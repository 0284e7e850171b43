package clocked;

import org.apache.kafka.common.utils.Time;

import java.util.function.Supplier;

/** A clock that stands until it is moved. */
public final class MovedTime implements Time {
    private long now = 1_767_225_600_000L;

    @Override
    public long milliseconds() {
        return now;
    }

    @Override
    public long nanoseconds() {
        return now * 1_000_000;
    }

    @Override
    public void sleep(long milliseconds) {
        now += milliseconds;
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadline) {
        throw new UnsupportedOperationException();
    }
}
