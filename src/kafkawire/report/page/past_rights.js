// Who could do an operation over time, by which ACL, and which denial stood against it. The same is in Python, in kafkawire.logs, as
// who_could, and a test compares this page with it. Times are milliseconds; before the log is -Infinity, still valid is Infinity.
const UNNAMED = Symbol("one that no ACL names");
const OPERATION_CODES = new Map(DATA.acls.operations.map((name, at) => [name, at]));
const BINDING = ["principal", "host", "resourceType", "resourceName", "patternType", "operation", "permission"];

// Names in the order of their letters' numbers, as Python has it: JavaScript compares halves of some letters.
function byLetters(one, other) {
  const left = [...one], right = [...other];
  for (let at = 0; at < Math.min(left.length, right.length); at++)
    if (left[at] !== right[at]) return left[at].codePointAt(0) - right[at].codePointAt(0);
  return left.length - right.length;
}
const inOrder = (one, other) =>
  byLetters(one.resourceName, other.resourceName) || byLetters(one.principal, other.principal) ||
  OPERATION_CODES.get(one.operation) - OPERATION_CODES.get(other.operation) || denies(other) - denies(one) ||
  byLetters(one.host, other.host) || (one.patternType === "PREFIXED") - (other.patternType === "PREFIXED");

// The same time as few spans, in order; empty ones are left out.
function joined(spans) {
  const found = [];
  for (const span of spans.filter(({ first, last }) => first < last).sort((one, other) => one.first - other.first || one.last - other.last)) {
    if (found.length && span.first <= found.at(-1).last) found.at(-1).last = Math.max(found.at(-1).last, span.last);
    else found.push({ ...span });
  }
  return found;
}

// The ACLs that concern a resource, each once for each span of time, in the order in which the authorizer looks at them.
function timedAcls(rows, { type, name }) {
  const found = new Map();
  for (const row of rows) {
    if (!appliesTo(row, type, name)) continue;
    const key = JSON.stringify(BINDING.map((field) => row[field]));
    if (!found.has(key)) found.set(key, { row, spans: [] });
    found.get(key).spans.push({ first: row.from ?? -Infinity, last: row.to ?? Infinity });
  }
  return [...found.values()].sort((one, other) => inOrder(one.row, other.row)).flatMap(({ row, spans }) => joined(spans).map((span) => ({ row, ...span })));
}

// What ACLs decide for a principal from a host: {acl, deniedBy}; null if nothing allows it.
function outcomeOf(acls, principal, operation, host, isOpen) {
  if (isOpen) return { reason: "open", acl: null, deniedBy: null };
  const own = acls.filter((row) => isAbout(row, principal) && isWithin(host, row.host) && speaksOf(row, operation));
  const acl = own.find(allows) ?? null, deniedBy = own.find(denies) ?? null;
  return acl && { reason: deniedBy ? "denied" : "allowed", acl, deniedBy };
}
const sameKind = (one, other) => Boolean(one && other) && (one.deniedBy === null) === (other.deniedBy === null);

// What holds while these ACLs exist: of all hosts except some, or of some.
function holdings(acls, principal, { operation, host }, isOpen) {
  const of = (each) => outcomeOf(acls, principal, operation, each, isOpen);
  if (host) {
    const outcome = of(host);
    return outcome ? [{ host, ...outcome, exceptedHosts: [] }] : [];
  }
  const hosts = [...new Set(acls.map((row) => row.host))].filter((each) => each !== WILDCARD).sort(byLetters);
  const outcomes = hosts.map((each) => [each, of(each)]), others = of(UNNAMED), found = [];
  if (others) found.push({ host: WILDCARD, ...others, exceptedHosts: outcomes.filter(([, one]) => !sameKind(one, others)).map(([each]) => each) });
  for (const [each, one] of outcomes) if (one && !sameKind(one, others)) found.push({ host: each, ...one, exceptedHosts: [] });
  return found;
}
const ACL_NUMBERS = new Map();
const numberOf = (row) => {
  if (row === null) return null;
  const key = JSON.stringify(BINDING.map((field) => row[field]));
  if (!ACL_NUMBERS.has(key)) ACL_NUMBERS.set(key, ACL_NUMBERS.size);
  return ACL_NUMBERS.get(key);
};
const keyOfHolding = (one) => JSON.stringify([one.host, one.reason, numberOf(one.acl), numberOf(one.deniedBy), one.exceptedHosts]);

function rightsOf(principal, own, ofEverybody, question, closed) {
  const acls = principal === EVERYBODY ? own : [...own, ...ofEverybody], decidedAs = principal === EVERYBODY ? UNNAMED : principal;
  const ends = new Set([-Infinity, Infinity, ...acls.flatMap(({ first, last }) => [first, last]), ...(closed ?? []).flatMap(({ first, last }) => [first, last])]);
  const since = new Map(), found = [];
  const end = (key, last) => { const { first, holding } = since.get(key); since.delete(key); found.push({ principal, ...holding, from: first, to: last }); };
  for (const first of [...ends].sort((one, other) => one - other).slice(0, -1)) {
    const valid = acls.filter((each) => each.first <= first && first < each.last).map(({ row }) => row);
    const isOpen = closed !== null && !closed.some((span) => span.first <= first && first < span.last);
    const now = new Map(holdings(valid, decidedAs, question, isOpen).map((holding) => [keyOfHolding(holding), holding]));
    for (const key of [...since.keys()]) if (!now.has(key)) end(key, first);
    for (const [key, holding] of now) if (!since.has(key)) since.set(key, { first, holding });
  }
  for (const key of [...since.keys()]) end(key, Infinity);
  return found;
}

// Whether a part of a right is in the asked time, which may be a single moment.
const overlaps = (right, asked) => asked.first < right.to && (right.from < asked.last || right.from <= asked.first);

// The rows of an answer: question is {type, name, operation, host, superUsers, everyone, asked: {first, last}}.
function whoCould(rows, question) {
  const timed = timedAcls(rows, question), byPrincipal = new Map([[EVERYBODY, []]]);
  for (const each of timed) {
    if (byPrincipal.has(each.row.principal)) byPrincipal.get(each.row.principal).push(each); else byPrincipal.set(each.row.principal, [each]);
  }
  const closed = question.everyone ? joined(timed.map(({ first, last }) => ({ first, last }))) : null, supers = [...new Set(question.superUsers)];
  const principals = [...byPrincipal.keys()].filter((each) => !supers.includes(each)).sort(byLetters);
  const found = new Map(principals.map((each) => [each, rightsOf(each, byPrincipal.get(each), byPrincipal.get(EVERYBODY), question, closed)]));
  const { asked } = question;
  for (const right of found.get(EVERYBODY) ?? []) {
    if (right.deniedBy) continue;
    const part = { first: Math.max(right.from, asked.first), last: Math.min(right.to, asked.last) };
    right.excepted = principals.filter((each) => each !== EVERYBODY && !joined(found.get(each).filter(({ deniedBy }) => !deniedBy).map(({ from, to }) => ({ first: from, last: to })))
      .some((span) => span.first <= part.first && part.first < span.last && part.last <= span.last));
  }
  const ofSupers = supers.map((principal) => ({ principal, host: question.host || WILDCARD, reason: "super", acl: null, deniedBy: null, exceptedHosts: [], from: -Infinity, to: Infinity }));
  return [...ofSupers, ...principals.filter((each) => each !== EVERYBODY).flatMap((each) => found.get(each)), ...(found.get(EVERYBODY) ?? [])].filter((right) => overlaps(right, asked));
}
