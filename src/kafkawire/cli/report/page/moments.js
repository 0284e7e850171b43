// What the page was given, as objects; times are milliseconds since 1970, and null where they are not known.
const DATA = JSON.parse(byId("data").textContent);

function unpacked(section) {
  const { fields, texts, rows } = section;
  return rows.map((row) =>
    Object.fromEntries(fields.map((field, at) => [field, texts.includes(field) && row[at] !== null ? DATA.texts[row[at]] : row[at]])));
}
const ALL = Object.fromEntries(Object.entries(DATA.sections).map(([name, section]) => [name, unpacked(section)]));
// Lines come as their first point and the steps from each point to the next.
function unpackedLine(steps) {
  const points = [];
  for (let at = 0, time = 0, value = 0; at < steps.length; at += 2) points.push([(time += steps[at]), (value += steps[at + 1])]);
  return points;
}
const ENDS = DATA.ends.map(unpackedLine);
ALL.commits.forEach((row, at) => { row.points = unpackedLine(DATA.points[at]); row.from = row.points[0]?.[0] ?? row.time; row.ends = row.ends === null ? [] : ENDS[row.ends]; });

const iso = (time) => new Date(time).toISOString();
const shown = (time, exactly = true) =>
  time === null ? "before this log" : iso(time).slice(0, 10) + " " + iso(time).slice(11, exactly && time % 1000 ? 23 : 19);
const asDate = (time) => make("time", { class: "date", datetime: iso(time) }, shown(time));

function lasting(milliseconds) {
  const units = [["d", 86400000], ["h", 3600000], ["min", 60000], ["s", 1000]];
  const [unit, size] = units.find(([, one]) => milliseconds >= one) ?? ["ms", 1];
  const amount = milliseconds / size;
  return `${amount < 10 && size > 1 ? Math.round(amount * 10) / 10 : Math.round(amount).toLocaleString("en")} ${unit}`;
}

const began = DATA.from, ended = Math.max(DATA.to, DATA.from + 1);
const portion = (time) => Math.min(1, Math.max(0, (time - began) / (ended - began)));
const percent = (part) => `${Math.round(part * 100000) / 1000}%`;
const holds = (row, at) => (row.from === null || row.from <= at) && (row.to === null || row.to > at);

// The date and the cluster that the page shows; whoever draws something asks to be told.
const view = { at: ended, cluster: null };
const listeners = [];
let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    for (const listener of listeners) listener();
    for (const cursor of document.getElementsByClassName("cursor")) cursor.style.setProperty("--at", portion(view.at));
  });
}
const onView = (listener) => { listeners.push(listener); };
function onCluster(listener) {
  let drawn;
  onView(() => { if (drawn !== view.cluster) { drawn = view.cluster; listener(); } });
}
function go(time) {
  view.at = Math.min(ended, Math.max(began, time));
  redraw();
}

// Rows of the cluster that is looked at: the same array as long as it is the same cluster.
const chosen = new Map();
function rowsOf(section) {
  const key = `${section} ${view.cluster}`;
  if (!chosen.has(key)) chosen.set(key, ALL[section].filter((row) => view.cluster === null || row.cluster === view.cluster));
  return chosen.get(key);
}

// Numbers over time: of the rows, or, where not all rows are here, as the logs told.
function countsOf(section, rows, kind = "") {
  const counts = DATA.sections[section].counts;
  return view.cluster === null && Object.keys(counts).length ? counts[kind] ?? [[began, 0]] : stepsOf(rows);
}
