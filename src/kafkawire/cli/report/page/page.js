// The date, the tiles, and the sections one after the other.
function startHead() {
  const covered = Object.values(ALL).some((rows) => rows.length) ? [`${shown(began, false)} to ${shown(ended, false)} UTC`, `${lasting(ended - began)} of log`] : [];
  const about = [DATA.clusters.length === 1 ? `Cluster ${DATA.clusters[0]}` : DATA.clusters.length ? counted(DATA.clusters.length, "cluster") : null,
    ...covered, counted(DATA.logs.length, "log")];
  byId("about").textContent = about.filter(Boolean).join("  ·  ");
  byId("written").textContent = `${shown(DATA.writtenAt, false)} UTC`;
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  const errors = DATA.accounts.reduce((sum, row) => sum + Object.values(row.errors).reduce((one, other) => one + other, 0), 0);
  if (errors) byId("banners").append(make("p", { class: "banner" }, `${counted(errors, "error")} while reading: see “What was read” at the foot of this page. What could not be read is missing here.`));
  for (const text of DATA.notes) byId("banners").append(make("p", { class: "banner note" }, text));
  const select = byId("cluster");
  if (DATA.clusters.length > 1) {
    select.hidden = false;
    select.append(make("option", { value: "" }, "All clusters"), ...DATA.clusters.map((name) => make("option", { value: name }, name)));
    select.addEventListener("change", () => { view.cluster = select.value || null; redraw(); });
  }
}

function startTimeBar() {
  const slider = byId("slider"), date = byId("date");
  const times = [...new Set(CHANGES.map((row) => row.time))];
  Object.assign(slider, { min: began, max: ended, step: Math.max(1, Math.floor((ended - began) / 100000)) });
  slider.addEventListener("input", () => go(Number(slider.value)));
  const after = () => go(times.find((time) => time > view.at) ?? ended);
  const before = () => go(times.findLast((time) => time < view.at) ?? began);
  const keys = { ArrowRight: after, ArrowUp: after, ArrowLeft: before, ArrowDown: before, Home: () => go(began), End: () => go(ended) };
  slider.addEventListener("keydown", (event) => { if (keys[event.key]) { event.preventDefault(); keys[event.key](); } });
  byId("later").addEventListener("click", after);
  byId("earlier").addEventListener("click", before);
  byId("latest").addEventListener("click", () => go(ended));
  date.addEventListener("change", () => {
    const text = date.value.trim().replace(" ", "T");
    const time = Date.parse(/T.*(Z|[+-]\d\d:?\d\d)$/i.test(text) || !text.includes("T") ? text : `${text}Z`);
    const wrong = Number.isNaN(time) && text !== "";
    date.setAttribute("aria-invalid", String(wrong));
    if (!Number.isNaN(time)) go(time);
    if (wrong) { view.note = "A date is like 2026-03-01 12:30"; redraw(); }
  });
  onView(() => {
    byId("when-hint").textContent = view.note;
    slider.value = view.at;
    slider.setAttribute("aria-valuetext", `${shown(view.at)} UTC`);
    byId("when").textContent = `${shown(view.at)} UTC`;
    for (const mark of byId("density").querySelectorAll("rect")) mark.classList.toggle("past", Number(mark.dataset.from) <= view.at);
  });
  drawDensity();
}

function drawDensity() {
  const slots = 160, counts = new Array(slots).fill(0);
  for (const { time } of CHANGES) counts[Math.min(slots - 1, Math.floor(portion(time) * slots))] += 1;
  const most = Math.max(1, ...counts), wide = WIDE / slots;
  byId("density").append(canvas(...counts.flatMap((count, at) => {
    const high = count ? 12 + 88 * Math.sqrt(count / most) : 0;
    return count ? [draw("rect", { x: at * wide, width: wide * 0.8, y: HIGH - high, height: high, "data-from": began + (at / slots) * (ended - began) })] : [];
  })));
}

function startTiles() {
  const tiles = [["access", "ACLs", "acls"], ["access", "principals", "acls", (row) => row.principal], ["topics", "topics", "topics"],
    ["quotas", "quotas", "quotas"], ["configs", "configurations", "configs"], ["commits", "groups with commits", "commits", (row) => row.group]];
  const figures = tiles.map(([target, label, section, keyOf]) => {
    const figure = make("b"), picture = make("span");
    byId("tiles").append(make("a", { class: "tile", href: `#${target}` }, figure, make("span", {}, label), picture));
    let steps = [];
    const draw = ofCluster(() => {
      steps = keyOf ? stepsOf(firstToLast(rowsOf(section), keyOf)) : totalled(section);
      if (keyOf && Object.keys(DATA.sections[section].counts).length) return; // of rows that are not here nobody knows whose they were
      picture.replaceChildren(sparkline(steps, Math.max(...steps.map((step) => step[1]))));
    });
    return () => {
      draw();
      figure.textContent = inFigures(stepAt(steps, view.at));
    };
  });
  onView(() => { for (const figure of figures) figure(); });
}

