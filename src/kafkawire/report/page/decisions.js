// Kafka's rules of who may do what: which ACLs apply to a resource, what an operation implies, and DENY over ALLOW. They are in Python
// too, in kafkawire.admin, and a test compares what this page says with those.
const { wildcard: WILDCARD, everybody: EVERYBODY, impliedBy: IMPLIED_BY } = DATA.acls;
const denies = (row) => row.permission === "DENY";
const allows = (row) => row.permission === "ALLOW";
const patternKey = (cluster, type, pattern, name) => `${CLUSTER_NUMBERS.get(cluster)} ${type} ${pattern} ${name}`;
const KEY = Symbol("key"); // not among the words that are searched
const keyOfAcl = (row) => (row[KEY] ??= patternKey(row.cluster, row.resourceType, row.patternType, row.resourceName));
// Only the removal of such an ACL is in the log, which has nothing of it but its id.
const isNameless = (row) => row.resourceType === "ANY" && row.operation === "UNKNOWN";

// A newer Kafka may have more.
const isStrange = (row) => !isNameless(row) && (!(row.patternType === "LITERAL" || row.patternType === "PREFIXED") || !(denies(row) || allows(row)));

// ACLs by their exact pattern, and the patterns that concern a resource: its name, every prefix of it, and the wildcard.
function patternsOf(rows) {
  const found = new Map(), lengths = new Map();
  for (const row of rows) {
    const key = keyOfAcl(row);
    if (found.has(key)) found.get(key).push(row); else found.set(key, [row]);
    if (row.patternType !== "PREFIXED") continue;
    const of = `${row.cluster} ${row.resourceType}`;
    if (lengths.has(of)) lengths.get(of).add(row.resourceName.length); else lengths.set(of, new Set([row.resourceName.length]));
  }
  function concerning({ cluster, type, name, key, isPattern }) {
    if (isPattern) return [key];
    const long = [...(lengths.get(`${cluster} ${type}`) ?? [])].filter((length) => length <= name.length).sort((one, other) => other - one);
    return [key, ...long.map((length) => patternKey(cluster, type, "PREFIXED", name.slice(0, length))), patternKey(cluster, type, "LITERAL", WILDCARD)];
  }
  return { concerning, applying: (resource) => concerning(resource).flatMap((key) => found.get(key) ?? []) };
}

const isAbout = (row, principal) => row.principal === principal || row.principal === EVERYBODY;
const speaksOf = (row, operation) =>
  row.operation === operation || row.operation === "ALL" || (allows(row) && (IMPLIED_BY[operation]?.includes(row.operation) ?? false));

// For each host that ACLs name, and as null for every other one: DENY, ALLOW, or nothing.
function decidedByHost(rows) {
  const hosts = [null, ...new Set(rows.map((row) => row.host).filter((host) => host !== WILDCARD))];
  return new Map(hosts.map((host) => {
    const own = rows.filter((row) => isWithin(host, row.host));
    return [host, own.some(denies) ? "DENY" : own.some(allows) ? "ALLOW" : null];
  }));
}

// A range, and the hosts in it that are denied.
function withExceptions(host, denied) {
  const inside = denied.filter((each) => isWithin(each, host));
  return inside.length ? `${host} without ${inside.join(" and ")}` : host;
}

// What a principal may do with a resource, out of the ACLs that apply to it: for each operation whether, and from which hosts it is otherwise.
// "ALL" stands for every operation that is not named.
function verdictsOn(applying, principal) {
  const own = applying.filter((row) => isAbout(row, principal));
  const named = new Set(own.map((row) => row.operation));
  for (const [implied, by] of Object.entries(IMPLIED_BY)) if (own.some((row) => allows(row) && by.includes(row.operation))) named.add(implied);
  const verdicts = [...named].sort(compare).map((operation) => {
    const decisions = decidedByHost(own.filter((row) => speaksOf(row, operation)));
    const elsewhere = decisions.get(null), hosts = [...decisions.keys()].filter((host) => host !== null).sort(compare);
    const otherwise = hosts.filter((host) => decisions.get(host) !== elsewhere);
    if (elsewhere === "ALLOW") return { operation, may: true, except: otherwise };
    const allowed = hosts.filter((host) => decisions.get(host) === "ALLOW");
    if (allowed.length) return { operation, may: true, only: allowed.map((host) => withExceptions(host, hosts.filter((each) => decisions.get(each) === "DENY"))) };
    return elsewhere === null && !otherwise.length ? null : { operation, may: false, only: elsewhere === null ? otherwise : [] };
  }).filter(Boolean);
  const all = verdicts.find(({ operation, may, only, except }) => operation === "ALL" && may && !only && !except.length);
  return all ? verdicts.filter((one) => one === all || !one.may || one.only || one.except.length) : verdicts;
}
