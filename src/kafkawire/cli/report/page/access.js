// Who has what at the date of the page, and when they had it.
const access = { by: "principal", which: "all" };
const patternName = (row) => row.patternType === "PREFIXED" ? `${row.resourceName}*` : row.resourceName === "*" ? "every one" : row.resourceName;
const resourceKey = (row) => `${row.resourceType} ${row.patternType} ${row.resourceName}`;
const denies = (row) => row.permission === "DENY";
const kindOf = (row) => row.resourceType.replaceAll("_", " ") + ({ LITERAL: "", PREFIXED: " PREFIX" }[row.patternType] ?? ` ${row.patternType}`);
const resourceWords = (row) => [make("span", { class: "kind" }, kindOf(row)), named(patternName(row))];

function chip(row) {
  const host = row.host === "*" ? null : make("small", {}, " from ", named(row.host));
  return make("span", { class: denies(row) ? "chip deny" : "chip", tip: `${row.permission} ${row.operation}\n${row.from === null ? "since before this log" : `since ${shown(row.from)}`}` },
    named(row.operation), host);
}

// Comparing as people do is slow: every name gets its place once.
const places = new Map();
function inOrder(one, other) {
  if (!places.size) {
    const names = new Set(ALL.acls.flatMap((row) => [row.principal, resourceKey(row)]));
    [...names].sort(compare).forEach((name, place) => places.set(name, place));
  }
  return places.get(one) - places.get(other);
}

function groupsOf(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row); else groups.set(keyOf(row), [row]);
  }
  return [...groups].sort((one, other) => inOrder(one[0], other[0]));
}

function holder([, rows], at, count) {
  const byPrincipal = access.by === "principal";
  const refused = rows.filter(denies).length;
  const told = counted(rows.length, "ACL") + (refused ? `, ${refused} of them denying` : "");
  const lines = groupsOf(rows, byPrincipal ? resourceKey : (row) => row.principal).map(([, grants]) =>
    make("div", { class: "grant" }, make("div", {}, ...(byPrincipal ? resourceWords(grants[0]) : [named(grants[0].principal)])),
      make("div", { class: "chips" }, ...grants.sort((one, other) => denies(other) - denies(one) || compare(one.operation, other.operation)).map(chip))));
  const title = byPrincipal ? [named(rows[0].principal)] : [make("span", {}, ...resourceWords(rows[0]))];
  return make("details", { class: "holder", open: at < 12 || count < 20 }, make("summary", {}, ...title, hint(told)), ...lines);
}

function showHolders(matches) {
  const wanted = access.which === "all" ? () => true : (row) => denies(row) === (access.which === "deny");
  const rows = rowsOf("acls").filter((row) => holds(row, view.at));
  const found = rows.filter((row) => wanted(row) && matches(searchable(row)));
  const groups = groupsOf(found, access.by === "principal" ? (row) => row.principal : resourceKey);
  const closed = new Set([...document.querySelectorAll("#access-holders details:not([open])")].map((box) => box.dataset.of));
  const host = byId("access-holders"), cards = make("div", { class: "cards" });
  let at = 0;
  host.replaceChildren(cards, inPages(cards, groups, (group) => {
    const box = holder(group, at++, groups.length);
    box.dataset.of = group[0];
    if (closed.has(group[0])) box.open = false;
    return box;
  }, 40));
  if (!groups.length) host.append(make("p", { class: "nothing" }, rows.length ? "Nothing matches." : ALL.acls.length ? "No ACLs at this date." : "No ACLs in these logs."));
  byId("access-hint").textContent = `The ACLs as of ${shown(view.at)} UTC.`;
  byId("access-found").textContent = `${counted(found.length, "ACL")} of ${rows.length.toLocaleString("en")}, ${counted(groups.length, access.by)}`;
}

function showAclLanes(matches) {
  const host = byId("acl-lanes");
  const lanes = lanesOf(rowsOf("acls").filter((row) => matches(searchable(row))), (row) => `${row.principal} ${resourceKey(row)}`);
  host.replaceChildren();
  if (!lanes.length) { host.append(make("p", { class: "nothing" }, "No ACLs.")); return; }
  drawLanes(host, lanes, {
    label: (row) => [named(row.principal), make("br"), hint(`${kindOf(row).toLowerCase()} `), make("span", { class: "hint" }, named(patternName(row)))],
    text: (row) => row.operation + (row.host === "*" ? "" : ` from ${row.host}`),
    kind: (row) => denies(row) ? "deny" : "allow",
    tell: (row) => `${row.permission} ${row.operation} on ${row.resourceType} ${patternName(row)}\n${row.principal} from ${row.host === "*" ? "every host" : row.host}`,
  });
}

function startAccess() {
  const matches = onSearch("access-search", () => { showHolders(matches()); showAclLanes(matches()); });
  choice(byId("access-by"), "access-by", [["principal", "By principal"], ["resource", "By resource"]], (by) => { access.by = by; showHolders(matches()); });
  choice(byId("access-which"), "access-which", [["all", "All"], ["allow", "Allowing"], ["deny", "Denying"]], (which) => { access.which = which; showHolders(matches()); });
  let legend = () => {};
  onCluster(() => {
    const rows = rowsOf("acls");
    const series = [
      { kind: "allow", label: "Allowing", steps: countsOf("acls", rows.filter((row) => !denies(row)), "ALLOW") },
      { kind: "deny", label: "Denying", steps: countsOf("acls", rows.filter(denies), "DENY") },
    ];
    legend = stepChart(byId("acl-chart"), series, "ACLs over time");
    showAclLanes(matches());
  });
  onView(() => { legend(); showHolders(matches()); });
}
