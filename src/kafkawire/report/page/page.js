// The head, the date, and the sections one after the other.
function startHead() {
  const covered = Object.values(ALL).some((rows) => rows.length) ? [`${shown(began, false)} to ${shown(ended, false)} UTC`, `${lasting(ended - began)} of log`] : [];
  const about = [DATA.clusters.length > 1 ? counted(DATA.clusters.length, "cluster") : DATA.clusters[0] ? named(`Cluster ${DATA.clusters[0]}`) : null,
    ...covered, counted(DATA.logs.length, "log")].filter(Boolean);
  byId("about").append(...about.flatMap((part, at) => at ? ["  ·  ", part] : [part]));
  byId("title").replaceChildren(named(DATA.title));
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
    select.append(make("option", { value: "" }, "All clusters"), ...DATA.clusters.map((name, at) => make("option", { value: at }, shortened(visible(clusterName(name))))));
    select.addEventListener("change", () => { view.cluster = select.value === "" ? null : Number(select.value); redraw(); });
  }
}

function startTimeBar() {
  const slider = byId("slider"), date = byId("date");
  let times = [];
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
    const time = dateIn(date.value), wrong = Number.isNaN(time) && date.value.trim() !== "";
    date.setAttribute("aria-invalid", String(wrong));
    if (!Number.isNaN(time)) go(time);
    if (wrong) { view.note = "A date is like 2026-03-01 12:30"; redraw(); }
  });
  const ofChanges = ofCluster(() => {
    const { steps } = changesIn(CHANGING);
    times = steps.slice(1).map(([time]) => time);
    drawDensity(steps);
  });
  onView(() => {
    ofChanges();
    byId("when-hint").textContent = view.note;
    slider.value = view.at;
    slider.setAttribute("aria-valuetext", `${shown(view.at)} UTC`);
    byId("when").textContent = `${shown(view.at)} UTC`;
    for (const mark of byId("density").querySelectorAll("rect")) mark.classList.toggle("past", Number(mark.dataset.from) <= view.at);
  });
}

function drawDensity(steps) {
  const slots = 160, counts = new Array(slots).fill(0);
  steps.slice(1).forEach(([time, count], at) => { counts[Math.min(slots - 1, Math.floor(portion(time) * slots))] += count - steps[at][1]; });
  const most = Math.max(1, ...counts), wide = WIDE / slots;
  byId("density").replaceChildren(canvas(...counts.flatMap((count, at) => {
    const high = count ? 12 + 88 * Math.sqrt(count / most) : 0;
    return count ? [draw("rect", { x: at * wide, width: wide * 0.8, y: HIGH - high, height: high, "data-from": began + (at / slots) * (ended - began) })] : [];
  })));
}

// Sections without anything say so and offer nothing to search; without any at all the page says only that.
function quietEmpty() {
  for (const [name, target] of [["acls", "access"], ["topics", "topics"], ["quotas", "quotas"], ["configs", "configs"], ["users", "users"], ...["partitions", "tokens", "brokers", "controllers", "features"].map((name) => [name, name]), ["commits", "commits"], ["acls", "ask"], ["alerts", "alerts"]])
    byId(target).classList.toggle("empty", !ALL[name].length);
  for (const name of Object.keys(STATES)) byId(name).hidden = !ALL[name].length;
  byId("changes").hidden = byId("compare").hidden = !CHANGES.length && !ALL.commits.length;
  if (Object.values(ALL).some((rows) => rows.length)) return;
  byId("banners").append(make("p", { class: "banner note" }, "There is nothing to show: these logs hold no ACLs, topics, quotas, configurations, users, tokens, brokers, features, committed offsets, transactions or share groups."));
  for (const part of document.querySelectorAll(".timebar, .tiles, main section:not(#accounts, #entity)")) part.hidden = true;
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
  const paths = (words, list) => list.length ? make("details", {}, make("summary", {}, words), ...list.map((path) => make("div", {}, make("code", {}, named(path))))) : null;
  byId("accounts-logs").append(...[paths(`${counted(DATA.logs.length, "log")} found`, DATA.logs),
    paths(`${counted(DATA.copies.length, "copy", "copies")} of them not read`, DATA.copies)].filter(Boolean));
}

// Paper has nothing to click on.
addEventListener("beforeprint", () => {
  for (const section of sections.values()) drawn(section);
  for (const box of document.querySelectorAll("main details")) { box.open = true; filled(box); }
});

startHead();
startTimeBar();
startTiles();
startAccess();
startAsking();
startAlerts();
startChanges();
for (const [name, noun] of [["topics", "topic"], ["quotas", "quota"], ["configs", "configuration"], ["users", "credential"], ["partitions", "partition"],
  ["tokens", "token"], ["brokers", "broker"], ["controllers", "controller"], ["features", "feature"],
  ["transactions", "transactional id"], ["shares", "share partition"]]) laneSection(name, noun);
startCommits();
startComparison();
startEntity();
startAccounts();
startEvidence();
quietEmpty();
go(DATA.asOf ?? ended);
startAddress();
