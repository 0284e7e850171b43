// What the rows of each section are about: the same words for timelines, changes, the comparison and downloads.
// identity: the fields that say which thing a row is about; renews: the next row of a thing replaces the one before;
// same: whether two rows of a thing say the same; look: how a row is drawn in a lane.
const QUOTA_UNITS = {
  producer_byte_rate: "bytes/s", consumer_byte_rate: "bytes/s", request_percentage: "% of a thread's time",
  controller_mutation_rate: "partitions/s", connection_creation_rate: "connections/s",
};
function quotaFigure(row) {
  const unit = QUOTA_UNITS[row.quota];
  return row.value === null ? "unknown" : inFigures(row.value) + (unit ? ` ${unit}` : "");
}
const partitionsOf = (row) => counted(row.partitions ?? 0, "partition");
const mechanismOf = (row) => (row.mechanism ?? "unknown mechanism").replaceAll("_", "-");
const resourceOf = (row) => `${row.resourceType} ${row.resourceName || "<default>"}`;
const partitionName = (row) => `${row.topic}-${row.partition}`;
const troubleOf = (row) => `${row.state}, ISR ${row.isr || "empty"} of ${row.replicas ?? "unknown replicas"}`;
const expiryOf = (row) => row.expires === null ? "expiry unknown" : `expires ${shown(row.expires, false)}`;
const stateOf = (row) => row.state + (row.rack === null ? "" : `, rack ${row.rack}`);
const levelOf = (row) => row.level === null ? "level unknown" : `level ${row.level}`;
const onLine = (...parts) => make("span", { class: "hint" }, ...parts);
const sameValue = (one, other) => one === other || (one.value === other.value && one.value !== DATA.hidden);

