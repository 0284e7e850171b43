package oracle;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Why a question has no answer; most often what one of Kafka's classes threw. */
final class OracleException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String stage;
    private final String kind;

    OracleException(String stage, String message) {
        super(message);
        this.stage = stage;
        this.kind = "OracleException";
    }

    OracleException(String stage, Throwable cause) {
        super(cause.getMessage(), cause);
        this.stage = stage;
        this.kind = cause.getClass().getSimpleName();
    }

    ObjectNode toJson(ObjectMapper mapper) {
        return mapper.createObjectNode().put("stage", stage).put("kind", kind).put("message", getMessage());
    }
}
