// Charts stretch with the page: lines keep their width, and words stand beside the drawing, not in it.
const WIDE = 1000, HIGH = 100;

// More steps than pixels cannot be seen: of each stretch the last remains.
function thinned(steps, most = 1200) {
  if (steps.length <= most) return steps;
  const kept = new Map();
  for (const step of steps) kept.set(Math.floor(portion(step[0]) * most), step);
  return [steps[0], ...kept.values()];
}

function stepPath(all, top) {
  const steps = thinned(all);
  const x = (time) => (portion(time) * WIDE).toFixed(2), y = (count) => (HIGH - (count / top) * HIGH).toFixed(2);
  let path = `M${x(steps[0][0])} ${y(steps[0][1])}`;
  for (const [time, count] of steps.slice(1)) path += `H${x(time)}V${y(count)}`;
  return path + `H${WIDE}`;
}

const canvas = (...children) =>
  draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...children);

function stepShapes(steps, top, kind) {
  const path = stepPath(steps, top);
  return [
    draw("path", { class: `area ${kind}`, d: `${path}V${HIGH}H${portion(steps[0][0]) * WIDE}Z` }),
    draw("path", { class: `edge ${kind}`, d: path, "vector-effect": "non-scaling-stroke" }),
  ];
}

const greatest = (steps) => steps.reduce((most, [, count]) => Math.max(most, count), 0);

function niceTop(most) {
  if (most <= 4) return 4;
  const size = 10 ** Math.floor(Math.log10(most));
  return size * [1, 2, 4, 5, 6, 8, 10].find((factor) => most <= factor * size);
}

// Series: [{kind, label, count}], drawn over one another, the greatest first.
function stepChart(host, series, what) {
  const top = niceTop(Math.max(1, ...series.map(({ count }) => greatest(count.steps))));
  const frame = scaled(host, top, what, canvas(...lines(), ...series.flatMap(({ kind, count }) => stepShapes(count.steps, top, kind))));
  const legend = make("div", { class: "legend" });
  frame.append(legend, make("div", { class: "cursor" }));
  return () => {
    const now = series.map(({ kind, label, count }) => [kind, `${label} ${nearly(countAt(count, view.at))}`]);
    legend.replaceChildren(...now.map(([kind, text]) => make("span", {}, make("i", { class: kind }), text)));
    frame.setAttribute("role", "img");
    frame.setAttribute("aria-label", `${what}: ${now.map(([, text]) => text).join(", ")} at ${shown(view.at)}`);
  };
}

function barChart(host, bars, what, label) {
  const top = niceTop(Math.max(1, ...bars.map((bar) => bar.count)));
  const shapes = bars.map(({ from, to, count }) => draw("rect", {
    class: "plain", x: portion(from) * WIDE, width: Math.max(1.2, (portion(to) - portion(from)) * WIDE - 0.6),
    y: HIGH - (count / top) * HIGH, height: (count / top) * HIGH, "data-tip": `${shown(from)} to ${shown(to)}\n${label(count)}`,
  }));
  scaled(host, top, what, canvas(...lines(), ...shapes)).append(make("div", { class: "cursor" }));
}

const lines = () => [0, 50, 100].map((y) =>
  draw("line", { class: "grid", x1: 0, x2: WIDE, y1: y, y2: y, "vector-effect": "non-scaling-stroke" }));

function scaled(host, top, what, picture) {
  const figures = [0, 50, 100].map((part) =>
    make("span", { class: "y", place: { bottom: `${part}%` } }, inFigures((top * part) / 100)));
  host.replaceChildren(make("div", { class: "caption" }, what), ...figures, picture, axis());
  return host;
}

function axis() {
  const span = ended - began, days = span > 2 * 86400000;
  const text = (time) => days ? iso(time).slice(0, 10) : iso(time).slice(11, span < 8000 ? 23 : 19);
  return make("div", { class: "axis", "aria-hidden": "true" }, ...[0, 0.25, 0.5, 0.75, 1].map((part) =>
    make("span", { place: { left: percent(part) } }, part || days ? text(began + part * span) : shown(began, false))));
}

function sparkline(steps, top) {
  return canvas(...stepShapes(steps, top || 1, "plain"));
}
