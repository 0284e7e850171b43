// Committed offsets as of the date of the page: how far each group was, how far the log went, and what lay between.
function committedAt(row, at) {
  if (!holds(row, at)) return null;
  if (row.time === null || row.time <= at) return { offset: row.offset, time: row.time, exact: true };
  const point = row.points.findLast(([time]) => time <= at);
  return { offset: (point ?? row.points[0])[1], time: (point ?? row.points[0])[0], exact: row.exact === 1 && point !== undefined };
}

// An index of times has an entry for every few kilobytes: between two of them the log ended at the first one or later.
function endAt(row, at) {
  if (row.end === null || at >= ended) return { end: row.end, endExact: true };
  const place = row.ends.findLastIndex(([time]) => time <= at);
  return place < 0 ? { end: null, endExact: true } : { end: row.ends[place][1], endExact: place === row.ends.length - 1 };
}

function commitsAt(at, rows = rowsOf("commits")) {
  const found = [];
  for (const row of rows) {
    const commit = committedAt(row, at);
    if (commit === null) continue;
    const { end, endExact } = endAt(row, at);
    const lag = end === null ? null : Math.max(0, end - commit.offset);
    found.push({ ...commit, row, end, endExact, lag, age: commit.time === null ? null : Math.max(0, at - commit.time) });
  }
  return found;
}

// Stretches are powers of two long, so that those of several clusters fit into the longest.
function commitBars() {
  const bars = DATA.commitTimes.filter((_, at) => view.cluster === null || at === view.cluster).flat();
  const wide = bars.reduce((most, [from, to]) => Math.max(most, to - from), 1), sums = new Map();
  for (const [from, , count] of bars) {
    const place = Math.floor(from / wide);
    sums.set(place, (sums.get(place) ?? 0) + count);
  }
  return [...sums].map(([place, count]) => ({ from: place * wide, to: (place + 1) * wide, count }));
}

const NEAR = "Not every commit and not every end of a log is on this page:\nat this date it was about this.";
const LARGE = "Too large a number to be shown to the last digit.";
function figure(number, exact) {
  if (number === null) return hint("unknown");
  if (exact && Number.isSafeInteger(number)) return inFigures(number);
  return make("span", { tip: exact ? LARGE : NEAR }, `≈ ${inFigures(number)}`);
}

// Whether the logs of any partitions are here, so that it is known where they end.
const hasEnds = ALL.commits.some((row) => row.end !== null);
const commitColumns = (greatestLag) => [
  { title: "Group", value: ({ row }) => row.group, cell: ({ row }) => make("span", {}, named(row.group), inCluster(row)) },
  { title: "Topic", value: ({ row }) => row.topic, cell: ({ row }) => topicLink(row.topic) },
  { title: "Partition", right: true, value: ({ row }) => row.partition, cell: ({ row }) => String(row.partition) },
  { title: "Committed", right: true, value: (commit) => commit.offset, cell: ({ offset, exact }) => figure(offset, exact) },
  ...(hasEnds ? [
    { title: "Log end", right: true, value: (commit) => commit.end, cell: ({ end, endExact }) => figure(end, endExact) },
    { title: "Lag", right: true, value: (commit) => commit.lag, cell: (commit) => lagCell(commit, greatestLag()) },
  ] : []),
  { title: "Last commit (UTC)", value: (commit) => commit.time, cell: ({ time, exact }) => time === null ? hint("unknown") : make("span", { class: "date" }, exact ? "" : "≥ ", asDate(time)) },
  { title: "Age", right: true, value: (commit) => commit.age, cell: ({ age, exact }) => age === null ? "" : (exact ? "" : "≤ ") + lasting(age) },
  { title: "Over time", value: null, cell: ({ row }) => progress(row) },
];

function startCommits() {
  let greatestLag = 1;
  const table = sortedTable(byId("commits-table"), commitColumns(() => greatestLag), { sort: 5, down: true, caption: "Committed offsets" });
  const matches = onSearch("commits-search", show);
  function show() {
    const { at } = view, all = commitsAt(at), wanted = matches(), found = all.filter(({ row }) => wanted(row));
    greatestLag = greatestLagOf(all);
    table(found, all.length ? "Nothing matches." : ALL.commits.length ? "No committed offsets at this date." : "No committed offsets in these logs.");
    byId("commits-found").textContent = foundOf(found.length, all.length, countAt(countOf("commits", "holding"), at), "committed offset") + (found.length ? `, ${counted(new Set(found.map(({ row }) => `${CLUSTER_NUMBERS.get(row.cluster)} ${row.group}`)).size, "group")}` : "");
    byId("commits-hint").textContent = !ALL.commits.length ? "" : `As of ${shown(view.at)} UTC, out of the commits that Kafka kept: the last of each group and partition, and earlier ones for a while. ` +
      (hasEnds ? "The lag is to the end of the partition's own log." : "The lag is unknown: the partitions' own logs are not in this folder.");
  }
  const drawChart = ofCluster(() => barChart(byId("commits-chart"), commitBars(), "Number of commits", (count) => counted(count, "commit")));
  if (!ALL.commits.length) byId("commits-chart").remove();
  inSection("commits", () => { if (ALL.commits.length) drawChart(); show(); });
}

const greatestLagOf = (commits) => commits.reduce((most, { lag }) => Math.max(most, lag ?? 0), 1);
const lagCell = ({ lag, exact, endExact }, most) => lag === null ? hint("unknown") : make("span", {}, figure(lag, exact && endExact),
  make("span", { class: "lag", "aria-hidden": "true" }, make("i", { place: { width: percent(lag / most) } })));

function progress({ points }) {
  if (points.length < 2) return "";
  const words = `from ${inFigures(points[0][1])} at ${shown(points[0][0])}\nto ${inFigures(points.at(-1)[1])} at ${shown(points.at(-1)[0])}`;
  return make("div", { class: "spark", tip: words }, sparkline(points, greatest(points)), make("div", { class: "cursor" }));
}
