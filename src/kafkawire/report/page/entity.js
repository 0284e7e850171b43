// One principal or one topic: all that the page has of it, at the date and over time. The address names it.
const appliesTo = (row, type, name) => row.resourceType === type &&
  (row.patternType === "LITERAL" ? row.resourceName === name || row.resourceName === WILDCARD : row.patternType === "PREFIXED" && name.startsWith(row.resourceName));

const KINDS = {
  principal: (name) => {
    const user = name.startsWith("User:") ? name.slice("User:".length) : null;
    const acls = rowsOf("acls").filter((row) => !isNameless(row) && (row.principal === name || row.principal === EVERYBODY));
    const ofGroups = acls.filter((row) => row.principal === name && row.resourceType === "GROUP" && allows(row));
    return {
      acls, topics: [], configs: [],
      quotas: rowsOf("quotas").filter((row) => user !== null && (row.user === user || row.user === ANY_USER)),
      users: rowsOf("users").filter((row) => row.user === user),
      tokens: rowsOf("tokens").filter((row) => row.owner === name),
      commits: rowsOf("commits").filter((row) => ofGroups.some((acl) => acl.cluster === row.cluster && appliesTo(acl, "GROUP", row.group))),
    };
  },
  topic: (name) => ({
    acls: rowsOf("acls").filter((row) => !isNameless(row) && appliesTo(row, "TOPIC", name)),
    topics: rowsOf("topics").filter((row) => row.topic === name),
    configs: rowsOf("configs").filter((row) => row.resourceType === "TOPIC" && row.resourceName === name),
    partitions: rowsOf("partitions").filter((row) => row.topic === name),
    quotas: [], users: [],
    commits: rowsOf("commits").filter((row) => row.topic === name),
  }),
};

const since = { title: "Since (UTC)", value: (row) => row.from, cell: (row) => row.from === null ? hint("before this log") : asDate(row.from) };
const forEveryone = (row, words) => row.principal === EVERYBODY ? hint(words) : null;
const resourceColumn = (words) => ({ title: "Resource", value: (row) => `${row.resourceType} ${row.resourceName}`, cell: (row) => make("span", {}, ...patternWords(row), forEveryone(row, words), inCluster(row)) });
const principalColumn = { title: "Principal", value: (row) => row.principal, cell: (row) => make("span", {}, principalLink(row.principal), forEveryone(row, " every principal")) };
const aclColumns = [
  { title: "Operation", value: (row) => row.operation, cell: (row) => make("span", { class: denies(row) ? "chip deny" : "chip" }, named(row.operation)) },
  { title: "Permission", value: (row) => row.permission, cell: (row) => named(row.permission) },
  { title: "Host", value: (row) => row.host, cell: (row) => row.host === "*" ? hint("every host") : named(row.host) }, since,
];
const ENTITY_TABLES = [
  ["principal", "acls", "ACLs", [resourceColumn(` for ${EVERYBODY}`), ...aclColumns]],
  ["topic", "acls", "ACLs that apply", [principalColumn, resourceColumn(""), ...aclColumns]],
  ["topic", "configs", "Configurations", [
    { title: "Name", value: (row) => row.name, cell: (row) => make("span", {}, named(row.name), inCluster(row)) },
    { title: "Value", value: (row) => row.value, cell: (row) => named(row.value ?? "unknown") }, since,
  ]],
  ["principal", "quotas", "Quotas", [
    { title: "Of", value: (row) => row.entity, cell: (row) => make("span", {}, named(row.entity), inCluster(row)) },
    { title: "Quota", value: (row) => row.quota, cell: (row) => named(row.quota) },
    { title: "Value", right: true, value: (row) => row.value, cell: quotaFigure }, since,
  ]],
  ["principal", "users", "SCRAM credentials", [
    { title: "Mechanism", value: mechanismOf, cell: (row) => make("span", {}, mechanismOf(row), inCluster(row)) },
    { title: "Iterations", right: true, value: (row) => row.iterations, cell: (row) => inFigures(row.iterations ?? 0) }, since,
  ]],
  ["principal", "tokens", "Delegation tokens", [
    { title: "Token", value: (row) => row.token, cell: (row) => make("span", {}, named(row.token), inCluster(row)) },
    { title: "Expiry", value: (row) => row.expires, cell: expiryOf }, since,
  ]],
  ["topic", "partitions", "Unhealthy partitions", [
    { title: "Partition", right: true, value: (row) => row.partition, cell: (row) => make("span", {}, inFigures(row.partition), inCluster(row)) },
    { title: "State", value: (row) => row.state, cell: (row) => named(troubleOf(row)) }, since,
  ]],
];

