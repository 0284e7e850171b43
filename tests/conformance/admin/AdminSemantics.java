import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.DescribeClientQuotasRequestData;
import org.apache.kafka.common.message.DescribeClientQuotasRequestData.ComponentData;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Quota;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.requests.DescribeConfigsResponse;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;
import org.apache.kafka.common.utils.internals.Sanitizer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.controller.AclControlManager;
import org.apache.kafka.controller.ClientQuotaControlManager;
import org.apache.kafka.image.ClientQuotaImage;
import org.apache.kafka.image.ClientQuotasImage;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.network.Session;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;
import org.apache.kafka.server.authorizer.internals.CidrUtils;
import org.apache.kafka.server.config.ClientQuotaManagerConfig;
import org.apache.kafka.server.quota.ClientQuotaEntity.ConfigEntity;
import org.apache.kafka.server.quota.ClientQuotaManager;
import org.apache.kafka.server.quota.QuotaType;

import java.io.IOException;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What Apache Kafka's own classes decide about ACLs and quotas. The argument is a file of JSON lines; each is answered
 * by one. An ACL or filter is [resource type, name, pattern type, principal, host, operation, permission], with codes.
 *
 * <pre>
 * {"op": "codes"}                                                 by enumeration, the codes of its names
 * {"op": "match", "filters": [F], "acls": [A]}                    for each filter, whether it matches each ACL
 * {"op": "authorize", "acls": [A], "super_users": S, "open": B,
 *  "actions": [[principal type, principal, operation, resource type, name, host]]}      whether each is allowed,
 *                                                                 for a null name with some resource of the type
 * {"op": "describe", "entities": [E], "filters": [{"components": [[type, match, name]], "strict": B}]}
 *                                                                 for each filter, its entities or an error code
 * {"op": "resolve", "quotas": [[E, limit]], "clients": [[user, client id]]}
 *                                                                 for each client, limit or null, and its two tags
 * {"op": "principal", "rules": R, "subject": S}                  the name, or null if no rule is about it
 * {"op": "create", "acls": [A]}                                   for each, the error code of its creation
 * {"op": "ranges", "hosts": [H], "addresses": [A]}               for each host whether it is a range, and of which addresses
 * {"op": "alter", "alterations": [[E, {key: value or null}]]}     for each, the error code when it is the only one
 * </pre>
 */
public final class AdminSemantics {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double UNLIMITED = Long.MAX_VALUE;

