// Two dates beside each other: who gained and who lost, and what was set differently.
const CHANGE_LOOKS = { gained: "chip", lost: "chip deny", changed: "chip plain" };

function startComparison() {
  const now = { differences: [], kind: "", change: "", of: "" };
  const boxes = { from: byId("compare-from"), to: byId("compare-to") };
  const principals = sortedTable(byId("compare-principals"), [
    { title: "Principal", value: (row) => row.principal, cell: (row) => make("span", {}, principalLink(row.principal), inCluster(row)) },
    { title: "Gained ACLs", right: true, value: (row) => row.gained, cell: (row) => row.gained ? make("span", { class: "chip" }, `+${inFigures(row.gained)}`) : "0" },
    { title: "Lost ACLs", right: true, value: (row) => row.lost, cell: (row) => row.lost ? make("span", { class: "chip deny number" }, `−${inFigures(row.lost)}`) : "0" },
  ], { sort: 2, down: true, caption: "Principals that gained or lost ACLs", size: 10 });
  const table = sortedTable(byId("compare-table"), [
    { title: "Change", value: (row) => row.change, cell: (row) => make("span", { class: CHANGE_LOOKS[row.change] }, row.change) },
    { title: "Of", value: (row) => SUBJECTS[row.section].kind, cell: (row) => make("span", { class: "word" }, SUBJECTS[row.section].kind) },
    { title: "What", value: (row) => SUBJECTS[row.section].what(rowOf(row)), cell: (row) => aboutLink(row.section, rowOf(row)) },
    { title: "Value", value: null, cell: (row) => { const text = differenceText(row); return text === "" ? "" : named(text); } },
  ], { sort: 1, caption: "What differs between the two dates" });
  const matches = onSearch("compare-search", showList);
  choice(byId("compare-which"), "compare-which", [["", "All"], ...Object.entries(SUBJECTS).map(([name, { kind }]) => [name, `${kind}s`])], (kind) => { now.kind = kind; showList(); });
  choice(byId("compare-change"), "compare-change", [["", "All"], ["gained", "Gained"], ["lost", "Lost"], ["changed", "Changed"]], (change) => { now.change = change; showList(); });

  function listed() {
    const wanted = matches();
    return now.differences.filter((one) => (!now.kind || one.section === now.kind) && (!now.change || one.change === now.change) && wanted(rowOf(one)));
  }
  function showList() {
    const found = listed();
    table(found, now.differences.length ? "Nothing matches." : "Nothing differs between these dates.");
    byId("compare-found").textContent = found.length < now.differences.length ? `${inFigures(found.length)} of ${counted(now.differences.length, "difference")}` : counted(found.length, "difference");
  }
  function showTotals() {
    const sums = countedBy(now.differences, ({ section, change }) => `${section} ${change}`);
    const figure = (name, change) => {
      const number = sums.get(`${name} ${change}`) ?? 0;
      return make("td", { role: "cell", class: "right number", "data-title": change }, number
        ? make("button", { type: "button", class: "link", "aria-label": `${inFigures(number)} ${SUBJECTS[name].kind}s ${change}: show them`, onclick: () => { pick("compare-which", name); pick("compare-change", change); bringUp(byId("compare-list")); } }, inFigures(number)) : "0");
    };
    byId("compare-totals").replaceChildren(...Object.entries(SUBJECTS).map(([name, { kind }]) =>
      make("tr", { role: "row" }, make("th", { scope: "row", role: "rowheader" }, `${kind}s`), ...Object.keys(CHANGE_LOOKS).map((change) => figure(name, change)))));
  }
  function showPrincipals() {
    const sums = new Map();
    for (const one of now.differences) {
      if (one.section !== "acls" || isNameless(rowOf(one))) continue;
      const { cluster, principal } = rowOf(one), key = `${CLUSTER_NUMBERS.get(cluster)} ${principal}`;
      if (!sums.has(key)) sums.set(key, { key, cluster, principal, gained: 0, lost: 0 });
      sums.get(key)[one.change] += 1;
    }
    byId("compare-who").hidden = !sums.size;
    principals([...sums.values()], "");
  }
  // Only the dates and the cluster matter, not the date of the page.
  function show() {
    const { from, to } = view.compared, of = `${from} ${to} ${view.cluster}`;
    for (const [end, box] of Object.entries(boxes)) if (document.activeElement !== box) box.value = shown(view.compared[end]);
    if (now.of === of) return;
    now.of = of;
    now.differences = Object.keys(SUBJECTS).flatMap((name) => differencesOf(name, from, to));
    byId("compare-hint").textContent = `From ${shown(from)} to ${shown(to)} UTC. What came and went between the two dates is not a difference.`;
    const missing = Object.keys(SUBJECTS).filter((name) => [from, to].some((time) => notHere(name, null, time)));
    byId("compare-lacking").hidden = !missing.length;
    byId("compare-lacking").textContent = `Not all rows of these dates are on this page, so differences are missing here: ${missing.map((name) => `${SUBJECTS[name].kind}s`).join(", ")}. Use --max-rows with a higher number.`;
    showTotals();
    showPrincipals();
    showList();
  }
  for (const [end, box] of Object.entries(boxes)) {
    box.addEventListener("change", () => {
      const time = dateIn(box.value);
      box.setAttribute("aria-invalid", String(Number.isNaN(time)));
      if (Number.isNaN(time)) return;
      box.blur();
      compareDates({ ...view.compared, [end]: time });
    });
  }
  const moments = () => changesIn(CHANGING).steps.slice(1).map(([time]) => time);
  for (const [text, dates] of [
    ["Whole log", () => [began, ended]],
    ["Start to the page's date", () => [began, view.at]],
    ["The page's date to the end", () => [view.at, ended]],
    ["Last change", () => { const times = moments(); return [times.at(-2) ?? began, times.at(-1) ?? ended]; }],
  ]) byId("compare-presets").append(make("button", { type: "button", onclick: () => { const [from, to] = dates(); compareDates({ from, to }); } }, text));
  downloads(byId("compare-downloads"), () => fileName("comparison", iso(view.compared.from).slice(0, 10), iso(view.compared.to).slice(0, 10)),
    () => listed().map(differenceRecord), () => differencesDocument(view.compared.from, view.compared.to, listed()));
  inSection("compare", show);
}

// The earlier date is always the first.
function compareDates({ from, to }) {
  const inside = [from, to].map((time) => Math.min(ended, Math.max(began, time))).sort((one, other) => one - other);
  view.compared = { from: inside[0], to: inside[1] };
  redraw();
}