function startEntity() {
  const host = byId("entity-tables"), known = new Map(), now = { of: "", rows: null, lag: 1 };
  const part = (title) => { const box = make("div"), own = make("div", { class: "part" }, make("h3", {}, title), box); host.append(own); return { own, box }; };
  const rights = part("Who may do what");
  const tables = ENTITY_TABLES.map(([of, section, title, columns]) => {
    const made = part(title);
    return { ...made, of, section, title, draw: sortedTable(made.box, columns, { caption: title }) };
  });
  const offsets = part("Committed offsets");
  const drawOffsets = sortedTable(offsets.box, commitColumns(() => now.lag), { sort: 0, caption: "Committed offsets" });
  const time = part("Over time");
  const drawLanes = lanesIn(time.box, Object.fromEntries(["label", "text", "kind", "tell"].map((look) => [look, (row) => SUBJECTS[row[SECTION]].look[look]?.(row) ?? ""])), () => "");
  const past = part("Changes up to this date");
  const drawChanges = sortedTable(past.box, changeColumns(), { sort: 0, down: true, caption: "Changes" });

  const rowsAbout = ({ kind, name }) => {
    const key = JSON.stringify([kind, name, view.cluster]);
    if (!known.has(key)) known.set(key, KINDS[kind](name));
    return known.get(key);
  };
  const matches = onSearch("entity-search", show);
  const own = ({ kind, name }, row) => kind === "topic" || row[SECTION] !== "acls" || row.principal === name;

  function show() {
    if (!view.entity) return;
    const { kind, name } = view.entity, rows = rowsAbout(view.entity), all = Object.values(rows).flat();
    byId("entity-kind").textContent = kind === "principal" ? "Principal" : "Topic";
    byId("entity-name").replaceChildren(named(name));
    const held = Object.fromEntries(Object.entries(rows).map(([section, found]) => [section, found.filter((row) => holds(row, view.at))]));
    const wanted = matches(), without = byId("entity-search").value ? "Nothing matches." : "Nothing at this date.";
    for (const { of, section, own: box, draw } of tables) {
      box.hidden = of !== kind || !rows[section].length;
      if (!box.hidden) draw(held[section].filter(wanted), without);
    }
    offsets.own.hidden = !rows.commits.length;
    const commits = commitsAt(view.at, rows.commits.filter(wanted));
    now.lag = greatestLagOf(commits);
    drawOffsets(commits, without);
    rights.own.hidden = kind !== "topic";
    if (kind === "topic") showRights(rights.box, name, [...rows.topics, ...rows.acls]);
    const lines = all.filter((row) => row[SECTION] !== "commits" && own(view.entity, row));
    time.own.hidden = past.own.hidden = !lines.length;
    const of = JSON.stringify([kind, name, view.cluster, byId("entity-search").value]);
    if (now.of !== of) {
      now.of = of;
      now.rows = new Set(lines.filter(wanted));
      drawLanes(lanesOf([...now.rows], (row) => `${row[SECTION]} ${SUBJECTS[row[SECTION]].lane(row)}`));
    }
    drawChanges(changesUntil(view.at).filter((change) => now.rows.has(change.row) || now.rows.has(change.later)), byId("entity-search").value ? "Nothing matches." : "No changes up to this date.");
    byId("entity-facts").textContent = all.length ? factsOf(kind, name, held, rows) : "These logs have nothing about it.";
  }

  downloads(byId("entity-downloads"), () => fileName(view.entity.kind, view.entity.name), () => entityRecords(rowsAbout(view.entity)), () => {
    const { kind, name } = view.entity, records = entityRecords(rowsAbout(view.entity));
    return { [kind]: name, at: iso(view.at), ...Object.fromEntries(Object.keys(SUBJECTS).map((section) => [section, records.filter(({ table }) => table === section).map(({ table, ...record }) => record)])) };
  });
  byId("entity-back").addEventListener("click", (event) => { event.preventDefault(); location.hash = view.whole; });
  inSection("entity", show);
}

function showRights(host, name, rows) {
  const acls = rowsAt("acls"), patterns = patternsOf(acls), lacking = clustersLacking(acls), clusters = [...new Set(rows.map(({ cluster }) => cluster))];
  host.replaceChildren(...clusters.map((cluster) => {
    const pattern = { resourceType: "TOPIC", resourceName: name, patternType: "LITERAL" };
    const holder = { key: patternKey(cluster, "TOPIC", "LITERAL", name), cluster, type: "TOPIC", name, isPattern: name === WILDCARD, pattern };
    const box = resourceBox({ holder, wanted: null }, patterns.applying(holder), !lacking.has(cluster), true);
    box.open = true;
    filled(box);
    return box;
  }));
}

function factsOf(kind, name, held, rows) {
  const at = `At ${shown(view.at)} UTC: `;
  if (kind === "topic") {
    const alive = held.topics.map((row) => `${partitionsOf(row)}, id ${row.id}`);
    const last = rows.topics.reduce((latest, { to }) => Math.max(latest, to ?? -Infinity), -Infinity);
    return at + (alive.length ? `exists, ${alive.join("; ")}. The number of partitions is that of the end of the log, or of the deletion.`
      : rows.topics.length ? `does not exist${last <= view.at ? `; deleted ${shown(last)}` : ""}.` : "these logs do not have the topic, only what was set for its name.");
  }
  const own = held.acls.filter((row) => row.principal === name).length, user = [...new Set(held.users.map(mechanismOf))];
  const groups = new Set(held.commits.map(({ group }) => group)).size;
  return `${at}${counted(own, "ACL")} of its own, ${counted(held.acls.length - own, "ACL")} of ${EVERYBODY}; ` +
    `${user.length ? `SCRAM user (${user.join(", ")})` : "no SCRAM credential"}; ${counted(held.quotas.length, "quota")}; ${groups ? `committed offsets of ${counted(groups, "group")} that its ACLs name` : "no committed offsets of groups that its ACLs name"}.`;
}

// All rows, also of other times: what is valid at the date says so.
function entityRecords(rows) {
  return Object.entries(rows).flatMap(([section, own]) => own.map((row) => {
    const { fields } = DATA.sections[section], valid = holds(row, view.at);
    if (section !== "commits") return { table: section, valid_at_date: valid, ...recordOf(row, fields) };
    const commit = committedAt(row, view.at) ?? {};
    return { table: section, valid_at_date: valid, ...recordOf({ ...row, offset: commit.offset, time: commit.time }, ["cluster", "group", "topic", "partition", "offset", "time", "from", "to"]) };
  }));
}
