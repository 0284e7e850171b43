// What the page was given, as objects; times are milliseconds since 1970, and null where they are not known.
const DATA = JSON.parse(byId("data").textContent);

const SECTION = Symbol("section"); // a symbol is not among the words that are searched
function unpacked(name, section) {
  const { fields, texts, rows } = section;
  const isText = fields.map((field) => texts.includes(field));
  return rows.map((row) => {
    const cells = { [SECTION]: name };
    for (let at = 0; at < fields.length; at++) cells[fields[at]] = isText[at] && row[at] !== null ? DATA.texts[row[at]] : row[at];
    return cells;
  });
}
const ALL = Object.fromEntries(Object.entries(DATA.sections).map(([name, section]) => [name, unpacked(name, section)]));
// Lines come as their first point and the steps from each point to the next.
function unpackedLine(steps) {
  const points = [];
  for (let at = 0, time = 0, value = 0; at < steps.length; at += 2) points.push([(time += steps[at]), (value += steps[at + 1])]);
  return points;
}
const ENDS = DATA.ends.map(unpackedLine);
ALL.commits.forEach((row, at) => { row.points = unpackedLine(DATA.points[at]); row.ends = row.ends === null ? [] : ENDS[row.ends]; });
const CLUSTER_NUMBERS = new Map(DATA.clusters.map((name, at) => [name, at]));

const FARTHEST = 8.64e15; // the last date that a browser has
const iso = (time) => new Date(Math.min(FARTHEST, Math.max(-FARTHEST, time))).toISOString();
const shown = (time, exactly = true) =>
  time === null ? "before this log" : iso(time).slice(0, 10) + " " + iso(time).slice(11, exactly && time % 1000 ? 23 : 19);
const asDate = (time) => make("time", { class: "date", datetime: iso(time) }, shown(time));

function lasting(milliseconds) {
  const units = [["d", 86400000], ["h", 3600000], ["min", 60000], ["s", 1000]];
  const [unit, size] = units.find(([, one]) => milliseconds >= one) ?? ["ms", 1];
  const amount = milliseconds / size;
  return `${amount < 10 && size > 1 ? Math.round(amount * 10) / 10 : inFigures(Math.round(amount))} ${unit}`;
}

// A date without a zone is in UTC; NaN for what is none.
function dateIn(words) {
  const text = words.trim().replace(" ", "T");
  return Date.parse(/T.*(Z|[+-]\d\d:?\d\d)$/i.test(text) || !text.includes("T") ? text : `${text}Z`);
}

const began = DATA.from, ended = Math.max(DATA.to, DATA.from + 1);
const portion = (time) => Math.min(1, Math.max(0, (time - began) / (ended - began)));
const percent = (part) => `${Math.round(part * 100000) / 1000}%`;
const holds = (row, at) => (row.from === null || row.from <= at) && (row.to === null || row.to > at);

// The date and the cluster that the page shows: its number, or null for all. Whoever draws something is called when they change.
// Then the principal or topic that is looked at alone, the two dates that are compared, and the address of the whole report.
const view = { at: ended, cluster: null, note: "", entity: null, compared: { from: began, to: ended }, whole: "" };
const listeners = [];
const sections = new Map(); // by id: who draws it, whether it is out of date, whether it is seen
let asked = false, timer = 0;

// A date that is dragged has to be followed at once: what is seen is drawn with the next frame, the rest when it rests.
function redraw() {
  document.documentElement.dataset.ready = "false";
  for (const section of sections.values()) section.late = true;
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    for (const listener of listeners) listener();
    for (const section of sections.values()) if (section.seen) drawn(section);
    clearTimeout(timer);
    timer = setTimeout(drawRest, REST);
  });
}
const REST = 120;
function drawRest() {
  const section = [...sections.values()].find(({ late }) => late);
  if (section) drawn(section);
  else for (const cursor of document.getElementsByClassName("cursor")) moved(cursor);
  if (section) { timer = setTimeout(drawRest); return; }
  document.documentElement.dataset.ready = "true";
  for (const call of waiting.splice(0)) call();
}
// Places on the page are where they stay only when all sections are drawn.
const waiting = [];
const whenDrawn = (call) => { waiting.push(call); };
function drawn(section) {
  if (!section.late) return;
  section.late = false;
  for (const draw of section.draws) draw();
  for (const cursor of section.host.getElementsByClassName("cursor")) moved(cursor);
}
const moved = (cursor) => { cursor.style.setProperty("--at", portion(view.at)); };
const watch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const section = sections.get(target.id);
    section.seen = isIntersecting;
    if (isIntersecting) drawn(section);
  }
});

const onView = (listener) => { listeners.push(listener); };
function inSection(id, draw) {
  const host = byId(id), section = sections.get(id) ?? { host, draws: [], late: true, seen: false };
  if (!sections.has(id)) { sections.set(id, section); watch.observe(host); }
  section.draws.push(draw);
}
// Told only when it is another cluster.
function ofCluster(listener) {
  let last;
  return () => { if (last !== view.cluster) { last = view.cluster; listener(); } };
}
function go(time) {
  view.at = Math.min(ended, Math.max(began, time));
  view.note = time < began ? "The log begins here" : time > ended ? "The log ends here" : "As of";
  redraw();
}

// Rows of the cluster that is looked at: the same array as long as it is the same cluster.
const chosen = new Map();
function rowsOf(section) {
  const key = `${section} ${view.cluster}`;
  if (!chosen.has(key)) chosen.set(key, ALL[section].filter((row) => view.cluster === null || row.cluster === DATA.clusters[view.cluster]));
  return chosen.get(key);
}
