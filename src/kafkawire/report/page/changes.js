// Every beginning and end of a row is a change; an end where the next row of the same thing begins is one change of both.
const SUBJECTS = {
  acls: { kind: "ACL", key: null, what: (row) => `${row.principal} ${row.permission} ${row.operation} on ${kindOf(row)} ${patternName(row)}${row.host === "*" ? "" : ` from ${row.host}`}`, value: () => null },
  quotas: { kind: "Quota", key: (row) => `${row.cluster} ${row.entity} ${row.quota}`, what: (row) => `${row.quota} of ${row.entity}`, value: quotaFigure },
  topics: { kind: "Topic", key: null, what: (row) => row.topic, value: (row) => counted(row.partitions ?? 0, "partition") },
  configs: { kind: "Configuration", key: (row) => `${row.cluster} ${row.resourceType} ${row.resourceName} ${row.name}`, what: (row) => `${row.name} of ${row.resourceType} ${row.resourceName || "<default>"}`, value: (row) => row.value ?? "unknown" },
};

const QUOTA_UNITS = {
  producer_byte_rate: "bytes/s", consumer_byte_rate: "bytes/s", request_percentage: "% of a thread's time",
  controller_mutation_rate: "partitions/s", connection_creation_rate: "connections/s",
};
function quotaFigure(row) {
  const unit = QUOTA_UNITS[row.quota];
  return row.value === null ? "unknown" : inFigures(row.value) + (unit ? ` ${unit}` : "");
}

function changesOf(name) {
  const { kind, key, what, value } = SUBJECTS[name];
  const changes = [], open = new Map();
  const cuts = new Map(DATA.clusters.map((cluster, at) => [cluster, DATA.sections[name].numbers[at].completeFrom ?? -Infinity]));
  const cut = (row) => cuts.get(row.cluster); // up to here the row before may not be on this page
  for (const row of [...ALL[name]].sort((one, other) => (one.from ?? -Infinity) - (other.from ?? -Infinity))) {
    const base = { cluster: row.cluster, kind, what: what(row) };
    const before = key && row.from !== null ? open.get(`${key(row)} ${row.from}`) : undefined;
    if (before) Object.assign(before, { change: "changed", detail: `${before.detail} → ${value(row)}` });
    else if (row.from !== null) changes.push({ ...base, time: row.from, change: key && row.from <= cut(row) ? "set" : "added", detail: value(row) ?? "" });
    if (row.to !== null) {
      const end = { ...base, time: row.to, change: "removed", detail: value(row) ?? "" };
      changes.push(end);
      if (key) open.set(`${key(row)} ${row.to}`, end);
    }
  }
  return changes;
}

const CHANGES = Object.keys(SUBJECTS).flatMap(changesOf).sort((one, other) => one.time - other.time);

function startChanges() {
  const looks = { added: "chip", removed: "chip deny", changed: "chip plain", set: "chip plain" };
  const table = sortedTable(byId("changes-table"), [
    { title: "Time (UTC)", value: (row) => row.time, cell: (row) => make("button", { type: "button", class: "link", onclick: () => go(row.time) }, shown(row.time)) },
    { title: "Change", value: (row) => row.change, cell: (row) => make("span", { class: looks[row.change] }, row.change) },
    { title: "Of", value: (row) => row.kind, cell: (row) => make("span", { class: "word" }, row.kind) },
    { title: "What", value: (row) => row.what, cell: (row) => make("span", {}, named(row.what), inCluster(row)) },
    { title: "Value", value: null, cell: (row) => row.detail ? named(row.detail) : "" },
  ], { sort: 0, down: true, caption: "Changes" });
  let which = "";
  const matches = onSearch("changes-search", show);
  choice(byId("changes-which"), "changes-which", [["", "All"], ...Object.values(SUBJECTS).map(({ kind }) => [kind, `${kind}s`])], (kind) => { which = kind; show(); });
  function show() {
    const wanted = matches();
    const past = CHANGES.filter((row) => row.time <= view.at && (view.cluster === null || row.cluster === DATA.clusters[view.cluster]));
    const found = past.filter((row) => (!which || row.kind === which) && wanted(row));
    table(found, past.length ? "Nothing matches." : "No changes up to this date.");
    byId("changes-found").textContent = foundOf(found.length, past.length, countAt(changesIn(Object.keys(SUBJECTS)), view.at), "change");
  }
  inSection("changes", show);
}
