// Lifelines: a lane for each thing, a bar for each stretch of time in which it was as the bar says.
function lanesOf(rows, keyOf) {
  const lanes = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    if (!lanes.has(key)) lanes.set(key, { key, rows: [], changed: -Infinity });
    const lane = lanes.get(key);
    lane.rows.push(row);
    lane.changed = Math.max(lane.changed, row.from ?? -Infinity, row.to ?? -Infinity);
  }
  for (const lane of lanes.values()) lane.rows.sort((one, other) => (one.from ?? -Infinity) - (other.from ?? -Infinity));
  return [...lanes.values()].sort((one, other) => other.changed - one.changed || compare(one.key, other.key));
}

// Bars that overlap in time go below each other.
function stacked(rows) {
  const free = [];
  return rows.map((row) => {
    let level = free.findIndex((until) => until <= (row.from ?? began));
    if (level < 0) level = free.length;
    free[level] = row.to ?? Infinity;
    return [row, level];
  });
}

const MOST_BARS = 400, HIGHEST = 12;
function lanesIn(host, { label, text, kind = () => "", tell }, without) {
  const box = make("div"), nothing = make("p", { class: "nothing" });
  // A lane that would be very high, or of very many bars, is folded.
  function parts(lane, most, highest) {
    const bars = stacked(lane.rows.slice(-most)).filter(([, level]) => level < highest);
    const levels = 1 + bars.reduce((high, [, level]) => Math.max(high, level), 0), left = lane.rows.length - bars.length;
    const unfold = left ? make("button", { type: "button", class: "unfold", onclick: ({ target }) => target.closest(".lane").replaceChildren(...parts(lane, most + MOST_BARS, highest + 4 * HIGHEST)) }, `… ${inFigures(left)} more`) : null;
    return [make("div", { class: "of" }, ...label(lane.rows[0]), unfold),
      make("div", { class: "bars", place: { "min-height": `${0.3 + levels * 1.55}rem` } }, ...bars.map(([row, level]) => bar(row, level, text(row), kind(row), tell(row))))];
  }
  const list = inPages(box, (lane) => make("div", { class: "lane" + (lane.rows.some((row) => row.to === null) ? "" : " gone") }, ...parts(lane, MOST_BARS, HIGHEST)), { size: 40 });
  const frame = make("div", { class: "lanes" }, axis(), box, axis(), make("div", { class: "cursor" }));
  host.replaceChildren(frame, list.more, nothing);
  return (lanes) => {
    frame.hidden = !lanes.length;
    nothing.hidden = Boolean(lanes.length);
    nothing.textContent = without();
    list.show(lanes);
  };
}

function bar(row, level, text, kind, title) {
  const left = portion(row.from ?? began), right = portion(row.to ?? ended);
  const until = row.to === null ? "still valid at the end of the log" : `until ${shown(row.to)}`;
  const marks = [kind, row.from === null ? "unknown" : "", row.to === null ? "" : "gone"];
  const words = `${title}\n${row.from === null ? "since before this log" : `from ${shown(row.from)}`}, ${until}`;
  return make("div", { class: ["bar", ...marks].filter(Boolean).join(" "), tip: words, "aria-label": shortened(visible(words)), role: "img",
    place: { left: `min(${percent(left)}, 100% - 3px)`, width: percent(right - left), top: `${0.3 + level * 1.55}rem` } },
  right - left < 0.02 ? null : make("bdi", { class: "name" }, shortened(visible(text))));
}

// A section of lanes with its search box, of all times or of the date of the page.
function laneSection(name, noun) {
  const { look, lane } = SUBJECTS[name] ?? STATES[name];
  const draw = lanesIn(byId(`${name}-lanes`), look, () => rowsOf(name).length ? "Nothing matches." : `No ${noun}s in these logs.`);
  const matches = onSearch(`${name}-search`, show), now = { which: "ever", cluster: undefined };
  choice(byId(`${name}-which`), `${name}-which`, [["ever", "At any time"], ["now", "At this date"]], (which) => { now.which = which; show(); });
  function show() {
    now.cluster = view.cluster;
    const isNow = now.which === "now", lanes = lanesOf(rowsOf(name), lane);
    const wanted = matches(), there = isNow ? lanes.filter(({ rows }) => rows.some((row) => holds(row, view.at))) : lanes;
    const found = there.filter(({ rows }) => rows.some(wanted));
    draw(found);
    const all = isNow ? countAt(countOf(name, "holding"), view.at) : { number: totalOf(name, "things"), exact: true };
    byId(`${name}-found`).textContent = foundOf(found.length, there.length, all, noun);
  }
  inSection(name, () => { if (now.which === "now" || now.cluster !== view.cluster) show(); });
}
