package oracle;

import org.apache.kafka.common.protocol.Message;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * All message classes of a release, found by what they are, not by a list of packages: they implement
 * {@link Message} and stand in a package that holds JSON converters or is called "generated".
 */
final class MessageClasses {
    private static final String CONVERTER = "JsonConverter";

    /** Simple name to qualified names: enumerations of message types occur in more than one package. */
    private final Map<String, List<String>> qualifiedNames;
    private final Map<String, MessageClass> found = new HashMap<>();

    private MessageClasses(Map<String, List<String>> qualifiedNames) {
        this.qualifiedNames = qualifiedNames;
    }

    static MessageClasses onClassPath() throws IOException {
        List<String> names = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (new File(entry).getName().startsWith("kafka-")) {
                addClassNames(entry, names);
            }
        }
        Set<String> packages = new HashSet<>();
        for (String name : names) {
            if (name.endsWith(CONVERTER) || packageOf(name).endsWith(".generated")) {
                packages.add(packageOf(name));
            }
        }
        Map<String, List<String>> qualifiedNames = new TreeMap<>();
        for (String name : names) {
            if (packages.contains(packageOf(name)) && !name.endsWith(CONVERTER)) {
                String simpleName = name.substring(packageOf(name).length() + 1);
                qualifiedNames.computeIfAbsent(simpleName, none -> new ArrayList<>()).add(name);
            }
        }
        return new MessageClasses(qualifiedNames);
    }

    /** The class of a message: requests, responses and headers have "Data" behind their name, others have not. */
    MessageClass named(String message) throws OracleException {
        MessageClass known = found.get(message);
        if (known != null) {
            return known;
        }
        for (String simpleName : List.of(message, message + "Data")) {
            MessageClass loaded = load(simpleName);
            if (loaded != null) {
                found.put(message, loaded);
                return loaded;
            }
        }
        throw new OracleException("find", "this release has no class for the message " + message);
    }

    List<MessageClass> all() throws OracleException {
        List<MessageClass> all = new ArrayList<>();
        for (String simpleName : qualifiedNames.keySet()) {
            MessageClass loaded = load(simpleName);
            if (loaded != null) {
                all.add(loaded);
            }
        }
        return all;
    }

    /** The enumerations of record types that stand beside the messages. */
    List<Class<?>> recordTypes() throws OracleException {
        List<Class<?>> enumerations = new ArrayList<>();
        for (String simpleName : qualifiedNames.keySet()) {
            for (Class<?> type : types(simpleName)) {
                if (Tables.isRecordTypes(type)) {
                    enumerations.add(type);
                }
            }
        }
        return enumerations;
    }

    /** The class, or null if there is none of that name that is a message. */
    private MessageClass load(String simpleName) throws OracleException {
        List<MessageClass> messages = new ArrayList<>();
        for (Class<?> type : types(simpleName)) {
            if (Message.class.isAssignableFrom(type) && !type.isInterface()) {
                messages.add(MessageClass.of(type.asSubclass(Message.class)));
            }
        }
        if (messages.size() > 1) {
            throw new OracleException("find", "more than one message is called " + simpleName);
        }
        return messages.isEmpty() ? null : messages.get(0);
    }

    private List<Class<?>> types(String simpleName) throws OracleException {
        List<Class<?>> types = new ArrayList<>();
        for (String qualifiedName : qualifiedNames.getOrDefault(simpleName, List.of())) {
            try {
                types.add(Class.forName(qualifiedName));
            } catch (ReflectiveOperationException | LinkageError failure) {
                throw new OracleException("find", failure);
            }
        }
        return types;
    }

    private static void addClassNames(String jar, List<String> names) throws IOException {
        try (ZipFile file = new ZipFile(jar)) {
            file.stream()
                .map(ZipEntry::getName)
                .filter(name -> name.startsWith("org/apache/kafka/") && name.endsWith(".class") && !name.contains("$"))
                .forEach(name -> names.add(name.substring(0, name.length() - ".class".length()).replace('/', '.')));
        }
    }

    private static String packageOf(String qualifiedName) {
        return qualifiedName.substring(0, qualifiedName.lastIndexOf('.'));
    }
}