// All kinds of rows of a section together.
function totalled(section) {
  const parts = Object.keys(DATA.sections[section].counts).map((kind) => countsOf(section, rowsOf(section), kind));
  if (view.cluster !== null || parts.length === 0) return stepsOf(rowsOf(section));
  const times = [...new Set(parts.flat().map(([time]) => time))].sort((one, other) => one - other);
  return times.map((time) => [time, parts.reduce((sum, part) => sum + stepAt(part, time), 0)]);
}

// Stretches in which a principal had any ACL at all.
function firstToLast(rows, keyOf) {
  const stretches = [];
  for (const { rows: own } of lanesOf(rows, keyOf)) {
    let now = null;
    for (const row of own) {
      if (now && (now.to === null || (row.from ?? began) <= now.to)) now.to = row.to === null || now.to === null ? null : Math.max(now.to, row.to);
      else stretches.push((now = { from: row.from, to: row.to }));
    }
  }
  return stretches;
}

// Sections without anything say so and offer nothing to search; without any at all the page says only that.
function quietEmpty() {
  for (const [name, target] of [["acls", "access"], ["topics", "topics"], ["quotas", "quotas"], ["configs", "configs"], ["commits", "commits"]])
    byId(target).classList.toggle("empty", !ALL[name].length);
  byId("changes").hidden = !CHANGES.length;
  if (Object.values(ALL).some((rows) => rows.length)) return;
  byId("banners").append(make("p", { class: "banner note" }, "There is nothing to show: these logs hold no ACLs, topics, quotas, configurations or committed offsets."));
  for (const part of document.querySelectorAll(".timebar, .tiles, main section:not(#accounts)")) part.hidden = true;
}

function startAccounts() {
  const listed = (counts) => Object.entries(counts).map(([code, count]) => `${code} ${inFigures(count)}`).join(", ");
  const figure = (title, field) => ({ title, right: true, value: (row) => row[field], cell: (row) => inFigures(row[field]) });
  const codes = (title, field) => ({ title, value: (row) => listed(row[field]), cell: (row) => listed(row[field]) || hint("none") });
  sortedTable(byId("accounts-table"), [
    { title: "Topic", value: (row) => row.log, cell: (row) => row.log },
    figure("Rows", "rows"), figure("Records read", "records"), figure("Bytes read", "read"), figure("Decoded", "decoded"),
    codes("Skipped, by code", "skipped"),
    { ...codes("Errors, by code", "errors"), cell: (row) => listed(row.errors) ? make("span", { class: "chip deny" }, listed(row.errors)) : hint("none") },
  ], { caption: "Bytes read" })(DATA.accounts, "Nothing was read: none of these logs holds what this page shows.");
  byId("accounts-logs").append(make("details", {}, make("summary", {}, `${counted(DATA.logs.length, "log")} found`),
    ...DATA.logs.map((path) => make("div", {}, make("code", { class: "name" }, path)))));
}

// Paper has nothing to click on.
addEventListener("beforeprint", () => {
  for (const section of sections.values()) drawn(section);
  for (const box of document.querySelectorAll("main details")) box.open = true;
});

startHead();
startTimeBar();
startTiles();
startAccess();
startChanges();
laneSection("topics", "topic", (row) => `${row.cluster} ${row.topic}`, {
  label: (row) => [named(row.topic), inCluster(row)], text: (row) => counted(row.partitions ?? 0, "partition"),
  tell: (row) => `${row.topic}, ${counted(row.partitions ?? 0, "partition")}\nid ${row.id}`,
});
laneSection("quotas", "quota", (row) => `${row.cluster} ${row.entity} ${row.quota}`, {
  label: (row) => [named(row.entity), make("br"), hint(row.quota), inCluster(row)], text: quotaFigure,
  tell: (row) => `${row.quota} ${quotaFigure(row)}\n${row.entity}`,
});
laneSection("configs", "configuration", (row) => `${row.cluster} ${row.resourceType} ${row.resourceName} ${row.name}`, {
  label: (row) => [named(row.name), make("br"), hint(`${row.resourceType.toLowerCase()} `), make("span", { class: "hint" }, named(row.resourceName || "<default>")), inCluster(row)],
  text: (row) => row.value ?? "unknown", tell: (row) => `${row.name} = ${row.value ?? "unknown"}\n${row.resourceType} ${row.resourceName || "<default>"}`,
});
startCommits();
startAccounts();
quietEmpty();
go(DATA.asOf ?? ended);
startAddress();
