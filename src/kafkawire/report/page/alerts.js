// What the rules found up to the date, newest first; each with what to do.
const SEVERITIES = { high: "chip deny number", medium: "chip plain", low: "chip plain" };
const SEVERITY_ORDER = Object.keys(SEVERITIES);
// The name in an ACL may be a prefix: its principal leads further.
function ofAlert(row) {
  const { looksAt } = DATA.alertRules[row.rule];
  if (row.resourceType === "TOPIC" && looksAt !== "acl_history") return topicLink(row.resourceName);
  return row.principal === null ? named(resourceOf(row)) : principalLink(row.principal);
}

function startAlerts() {
  const table = sortedTable(byId("alerts-table"), [
    { title: "Time (UTC)", isOrder: true, value: (row) => row.time, cell: (row) => make("button", { type: "button", class: "link", onclick: () => go(row.time) }, shown(row.time)) },
    { title: "Severity", value: (row) => SEVERITY_ORDER.indexOf(row.severity), cell: (row) => make("span", { class: SEVERITIES[row.severity] }, row.severity) },
    { title: "Rule", value: (row) => row.rule, cell: (row) => make("span", { class: "word", tip: DATA.alertRules[row.rule].title }, row.rule) },
    { title: "Of", value: (row) => `${row.resourceType} ${row.resourceName}`, cell: (row) => make("span", {}, ofAlert(row), inCluster(row)) },
    { title: "What happened", value: null, cell: (row) => named(row.message) },
    { title: "Offset", right: true, value: (row) => row.offset, cell: (row) => row.offset === null ? "" : inFigures(row.offset) },
  ], { sort: 0, down: true, caption: "Alerts" });
  let which = "";
  const matches = onSearch("alerts-search", show);
  choice(byId("alerts-which"), "alerts-which", [["", "All"], ...SEVERITY_ORDER.map((name) => [name, name[0].toUpperCase() + name.slice(1)])], (severity) => { which = severity; show(); });
  const byTime = new Map();
  function show() {
    if (!byTime.has(view.cluster)) byTime.set(view.cluster, rowsOf("alerts").toSorted((one, other) => (one.time ?? -Infinity) - (other.time ?? -Infinity)));
    const past = byTime.get(view.cluster).filter((row) => row.time === null || row.time <= view.at), wanted = matches();
    const found = past.filter((row) => (!which || row.severity === which) && wanted(row));
    table(found, past.length ? "Nothing matches." : "No alerts up to this date.");
    byId("alerts-found").textContent = foundOf(found.length, past.length, countAt(countOf("alerts", "changes"), view.at), "alert");
  }
  const found = Object.keys(DATA.alertRules).filter((rule) => ALL.alerts.some((row) => row.rule === rule));
  byId("alerts-rules").hidden = !found.length;
  byId("alerts-rules").append(make("dl", {}, ...found.flatMap((rule) => {
    const { title, remedy } = DATA.alertRules[rule];
    return [make("dt", {}, rule), make("dd", {}, `${title} To do: ${remedy}.`)];
  })));
  inSection("alerts", show);
}
