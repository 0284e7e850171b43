import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;

/**
 * What Kafka's own request classes answer when a request is refused as a whole. Reads lines of API key, version, error
 * code and the request's bytes; prints the bytes of the response, "-" where there is none, or "!"
 * and why the request cannot be read. Bytes are hexadecimal.
 */
public final class Refusals {
    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", -1);
            short version = Short.parseShort(words[1]);
            ApiKeys key = ApiKeys.forId(Integer.parseInt(words[0]));
            System.out.println(refusal(key, version, Short.parseShort(words[2]), words[3]));
        }
    }

    private static String refusal(ApiKeys key, short version, short code, String hex) {
        ByteBuffer buffer = ByteBuffer.wrap(HexFormat.of().parseHex(hex));
        AbstractResponse response;
        try {
            AbstractRequest request = AbstractRequest.parseRequest(key, version, new ByteBufferAccessor(buffer)).request;
            response = request.getErrorResponse(7, Errors.forCode(code).exception());
        } catch (RuntimeException e) {
            return "! " + e;
        }
        if (response == null) {
            return "-";
        }
        ByteBuffer bytes = MessageUtil.toByteBufferAccessor(response.data(), version).buffer();
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        return HexFormat.of().formatHex(copy);
    }
}
