// Who has what at the date of the page, and when they had it.
const access = { by: "principal", which: "all" };
const patternName = (row) => row.patternType === "PREFIXED" ? `${row.resourceName}*` : row.resourceName === "*" ? "* (every one)" : row.resourceName;
const resourceKey = (row) => `${row.resourceType} ${row.patternType} ${row.resourceName}`;
const holderKey = (row) => access.by === "principal" ? row.principal : (row.key ??= resourceKey(row));
const denies = (row) => row.permission === "DENY";
const kindOf = (row) => row.resourceType.replaceAll("_", " ") + ({ LITERAL: "", PREFIXED: " PREFIX" }[row.patternType] ?? ` ${row.patternType}`);
const resourceWords = (row) => [make("span", { class: "kind" }, kindOf(row)), named(patternName(row))];

function chip(row) {
  const host = row.host === "*" ? null : make("small", {}, " from ", named(row.host));
  return make("span", { class: denies(row) ? "chip deny" : "chip", tip: `${row.permission} ${row.operation}\n${row.from === null ? "since before this log" : `since ${shown(row.from)}`}` },
    named(row.operation), host, inCluster(row));
}

// Comparing as people do is slow: rows are put in order once.
const inOrder = new Map();
function rowsInOrder() {
  const order = `${access.by} ${view.cluster}`;
  if (!inOrder.has(order)) {
    const names = [...new Set(rowsOf("acls").map(holderKey))].sort(compare);
    const places = new Map(names.map((name, place) => [name, place]));
    inOrder.set(order, rowsOf("acls").toSorted((one, other) => places.get(holderKey(one)) - places.get(holderKey(other))));
  }
  return inOrder.get(order);
}

// Those with a right at the date, each with the rows that say so, in order.
function holdersAt(wanted) {
  const holders = [];
  let all = 0, last = null;
  for (const row of rowsInOrder()) {
    if (!holds(row, view.at)) continue;
    all += 1;
    if (!wanted(row)) continue;
    const key = holderKey(row);
    if (last?.key !== key) holders.push((last = { key, rows: [] }));
    last.rows.push(row);
  }
  return { holders, all };
}

// The same object as before for one whose rows are the same: it is not drawn anew.
let before = new Map();
function settled(holders) {
  const now = new Map(holders.map((holder) => {
    const old = before.get(holder.key);
    const same = old && old.rows.length === holder.rows.length && old.rows.every((row, at) => row === holder.rows[at]);
    return [holder.key, same ? old : holder];
  }));
  before = now;
  return [...now.values()];
}

const opened = new Map(); // what the user opened or closed
function holderBox({ key, rows }, at, few) {
  const byPrincipal = access.by === "principal";
  const refused = rows.filter(denies).length;
  const told = counted(rows.length, "ACL") + (refused ? `, ${refused} of them denying` : "");
  const grants = Object.entries(Object.groupBy(rows, byPrincipal ? resourceKey : (row) => row.principal)).sort(([one], [other]) => compare(one, other));
  const lines = grants.map(([, own]) =>
    make("div", { class: "grant" }, make("div", {}, ...(byPrincipal ? resourceWords(own[0]) : [named(own[0].principal)])),
      make("div", { class: "chips" }, ...own.sort((one, other) => denies(other) - denies(one) || compare(one.operation, other.operation)).map(chip))));
  const title = byPrincipal ? [named(rows[0].principal)] : [make("span", {}, ...resourceWords(rows[0]))];
  const box = make("details", { class: "holder", open: opened.get(key) ?? (few || at < 12) },
    make("summary", { onclick: () => { opened.set(key, !box.open); } }, ...title, hint(told)), ...lines);
  return box;
}

function startHolders(matches) {
  const cards = make("div", { class: "cards" }), nothing = make("p", { class: "nothing" });
  let few = false;
  const list = inPages(cards, (holder, at) => holderBox(holder, at, few), 40);
  byId("access-holders").append(cards, list.more, nothing);
  return () => {
    const found = matches(), { which } = access;
    const { holders, all } = holdersAt((row) => (which === "all" || denies(row) === (which === "deny")) && found(row));
    few = holders.length < 20;
    list.show(settled(holders));
    nothing.hidden = Boolean(holders.length);
    nothing.textContent = all ? "Nothing matches." : ALL.acls.length ? "No ACLs at this date." : "No ACLs in these logs.";
    const told = holders.reduce((sum, { rows }) => sum + rows.length, 0);
    byId("access-found").textContent = `${counted(told, "ACL")} of ${inFigures(all)}, ${counted(holders.length, access.by)}`;
    byId("access-hint").textContent = access.by === "principal" ? `What each principal, a user or a service, may do as of ${shown(view.at)} UTC.`
      : `Who may do what with each resource as of ${shown(view.at)} UTC.`;
  };
}

function startAccess() {
  const matches = onSearch("access-search", () => { showHolders(); showLanes(); });
  const showHolders = startHolders(matches);
  const drawLanes = lanesIn(byId("acl-lanes"), {
    label: (row) => [named(row.principal), make("br"), hint(`${kindOf(row).toLowerCase()} `), make("span", { class: "hint" }, named(patternName(row))), inCluster(row)],
    text: (row) => row.operation + (row.host === "*" ? "" : ` from ${row.host}`),
    kind: (row) => denies(row) ? "deny" : "allow",
    tell: (row) => `${row.permission} ${row.operation} on ${kindOf(row)} ${patternName(row)}\n${row.principal} from ${row.host === "*" ? "every host" : row.host}`,
  }, () => rowsOf("acls").length ? "Nothing matches." : "No ACLs.");
  const showLanes = () => drawLanes(lanesOf(rowsOf("acls").filter(matches()), (row) => `${row.principal} ${resourceKey(row)} ${row.cluster}`));
  const again = () => { before.clear(); showHolders(); };
  choice(byId("access-by"), "access-by", [["principal", "By principal"], ["resource", "By resource"]], (by) => { access.by = by; again(); });
  choice(byId("access-which"), "access-which", [["all", "All"], ["allow", "Allowing"], ["deny", "Denying"]], (which) => { access.which = which; showHolders(); });
  let legend = () => {};
  const drawCharts = ofCluster(() => {
    const rows = rowsOf("acls");
    const series = [
      { kind: "allow", label: "Allowing", steps: countsOf("acls", rows.filter((row) => !denies(row)), "ALLOW") },
      { kind: "deny", label: "Denying", steps: countsOf("acls", rows.filter(denies), "DENY") },
    ];
    legend = stepChart(byId("acl-chart"), series, "Number of ACLs");
    showLanes();
  });
  inSection("access", () => { drawCharts(); legend(); showHolders(); });
}
