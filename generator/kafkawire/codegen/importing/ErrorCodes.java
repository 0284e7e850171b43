import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InvalidMetadataException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/** Prints Kafka's error codes as CSV, in the form of specs/error-codes.csv. */
public class ErrorCodes {
    public static void main(String[] args) {
        System.out.println("code,name,retriable,invalid_metadata");
        for (Errors error : Errors.values()) {
            ApiException exception = error.exception();
            System.out.println(
                error.code() + "," + error.name()
                    + "," + (exception instanceof RetriableException)
                    + "," + (exception instanceof InvalidMetadataException));
        }
    }
}
