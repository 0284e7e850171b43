package admin;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.common.config.ConfigResource;

import java.util.Comparator;
import java.util.List;

/** Configs of every kind of resource. */
final class ConfigFamily {
    record DescribeConfigs(String type, String name) implements Operation {
        record Synonym(String name, String value, String source) {
        }

        record Described(
            String name, String value, String source, boolean sensitive, boolean readOnly, String type,
            String documentation, List<Synonym> synonyms
        ) {
            static Described of(ConfigEntry entry) {
                List<Synonym> synonyms = entry.synonyms().stream()
                    .map(synonym -> new Synonym(synonym.name(), synonym.value(), synonym.source().name())).toList();
                return new Described(
                    entry.name(), entry.value(), entry.source().name(), entry.isSensitive(), entry.isReadOnly(),
                    entry.type().name(), entry.documentation(), synonyms
                );
            }
        }

        @Override
        public Object run(Admin admin) throws Exception {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.valueOf(type), name);
            DescribeConfigsOptions options =
                new DescribeConfigsOptions().includeSynonyms(true).includeDocumentation(true);
            Config config = admin.describeConfigs(List.of(resource), options).all().get().get(resource);
            return config.entries().stream().map(Described::of).sorted(Comparator.comparing(Described::name)).toList();
        }
    }

    record ListConfigResources() implements Operation {
        record Listed(String type, String name) {
        }

        @Override
        public Object run(Admin admin) throws Exception {
            return admin.listConfigResources().all().get().stream()
                .map(resource -> new Listed(resource.type().name(), resource.name()))
                .sorted(Comparator.comparing(Listed::type).thenComparing(Listed::name)).toList();
        }
    }

    private ConfigFamily() {
    }
}