    public static void main(String[] arguments) throws Exception {
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            JsonNode question = JSON.readTree(line);
            JsonNode answer = switch (question.get("op").asText()) {
                case "codes" -> codes();
                case "match" -> match(question);
                case "authorize" -> authorize(question);
                case "describe" -> describe(question);
                case "resolve" -> resolve(question);
                case "create" -> create(question);
                case "principal" -> principal(question);
                case "ranges" -> ranges(question);
                default -> alter(question);
            };
            System.out.println(JSON.writeValueAsString(answer));
        }
    }

    private static JsonNode codes() {
        ObjectNode answer = JSON.createObjectNode();
        for (ResourceType member : ResourceType.values()) {
            answer.withObject("/ResourceType").put(member.name(), member.code());
        }
        for (PatternType member : PatternType.values()) {
            answer.withObject("/PatternType").put(member.name(), member.code());
        }
        for (AclOperation member : AclOperation.values()) {
            answer.withObject("/AclOperation").put(member.name(), member.code());
        }
        for (AclPermissionType member : AclPermissionType.values()) {
            answer.withObject("/AclPermissionType").put(member.name(), member.code());
        }
        for (ConfigResource.Type member : ConfigResource.Type.values()) {
            answer.withObject("/ConfigResourceType").put(member.name(), member.id());
        }
        for (DescribeConfigsResponse.ConfigSource member : DescribeConfigsResponse.ConfigSource.values()) {
            answer.withObject("/ConfigSource").put(member.source().name(), member.id());
        }
        for (DescribeConfigsResponse.ConfigType member : DescribeConfigsResponse.ConfigType.values()) {
            answer.withObject("/ConfigType").put(member.name(), member.id());
        }
        return answer;
    }

    private static JsonNode match(JsonNode question) {
        ArrayNode answer = JSON.createArrayNode();
        for (JsonNode wanted : question.get("filters")) {
            AclBindingFilter filter = new AclBindingFilter(
                new ResourcePatternFilter(resourceType(wanted), text(wanted.get(1)), patternType(wanted)),
                new AccessControlEntryFilter(
                    text(wanted.get(3)), text(wanted.get(4)), operation(wanted.get(5)), permission(wanted)));
            ArrayNode of = answer.addArray();
            for (JsonNode acl : question.get("acls")) {
                of.add(filter.matches(acl(acl)));
            }
        }
        return answer;
    }

    private static JsonNode principal(JsonNode question) {
        try {
            return JSON.getNodeFactory().textNode(
                SslPrincipalMapper.fromRules(question.get("rules").asText()).getName(question.get("subject").asText()));
        } catch (IOException noMatchingRule) {
            return JSON.nullNode();
        }
    }

    private static JsonNode authorize(JsonNode question) throws Exception {
        ArrayNode answer = JSON.createArrayNode();
        try (Metrics metrics = new Metrics(); StandardAuthorizer authorizer = new StandardAuthorizer()) {
            authorizer.configure(Map.of(
                StandardAuthorizer.SUPER_USERS_CONFIG, question.get("super_users").asText(),
                StandardAuthorizer.ALLOW_EVERYONE_IF_NO_ACL_IS_FOUND_CONFIG, question.get("open").asText()));
            authorizer.withPluginMetrics(new PluginMetricsImpl(metrics, Map.of()));
            Map<Uuid, StandardAcl> acls = new HashMap<>();
            for (JsonNode acl : question.get("acls")) {
                acls.put(Uuid.randomUuid(), StandardAcl.fromAclBinding(acl(acl)));
            }
            authorizer.loadSnapshot(acls);
            authorizer.completeInitialLoad();
            for (JsonNode asked : question.get("actions")) {
                ResourceType type = ResourceType.fromCode((byte) asked.get(3).asInt());
                Context context = new Context(
                    new KafkaPrincipal(asked.get(0).asText(), asked.get(1).asText()),
                    InetAddress.getByName(asked.get(5).asText()));
                if (asked.get(4).isNull()) {
                    answer.add(authorizer.authorizeByResourceType(context, operation(asked.get(2)), type)
                        == AuthorizationResult.ALLOWED);
                    continue;
                }
                ResourcePattern resource = new ResourcePattern(type, asked.get(4).asText(), PatternType.LITERAL);
                Action action = new Action(operation(asked.get(2)), resource, 1, false, false);
                answer.add(authorizer.authorize(context, List.of(action)).equals(List.of(AuthorizationResult.ALLOWED)));
            }
        }
        return answer;
    }

    private static JsonNode describe(JsonNode question) {
        Map<ClientQuotaEntity, ClientQuotaImage> quotas = new HashMap<>();
        for (JsonNode entity : question.get("entities")) {
            quotas.put(new ClientQuotaEntity(parts(entity)), new ClientQuotaImage(Map.of("producer_byte_rate", 1.0)));
        }
        ClientQuotasImage image = new ClientQuotasImage(quotas);
        ArrayNode answer = JSON.createArrayNode();
        for (JsonNode filter : question.get("filters")) {
            var request = new DescribeClientQuotasRequestData().setStrict(filter.get("strict").asBoolean());
            for (JsonNode component : filter.get("components")) {
                request.components().add(new ComponentData()
                    .setEntityType(component.get(0).asText())
                    .setMatchType((byte) component.get(1).asInt())
                    .setMatch(text(component.get(2))));
            }
            try {
                ArrayNode found = JSON.createArrayNode();
                image.describe(request).entries().forEach(entry -> {
                    ObjectNode entity = found.addObject();
                    entry.entity().forEach(part -> entity.put(part.entityType(), part.entityName()));
                });
                answer.add(found);
            } catch (ApiException refusal) {
                answer.add(Errors.forException(refusal).code());
            }
        }
        return answer;
    }

    private static JsonNode resolve(JsonNode question) throws Exception {
        ArrayNode answer = JSON.createArrayNode();
        try (Metrics metrics = new Metrics()) {
            ClientQuotaManager manager = new ClientQuotaManager(
                new ClientQuotaManagerConfig(), metrics, QuotaType.PRODUCE, Time.SYSTEM, "");
            for (JsonNode quota : question.get("quotas")) {
                Map<String, String> parts = parts(quota.get(0));
                manager.updateQuota(
                    Optional.ofNullable(parts.containsKey("user") ? user(parts.get("user")) : null),
                    Optional.ofNullable(parts.containsKey("client-id") ? client(parts.get("client-id")) : null),
                    Optional.of(Quota.upperBound(quota.get(1).asDouble())));
            }
            for (JsonNode client : question.get("clients")) {
                KafkaPrincipal principal = new KafkaPrincipal(KafkaPrincipal.USER_TYPE, client.get(0).asText());
                String clientId = client.get(1).asText();
                double limit = manager.quota(principal, clientId).bound();
                Session session = new Session(principal, InetAddress.getLoopbackAddress());
                Map<String, String> tags = manager.getOrCreateQuotaSensors(session, clientId).metricTags();
                ArrayNode resolved = answer.addArray();
                resolved.add(limit >= UNLIMITED ? null : limit);
                resolved.add(tags.get(ClientQuotaManager.USER_TAG)).add(tags.get(ClientQuotaManager.CLIENT_ID_TAG));
            }
            manager.shutdown();
        }
        return answer;
    }

    private static JsonNode create(JsonNode question) throws ReflectiveOperationException {
        Method validate = accessible(
            AclControlManager.class.getDeclaredMethod("validateNewAcl", AclBinding.class, boolean.class));
        ArrayNode answer = JSON.createArrayNode();
        for (JsonNode acl : question.get("acls")) {
            try {
                validate.invoke(null, acl(acl), true); // ranges of addresses, since metadata.version 4.4
                answer.add(Errors.NONE.code());
            } catch (IllegalArgumentException refusal) {
                answer.add(Errors.INVALID_REQUEST.code()); // the class of ACLs itself refuses what is for filters
            } catch (InvocationTargetException thrown) {
                answer.add(Errors.forException(thrown.getCause()).code());
            }
        }
        return answer;
    }

    private static JsonNode ranges(JsonNode question) {
        ArrayNode answer = JSON.createArrayNode();
        for (JsonNode host : question.get("hosts")) {
            ArrayNode of = answer.addArray();
            try {
                CidrUtils.validate(host.asText());
                of.add(true);
            } catch (IllegalArgumentException refusal) {
                of.add(false);
            }
            ArrayNode has = of.addArray();
            question.get("addresses").forEach(address -> has.add(CidrUtils.isInRange(address.asText(), host.asText())));
        }
        return answer;
    }

    private static JsonNode alter(JsonNode question) throws ReflectiveOperationException {
        Class<?> builders = Class.forName(ClientQuotaControlManager.class.getName() + "$Builder");
        Object builder = accessible(builders.getDeclaredConstructor()).newInstance();
        Object controller = accessible(builders.getDeclaredMethod("build")).invoke(builder);
        Method alter = accessible(controller.getClass().getDeclaredMethod("alterClientQuotas", Collection.class));
        ArrayNode answer = JSON.createArrayNode();
        for (JsonNode alteration : question.get("alterations")) {
            List<ClientQuotaAlteration.Op> operations = new ArrayList<>();
            alteration.get(1).properties().forEach(value -> operations.add(new ClientQuotaAlteration.Op(
                value.getKey(), value.getValue().isNull() ? null : value.getValue().asDouble())));
            ClientQuotaEntity entity = new ClientQuotaEntity(parts(alteration.get(0)));
            Object result = alter.invoke(controller, List.of(new ClientQuotaAlteration(entity, operations)));
            Object errors = accessible(result.getClass().getDeclaredMethod("response")).invoke(result);
            ((Map<?, ?>) errors).values().forEach(error -> answer.add(((ApiError) error).error().code()));
        }
        return answer;
    }

    private static <M extends AccessibleObject> M accessible(M member) {
        member.setAccessible(true);
        return member;
    }

    private static AclBinding acl(JsonNode acl) {
        return new AclBinding(
            new ResourcePattern(resourceType(acl), acl.get(1).asText(), patternType(acl)),
            new AccessControlEntry(acl.get(3).asText(), acl.get(4).asText(), operation(acl.get(5)), permission(acl)));
    }

    private static ResourceType resourceType(JsonNode acl) {
        return ResourceType.fromCode((byte) acl.get(0).asInt());
    }

    private static PatternType patternType(JsonNode acl) {
        return PatternType.fromCode((byte) acl.get(2).asInt());
    }

    private static AclOperation operation(JsonNode code) {
        return AclOperation.fromCode((byte) code.asInt());
    }

    private static AclPermissionType permission(JsonNode acl) {
        return AclPermissionType.fromCode((byte) acl.get(6).asInt());
    }

    private static Map<String, String> parts(JsonNode entity) {
        Map<String, String> parts = new TreeMap<>();
        entity.properties().forEach(part -> parts.put(part.getKey(), text(part.getValue())));
        return parts;
    }

    private static ConfigEntity user(String name) {
        return name == null ? ClientQuotaManager.DEFAULT_USER_ENTITY
            : new ClientQuotaManager.UserEntity(Sanitizer.sanitize(name));
    }

    private static ConfigEntity client(String name) {
        return name == null ? ClientQuotaManager.DEFAULT_USER_CLIENT_ID : new ClientQuotaManager.ClientIdEntity(name);
    }

    private static String text(JsonNode node) {
        return node.isNull() ? null : node.asText();
    }

    private record Context(KafkaPrincipal principal, InetAddress clientAddress) implements AuthorizableRequestContext {
        @Override
        public String listenerName() {
            return "LISTENER";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.PLAINTEXT;
        }

        @Override
        public int requestType() {
            return 0;
        }

        @Override
        public int requestVersion() {
            return 0;
        }

        @Override
        public String clientId() {
            return "";
        }

        @Override
        public int correlationId() {
            return 0;
        }
    }
}
