// Committed offsets: the latest of each group and partition, how far it got over time, and how far behind it is.
function startCommits() {
  const host = byId("commits-table");
  if (!ALL.commits.length) byId("commits-chart").remove();
  else barChart(byId("commits-chart"), DATA.commitTimes.map(([from, to, count]) => ({ from, to, count })), (count) => counted(count, "commit"));
  const known = ALL.commits.some((row) => row.end !== null);
  byId("commits-hint").textContent = !ALL.commits.length ? "" : "The latest commit of each group and partition that is still kept. " +
    (known ? "The lag is to the end of the partition's own log, where that lies beside." : "How far behind they are cannot be told: the partitions' own logs are not in this folder.");
  const greatest = Math.max(1, ...ALL.commits.map((row) => lagOf(row) ?? 0));
  const table = sortedTable(host, [
    { title: "Group", value: (row) => row.group, cell: (row) => named(row.group) },
    { title: "Topic", value: (row) => row.topic, cell: (row) => named(row.topic) },
    { title: "Partition", right: true, value: (row) => row.partition, cell: (row) => String(row.partition) },
    { title: "Committed", right: true, value: (row) => row.offset, cell: (row) => row.offset.toLocaleString("en") },
    ...(known ? [
      { title: "Log end", right: true, value: (row) => row.end, cell: (row) => row.end === null ? "unknown" : row.end.toLocaleString("en") },
      { title: "Lag", right: true, value: lagOf, cell: (row) => lagCell(row, greatest) },
    ] : []),
    { title: "Last commit (UTC)", value: (row) => row.time, cell: (row) => row.time === null ? "unknown" : asDate(row.time) },
    { title: "Before the log's end", right: true, value: ageOf, cell: (row) => row.time === null ? "" : lasting(ageOf(row)) },
    { title: "Over time", value: null, cell: progress },
  ], { sort: 5, down: true, caption: "Committed offsets" });
  const matches = onSearch("commits-search", show);
  function show() {
    const rows = rowsOf("commits"), wanted = matches(), found = rows.filter((row) => wanted(searchable(row)));
    if (rows.length) table(found); else host.replaceChildren(make("p", { class: "nothing" }, "No committed offsets in these logs."));
    byId("commits-found").textContent = found.length < rows.length ? `${found.length} of ${counted(rows.length, "committed offset")}` : counted(rows.length, "committed offset");
  }
  onCluster(show);
}

const lagOf = (row) => row.end === null ? null : Math.max(0, row.end - row.offset);
const ageOf = (row) => row.time === null ? null : Math.max(0, ended - row.time);
const lagCell = (row, greatest) => lagOf(row) === null ? "unknown" : make("span", {}, lagOf(row).toLocaleString("en"),
  make("span", { class: "lag", "aria-hidden": "true" }, make("i", { place: { width: percent(lagOf(row) / greatest) } })));

function progress(row) {
  const points = row.points.filter(([time]) => time !== null);
  if (points.length < 2) return "";
  const picture = sparkline(points, Math.max(...points.map((point) => point[1])));
  picture.classList.add("spark");
  picture.dataset.tip = `from ${points[0][1].toLocaleString("en")} at ${shown(points[0][0])}\nto ${points.at(-1)[1].toLocaleString("en")} at ${shown(points.at(-1)[0])}`;
  return picture;
}
