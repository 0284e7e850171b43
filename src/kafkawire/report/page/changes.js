// Every beginning and end of a row is a change; an end where the next row of the same thing begins is one change of both.
function changesOf(name) {
  const { kind, renews, lane, value } = SUBJECTS[name], key = renews ? lane : null;
  const changes = [], open = new Map();
  const cuts = new Map(DATA.clusters.map((cluster, at) => [cluster, DATA.sections[name].numbers[at].completeFrom ?? -Infinity]));
  const cut = (row) => cuts.get(row.cluster); // up to here the row before may not be on this page
  for (const row of [...ALL[name]].sort((one, other) => (one.from ?? -Infinity) - (other.from ?? -Infinity))) {
    const base = { cluster: row.cluster, kind, row };
    const before = key && row.from !== null ? open.get(`${key(row)} ${row.from}`) : undefined;
    if (before) Object.assign(before, { change: "changed", later: row, detail: `${before.detail} → ${value(row)}` });
    else if (row.from !== null) changes.push({ ...base, time: row.from, change: key && row.from <= cut(row) ? "set" : "added", detail: value(row) ?? "" });
    if (row.to !== null) {
      const end = { ...base, time: row.to, change: "removed", detail: value(row) ?? "" };
      changes.push(end);
      if (key) open.set(`${key(row)} ${row.to}`, end);
    }
  }
  return changes;
}

// Made when something is searched for the first time: there may be very many changes.
function withWords(change) {
  change.searched ??= `${change.kind} ${change.change} ${SUBJECTS[change.row[SECTION]].what(change.row)} ${change.detail} ${change.cluster ?? ""}`.toLowerCase();
  return change;
}
const CHANGES = CHANGING.flatMap(changesOf).sort((one, other) => one.time - other.time);
const changesOfCluster = new Map();
function changesUntil(time) {
  if (!changesOfCluster.has(view.cluster)) changesOfCluster.set(view.cluster, CHANGES.filter((row) => view.cluster === null || row.cluster === DATA.clusters[view.cluster]));
  const all = changesOfCluster.get(view.cluster);
  let low = 0, high = all.length;
  while (low < high) { const middle = (low + high) >> 1; if (all[middle].time <= time) low = middle + 1; else high = middle; }
  return all.slice(0, low);
}

// The changes come in the order of their times.
function changeColumns() {
  const looks = { added: "chip", removed: "chip deny", changed: "chip plain", set: "chip plain" };
  const what = ({ row }) => SUBJECTS[row[SECTION]].what(row);
  return [
    { title: "Time (UTC)", isOrder: true, value: (row) => row.time, cell: (row) => make("button", { type: "button", class: "link", onclick: () => go(row.time) }, shown(row.time)) },
    { title: "Change", value: (row) => row.change, cell: (row) => make("span", { class: looks[row.change] }, row.change) },
    { title: "Of", value: (row) => row.kind, cell: (row) => make("span", { class: "word" }, row.kind) },
    { title: "What", value: what, cell: ({ row }) => aboutLink(row[SECTION], row) },
    { title: "Value", value: null, cell: (row) => row.detail ? named(row.detail) : "" },
  ];
}

function startChanges() {
  const table = sortedTable(byId("changes-table"), changeColumns(), { sort: 0, down: true, caption: "Changes" });
  let which = "";
  const matches = onSearch("changes-search", show);
  choice(byId("changes-which"), "changes-which", [["", "All"], ...CHANGING.map((name) => [SUBJECTS[name].kind, `${SUBJECTS[name].kind}s`])], (kind) => { which = kind; show(); });
  function show() {
    const past = changesUntil(view.at), words = byId("changes-search").value.trim() !== "", wanted = matches();
    const found = which || words ? past.filter((row) => (!which || row.kind === which) && (!words || wanted(withWords(row)))) : past;
    table(found, past.length ? "Nothing matches." : "No changes up to this date.");
    byId("changes-found").textContent = foundOf(found.length, past.length, countAt(changesIn(CHANGING), view.at), "change");
  }
  inSection("changes", show);
}
