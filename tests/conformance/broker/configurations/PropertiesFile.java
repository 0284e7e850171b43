package configurations;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** Prints what Java reads in properties files, or the name of what it throws, as one JSON list. */
public final class PropertiesFile {

    public static void main(String[] files) throws IOException {
        List<Object> read = new ArrayList<>();
        for (String file : files) {
            Properties properties = new Properties();
            try (var reader = Files.newBufferedReader(Path.of(file))) {
                properties.load(reader);
                read.add(properties);
            } catch (IllegalArgumentException malformed) {
                read.add(malformed.getClass().getSimpleName());
            }
        }
        System.out.println(new ObjectMapper().writeValueAsString(read));
    }

    private PropertiesFile() {
    }
}