const SUBJECTS = {
  acls: {
    kind: "ACL", identity: ["cluster", "principal", "host", "resourceType", "resourceName", "patternType", "operation", "permission"], renews: false, same: () => true,
    what: (row) => `${row.principal} ${row.permission} ${row.operation} on ${kindOf(row)} ${patternName(row)}${row.host === "*" ? "" : ` from ${row.host}`}`,
    value: () => null, about: (row) => isNameless(row) ? null : ["principal", row.principal],
    look: {
      label: (row) => [principalLink(row.principal), make("br"), hint(`${kindOf(row).toLowerCase()} `), onLine(patternLink(row)), inCluster(row)],
      text: (row) => row.operation + (row.host === "*" ? "" : ` from ${row.host}`), kind: (row) => denies(row) ? "deny" : "allow",
      tell: (row) => `${row.permission} ${row.operation} on ${kindOf(row)} ${patternName(row)}\n${row.principal} from ${row.host === "*" ? "every host" : row.host}`,
    },
    lane: (row) => `${row.principal} ${keyOfAcl(row)}`,
  },
  topics: {
    kind: "Topic", identity: ["cluster", "topic"], renews: false, same: (one, other) => one.id === other.id,
    what: (row) => row.topic, value: partitionsOf, about: (row) => ["topic", row.topic],
    look: { label: (row) => [topicLink(row.topic), inCluster(row)], text: partitionsOf, tell: (row) => `${row.topic}, ${partitionsOf(row)}\nid ${row.id}` },
  },
  quotas: {
    kind: "Quota", identity: ["cluster", "entity", "user", "quota"], renews: true, same: sameValue,
    what: (row) => `${row.quota} of ${row.entity}`, value: quotaFigure, about: (row) => isOfUser(row) ? ["principal", `User:${row.user}`] : null,
    look: {
      label: (row) => [isOfUser(row) ? entityLink("principal", `User:${row.user}`, row.entity) : named(row.entity), make("br"), onLine(named(row.quota)), inCluster(row)],
      text: quotaFigure, tell: (row) => `${row.quota} ${quotaFigure(row)}\n${row.entity}`,
    },
  },
  configs: {
    kind: "Configuration", identity: ["cluster", "resourceType", "resourceName", "name"], renews: true, same: sameValue,
    what: (row) => `${row.name} of ${resourceOf(row)}`, value: (row) => row.value ?? "unknown", about: (row) => row.resourceType === "TOPIC" ? ["topic", row.resourceName] : null,
    look: {
      label: (row) => [named(row.name), make("br"), hint(`${row.resourceType.toLowerCase()} `), onLine(row.resourceType === "TOPIC" ? topicLink(row.resourceName) : named(row.resourceName || "<default>")), inCluster(row)],
      text: (row) => row.value ?? "unknown", tell: (row) => `${row.name} = ${row.value ?? "unknown"}\n${resourceOf(row)}`,
    },
  },
  users: {
    kind: "SCRAM credential", identity: ["cluster", "user", "mechanism"], renews: true, same: (one, other) => one === other,
    what: (row) => `${mechanismOf(row)} of ${row.user}`, value: (row) => counted(row.iterations ?? 0, "iteration"), about: (row) => ["principal", `User:${row.user}`],
    look: {
      label: (row) => [entityLink("principal", `User:${row.user}`, row.user), make("br"), hint(mechanismOf(row)), inCluster(row)],
      text: (row) => counted(row.iterations ?? 0, "iteration"), tell: (row) => `${mechanismOf(row)}, ${counted(row.iterations ?? 0, "iteration")}\n${row.user}`,
    },
  },
  partitions: {
    kind: "Unhealthy partition", identity: ["cluster", "topic", "partition"], renews: true, same: (one, other) => troubleOf(one) === troubleOf(other),
    what: partitionName, value: troubleOf, about: (row) => ["topic", row.topic],
    look: {
      label: (row) => [entityLink("topic", row.topic, partitionName(row)), inCluster(row)], kind: (row) => row.state === "reassigning" ? "" : "deny",
      text: troubleOf, tell: (row) => `${troubleOf(row)}\n${partitionName(row)}, leader ${row.leader === "-1" ? "none" : row.leader ?? "unknown"}`,
    },
  },
  tokens: {
    kind: "Delegation token", identity: ["cluster", "owner", "token"], renews: true, same: (one, other) => one.expires === other.expires,
    what: (row) => `token ${row.token} of ${row.owner ?? "an unknown owner"}`, value: expiryOf, about: (row) => row.owner === null ? null : ["principal", row.owner],
    look: {
      label: (row) => [row.owner === null ? hint("unknown owner") : principalLink(row.owner), make("br"), hint("token "), onLine(named(row.token)), inCluster(row)], text: expiryOf,
      tell: (row) => `${expiryOf(row)}\ntoken ${row.token}, requested by ${row.requester ?? "unknown"}${row.renewers ? `, may be renewed by ${row.renewers}` : ""}`,
    },
  },
  brokers: {
    kind: "Broker", identity: ["cluster", "broker"], renews: true, same: (one, other) => stateOf(one) === stateOf(other) && one.endpoints === other.endpoints,
    what: (row) => `broker ${row.broker}`, value: stateOf, about: () => null,
    look: {
      label: (row) => [`Broker ${row.broker}`, make("br"), onLine(named(row.endpoints ?? "endpoints unknown")), inCluster(row)], text: stateOf,
      kind: (row) => row.state === "active" ? "allow" : row.state === "fenced" ? "deny" : "", tell: (row) => `broker ${row.broker}: ${stateOf(row)}\n${row.endpoints ?? "endpoints unknown"}`,
    },
  },
  controllers: {
    kind: "Controller", identity: ["cluster", "controller"], renews: true, same: (one, other) => one.endpoints === other.endpoints,
    what: (row) => `controller ${row.controller}`, value: (row) => row.endpoints ?? "unknown", about: () => null,
    look: { label: (row) => [`Controller ${row.controller}`, inCluster(row)], text: (row) => row.endpoints ?? "unknown", tell: (row) => `controller ${row.controller}\n${row.endpoints ?? "endpoints unknown"}` },
  },
  features: {
    kind: "Feature", identity: ["cluster", "feature"], renews: true, same: (one, other) => one.level === other.level,
    what: (row) => row.feature, value: levelOf, about: () => null,
    look: { label: (row) => [named(row.feature), inCluster(row)], text: levelOf, tell: (row) => `${row.feature}, ${levelOf(row)}` },
  },
  commits: {
    kind: "Committed offset", identity: ["cluster", "group", "topic", "partition"], renews: true, same: (one, other) => one.offset === other.offset,
    what: (row) => `${row.group} at ${row.topic}-${row.partition}`, value: (row) => (row.approximate ? "≈ " : "") + inFigures(row.offset), about: (row) => ["topic", row.topic],
  },
};
// What changes too often to be compared or listed: only shown over time.
const topicNames = new Map(ALL.topics.map((row) => [`${row.cluster} ${row.id}`, row.topic]));
for (const row of ALL.shares) row.topic = topicNames.get(`${row.cluster} ${row.topicId}`) ?? null;
const statesOf = (row) => [["available", row.available], ["acknowledged", row.acknowledged], ["archived", row.archived]].filter(([, count]) => count).map(([word, count]) => `${inFigures(count)} ${word}`);
const startOf = (row) => row.start === null ? "not started" : `offset ${inFigures(row.start)}`;
const STATES = {
  transactions: {
    identity: ["cluster", "id"],
    look: {
      label: (row) => [named(row.id), inCluster(row)],
      text: (row) => row.state, kind: (row) => row.state.endsWith("Abort") ? "deny" : "allow",
      tell: (row) => `${row.id}: ${row.state}\nproducer ${row.producer ?? "unknown"}, epoch ${row.epoch ?? "unknown"}${row.partitions ? `, ${partitionsOf(row)}` : ""}`,
    },
  },
  shares: {
    identity: ["cluster", "group", "topicId", "partition"],
    look: {
      label: (row) => [named(row.group), make("br"), hint("partition "), onLine(row.topic === null ? named(row.topicId) : topicLink(row.topic), `-${row.partition}`), inCluster(row)],
      text: (row) => [startOf(row), ...statesOf(row)].join(", "),
      tell: (row) => `${row.group} in ${row.topic ?? row.topicId}-${row.partition}\n${[startOf(row), ...statesOf(row)].join(", ")}`,
    },
  },
};
for (const subject of [...Object.values(SUBJECTS), ...Object.values(STATES)]) subject.lane ??= (row) => JSON.stringify(subject.identity.map((field) => row[field]));
// The changes that the log of metadata has. Those of partitions are of replication: there may be thousands when a broker restarts.
const CHANGING = Object.keys(SUBJECTS).filter((name) => name !== "commits" && name !== "partitions");

const ANY_USER = "<default>";
const isOfUser = (row) => row.user !== null && row.user !== ANY_USER;

// Each principal and each topic has a view of its own, and each of their names leads there.
const entityLink = (kind, name, text = name) => make("a", { class: "to", href: `#${new URLSearchParams([[kind, name]])}` }, named(text));
const principalLink = (name) => entityLink("principal", name);
const topicLink = (name) => entityLink("topic", name);
const patternLink = (row) => row.resourceType === "TOPIC" && row.patternType === "LITERAL" && row.resourceName !== WILDCARD ? topicLink(row.resourceName) : named(patternName(row));
function aboutLink(name, row) {
  const { about, what } = SUBJECTS[name], entity = about(row);
  return make("span", {}, entity ? entityLink(...entity, what(row)) : named(what(row)), inCluster(row));
}
